//! Prints the events of a run to the terminal.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Stdout, Write};

use serde_json::Value;

use crate::contract::{Finder, Happening, RunState};

/// Writes events as they come: colours on a terminal, and nothing that differs from one run to the next.
pub(super) struct Show<O = Stdout> {
    out: O,
    is_coloured: bool,
    /// The cursor stands behind a piece of text.
    inside: bool,
    /// The calls whose results are not shown yet, in their order: those that run side by side end in any.
    open: VecDeque<OpenCall>,
}

struct OpenCall {
    call_id: String,
    ended: Option<ResultLine>,
}

/// A colour, a word and a text.
type ResultLine = (&'static str, String, String);

/// The longest line, in characters.
const LINE: usize = 160;

const FAINT: &str = "90";
const GOOD: &str = "32";
const BAD: &str = "31";
const LOUD: &str = "33";
const CALL: &str = "36";
const STRONG: &str = "1";

impl Show {
    pub(super) fn new() -> Self {
        let out = io::stdout();
        Self {
            is_coloured: out.is_terminal(),
            out,
            inside: false,
            open: VecDeque::new(),
        }
    }
}

impl<O: Write> Show<O> {
    pub(super) fn event(&mut self, what: &Happening) -> io::Result<()> {
        match what {
            Happening::TextDelta { text } => {
                if !std::mem::replace(&mut self.inside, true) {
                    writeln!(self.out)?;
                }
                write!(self.out, "{}", harmless(text))?;
                self.out.flush()
            }
            Happening::State { state } => {
                // A call that was cut off has no result, and those after it have.
                let open = std::mem::take(&mut self.open);
                for (colour, word, text) in open.into_iter().filter_map(|one| one.ended) {
                    self.line(colour, &word, &text)?;
                }
                let colour = if *state == RunState::Failed {
                    BAD
                } else {
                    FAINT
                };
                self.line(colour, "run", state.name())
            }
            Happening::Message { text } => self.line(STRONG, "task", text),
            Happening::Attached { tools, refused } => {
                let text = format!("{} tools of the executor were taken", tools.len());
                self.line(FAINT, "tools", &text)?;
                refused
                    .iter()
                    .try_for_each(|one| self.line(LOUD, "left out", one))
            }
            Happening::BootstrapFinished => self.line(FAINT, "looked", "that is enough to begin"),
            Happening::ToolCall {
                call_id,
                tool,
                arguments,
            } => {
                self.open.push_back(OpenCall {
                    call_id: call_id.clone(),
                    ended: None,
                });
                self.line(CALL, "call", &shortened(&format!("{tool} {arguments}")))
            }
            Happening::Violation {
                clause,
                predicate,
                message,
                found_by,
                ..
            } => {
                let by = match found_by {
                    Finder::Backend => "the backend, so the call never travelled",
                    Finder::Executor => "the executor",
                    Finder::Agent => "the agent",
                };
                self.line(
                    LOUD,
                    "broken",
                    &format!("{clause} `{predicate}`, found by {by}"),
                )?;
                self.line(LOUD, "says", message)
            }
            Happening::ToolResult {
                call_id,
                tool,
                status,
                text,
                ..
            } => {
                let (colour, said) = match &**status {
                    "ok" => (GOOD, summary(tool, text)),
                    // The violation has said it.
                    "violation" => (BAD, tool.clone()),
                    _ => (BAD, shortened(text)),
                };
                self.show_result(call_id, (colour, status.clone(), said))
            }
            Happening::Retry { clause, attempt } => {
                let text = format!("attempt {attempt}; the model reads why: {clause}");
                self.line(FAINT, "again", &text)
            }
            Happening::Questions { questions } => questions.iter().try_for_each(|one| {
                let options = one.options.join(" / ");
                self.line(STRONG, "asks", &format!("{} {options}", one.text))
            }),
            Happening::ApprovalRequested { approval } => {
                let asks = approval.questions.join(" ");
                self.line(
                    STRONG,
                    "asks",
                    &format!("{asks} {}", shortened(&approval.arguments)),
                )
            }
            Happening::ApprovalAnswered {
                approved, reason, ..
            } => {
                let word = if *approved { "approved" } else { "denied" };
                self.line(FAINT, word, reason)
            }
            Happening::Diff { text, .. } => self.diff(text),
            Happening::Notice { text } => self.line(LOUD, "notice", text),
            // The answer stands above, as it was said; progress is different each time.
            Happening::Answer { .. } | Happening::ToolProgress { .. } => Ok(()),
            Happening::Error { message } => self.line(BAD, "error", message),
        }
    }

    /// Shows what came of a call, when what came of every earlier one is shown.
    fn show_result(&mut self, call_id: &str, result: ResultLine) -> io::Result<()> {
        let mut open = self.open.iter_mut();
        let Some(call) = open.find(|one| one.call_id == call_id && one.ended.is_none()) else {
            let (colour, word, text) = result;
            return self.line(colour, &word, &text);
        };
        call.ended = Some(result);
        while let Some((colour, word, text)) =
            self.open.front_mut().and_then(|one| one.ended.take())
        {
            self.open.pop_front();
            self.line(colour, &word, &text)?;
        }
        Ok(())
    }

    /// What was changed, below a line of its own.
    fn diff(&mut self, diff: &str) -> io::Result<()> {
        let nothing = if diff.is_empty() { "nothing" } else { "" };
        self.line(STRONG, "changed", nothing)?;
        for line in diff.lines() {
            let colour = match line.as_bytes().first() {
                Some(b'+') => GOOD,
                Some(b'-') => BAD,
                Some(b'@') => CALL,
                _ => "0",
            };
            let line = harmless(line);
            if self.is_coloured {
                writeln!(self.out, "\x1b[{colour}m{line}\x1b[0m")?;
            } else {
                writeln!(self.out, "{line}")?;
            }
        }
        Ok(())
    }

    fn line(&mut self, colour: &str, word: &str, text: &str) -> io::Result<()> {
        if std::mem::take(&mut self.inside) {
            writeln!(self.out)?;
        }
        let text = harmless(text);
        let gap = if text.is_empty() { "" } else { "  " };
        if self.is_coloured {
            writeln!(self.out, "\x1b[{colour}m{word:>9}\x1b[0m{gap}{text}")
        } else {
            writeln!(self.out, "{word:>9}{gap}{text}")
        }
    }
}

/// What came of a call, without paths and durations of this machine.
fn summary(tool: &str, text: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return format!("{tool}: {}", shortened(text));
    };
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    match tool {
        "read_file" => format!("{tool}: {} lines", number(&value["total_lines"])),
        "write_file" => format!("{tool}: {} bytes", number(&value["bytes"])),
        "edit_file" => format!("{tool}: {} changed", number(&value["replaced"])),
        "read_folder" => {
            let entries = value["entries"].as_array().map_or(0, Vec::len);
            format!("{tool}: {entries} entries")
        }
        "run_shell" => {
            let ended = &value["ended"];
            let stdout = value["stdout"]["text"].as_str().unwrap_or("");
            let passed: u64 = stdout.lines().filter_map(passed).sum();
            match ended["code"].as_i64() {
                Some(code) => format!("{tool}: exit code {code}, {passed} tests passed"),
                None => format!("{tool}: ended by {}", ended["by"]),
            }
        }
        _ => tool.to_owned(),
    }
}

/// How many tests a line of `cargo test` says have passed.
fn passed(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("test result: ok. ")?;
    rest.split(' ').next()?.parse().ok()
}

/// A text of a model without what moves the cursor of a terminal, or turns the direction of what follows.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => out.push(letter),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.extend(letter.escape_unicode());
            }
            letter if letter.is_control() => out.extend(letter.escape_unicode()),
            letter => out.push(letter),
        }
    }
    out
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text.to_owned(),
    }
}
