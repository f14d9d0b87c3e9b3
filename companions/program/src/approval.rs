//! What a call asks a person: its id on the command line, and the prompt on a terminal.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use contract_runtime::__family::canonical;
use contract_runtime::Outcome;
use contract_runtime::approval::{Answer, Approval, ApprovalRequest, Decision};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::output::{CAREFUL, FAINT, Output};
use super::runtime::Interrupts;

/// How often one call asks, where each time something has changed when the answer comes.
pub(super) const ROUNDS: usize = 3;

/// The longest arguments in a prompt, in characters.
const ARGUMENTS: usize = 2_000;

/// The longest answer that is read, in bytes.
const ANSWER: u64 = 1_000;

/// What a call asks.
pub(super) struct Request<'o> {
    request: &'o ApprovalRequest,
    id: String,
}

impl<'o> Request<'o> {
    /// The request of an outcome, if it is one; `sent` are the arguments of its call.
    pub(super) fn of(outcome: &'o Outcome, sent: &str) -> Option<Self> {
        let request = outcome.approval_request()?;
        let id = id(request, sent);
        Some(Self { request, id })
    }

    /// Names the request in any process: a digest of the tool, its arguments, secret ones too, and the questions.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "id": self.id,
            "tool": self.request.tool,
            "arguments": self.request.arguments,
            "questions": shown(self.request),
        })
    }

    /// What is asked about every call of the tool, if it is among the questions.
    pub(super) fn confirmation(&self) -> Option<&str> {
        let mut questions = self.request.questions.iter();
        let found = questions.find(|question| question.contract.ends_with(".confirm"));
        found.map(|question| &*question.text)
    }

    pub(super) fn approve(&self) -> Answer {
        self.request.answer(Decision::Approved(Approval::Once))
    }
}

/// The questions as a person sees them.
fn shown(request: &ApprovalRequest) -> Vec<Value> {
    let questions = request.questions.iter();
    let shown = questions.map(|one| json!({"contract": one.contract, "text": one.text}));
    shown.collect()
}

fn id(request: &ApprovalRequest, sent: &str) -> String {
    let told = json!([request.tool, canonical(sent), shown(request)]);
    let digest = Sha256::digest(told.to_string());
    digest.iter().fold(String::new(), |mut id, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(id, "{byte:02x}");
        id
    })
}

/// Returns whether a user can see a question and answer it.
pub(super) fn is_attended(output: &Output) -> bool {
    output.err.terminal() && io::stdin().is_terminal()
}

/// Asks on the terminal; `None` if Ctrl-C was the answer.
pub(super) async fn prompt(
    asked: &Request<'_>,
    interrupts: &mut Interrupts,
    output: &mut Output,
) -> io::Result<Option<Answer>> {
    for question in &asked.request.questions {
        output.note(CAREFUL, "asked", &question.text);
    }
    output.note(FAINT, "tool", &asked.request.tool);
    let arguments = asked.request.arguments.to_string();
    let mut letters = arguments.chars();
    let mut shown: String = letters.by_ref().take(ARGUMENTS).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    output.note(FAINT, "arguments", &shown);
    output.err.write("Approve this call? [y/N] ")?;
    let read = tokio::select! {
        read = tokio::task::spawn_blocking(line) => read,
        _ = interrupts.next() => return Ok(None),
    };
    let line = read.map_err(io::Error::other)??;
    let typed = line.trim_end_matches(['\r', '\n']).to_ascii_lowercase();
    let decision = match &*typed {
        "y" | "yes" => return Ok(Some(asked.approve())),
        "" if !line.ends_with('\n') => "nobody answered",
        _ => "the user said no",
    };
    Ok(Some(asked.request.deny(decision)))
}

/// What is typed up to the end of the line, or of the input.
fn line() -> io::Result<String> {
    let mut line = Vec::new();
    let mut input = io::stdin().lock().take(ANSWER);
    input.read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}
