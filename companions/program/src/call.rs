//! `call`: makes one tool call from the command line.

use std::path::PathBuf;
use std::time::Duration;

use contract_runtime::__family::MAY_HAVE_TAKEN_EFFECT;
use contract_runtime::dynamic::CallError;
use contract_runtime::{
    CancellationToken, Context, Effect, InvalidArguments, Outcome, Policy, Registry, Run, Status,
    ToolCall,
};

use super::approval::{self, Request};
use super::arguments::{self, Source};
use super::artifacts::SavedArtifact;
use super::output::{CAREFUL, FAINT, Output};
use super::runtime::{Interrupt, Interrupts, block_on};
use super::words::{OptionsBehind, Words};
use super::{CommandError, exit, explain, input, outcome, show};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Arguments by name are read by the schema of the tool:
  city=Oslo            a text as it is; a number, `true`, `false` or `null` where the schema says so
  --city Oslo          the same
  readings=1,2,3       a list of numbers
  tags=new tags=red    a list of texts
  --urgent             `true`
  room:='[1, 2]'       JSON, for everything else
  out=x, -- --out x    an argument with the name of an option of `call`, which belongs before the name of such a tool
What can be read in two ways is refused, with the JSON for each.

Exit codes:
  0  ok
  3  invalid_arguments
  4  unknown_tool
  5  violation
  6  failed
  7  panicked
  8  timed_out
  9  cancelled
  10 overloaded
  11 asked
  12 denied
  13 refused

Where a call asks a person, a terminal shows the questions and waits for `y` or `yes`. Elsewhere it ends as `asked`, and
standard output gets the request, whose id `--approve` takes.

Ctrl-C cancels the call; a second one stops waiting for it.")]
pub(super) struct Call {
    #[command(flatten)]
    behind: OptionsBehind,
    /// The name of the tool.
    // Any text, because the registry reports unknown names.
    #[arg(id = super::completions::TOOL, value_name = "NAME")]
    name: String,
    #[command(flatten)]
    words: Words,
    /// Check the call without running the body: the name of the tool, its arguments and its preconditions.
    #[arg(long, conflicts_with = "out")]
    check: bool,
    /// Say of each condition whether it holds, without running the body, and show the arguments as they are read.
    #[arg(long, conflicts_with_all = ["out", "check", "approve"])]
    explain: bool,
    /// Approve what the call asks, if it is exactly the request with this id: the same tool, arguments and questions.
    #[arg(long, value_name = "ID", conflicts_with = "check")]
    approve: Option<String>,
    /// How long it may take, such as `30s`, `1.5s` or `200ms`; the tool's own limit still holds. A body that is not async
    /// is abandoned a second later.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
    /// The policy of the conditions whose author did not choose one: `ignore`, `observe`, `enforce` or `quick_enforce`.
    #[arg(long)]
    policy: Option<Policy>,
    /// Write the pictures and files that come with the result into this folder; nothing there is overwritten.
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
}

impl Call {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let (arguments, too_long) = self.arguments(registry)?;
        let call = ToolCall::new("1", &*self.name, arguments);
        let outcome = if let Some(limit) = too_long {
            let invalid = InvalidArguments::longer_than(limit);
            let error = CallError::InvalidArguments(Box::new(invalid));
            Outcome::new(&call.id, &call.name, Err(error))
        } else if self.explain {
            return explain::run(registry, &call, &self.run_of(), output);
        } else if self.check {
            let (call, context) = (call.clone(), self.context());
            block_on(async { registry.check(call).context(context).await })?
        } else {
            block_on(self.approved(registry, &call, output))??
        };
        let asked = Request::of(&outcome, &call.arguments);
        let code = exit::of(outcome.status());
        if self.check || self.explain {
            outcome::print_check(&outcome, asked.as_ref(), output)?;
            self.print_form(&outcome, registry, output);
            self.print_history(&outcome, registry, output);
            return Ok(code);
        }
        let (kept, unwritten) = SavedArtifact::new(outcome.artifacts(), self.out.as_deref());
        let code = unwritten.as_ref().map_or(code, CommandError::code);
        outcome::print(&outcome, asked.as_ref(), &kept, code, output)?;
        self.print_form(&outcome, registry, output);
        self.print_history(&outcome, registry, output);
        unwritten.map_or(Ok(code), Err)
    }

    /// The arguments as JSON text; with a limit, if they are longer.
    fn arguments(&self, registry: &Registry) -> Result<(String, Option<usize>), CommandError> {
        // For an unknown tool, nothing needs to be read.
        let Some(tool) = registry.tool(&self.name) else {
            return Ok(("{}".to_owned(), None));
        };
        match arguments::read(tool, &self.words.0, &self.behind.0)? {
            Source::Json(text) => Ok((text, None)),
            Source::File(path) => {
                let limit = registry.max_argument_bytes();
                let read = input::file(limit, &path)?;
                let too_long = read.is_none().then_some(limit);
                Ok((read.unwrap_or_default(), too_long))
            }
        }
    }

    /// Shows how the call is written, if what was written is not accepted.
    fn print_form(&self, outcome: &Outcome, registry: &Registry, output: &mut Output) {
        let is_invalid = outcome.status() == Status::InvalidArguments;
        let is_from_file = matches!(&*self.words.0, [only] if only.starts_with(['-', '@']));
        if !is_invalid || is_from_file || output.json() {
            return;
        }
        if let Some(tool) = registry.tool(&self.name) {
            output.note(FAINT, "usage", &arguments::form(tool));
        }
    }

    /// Says that no arguments help a tool that asks for earlier calls.
    fn print_history(&self, outcome: &Outcome, registry: &Registry, output: &mut Output) {
        if outcome.status() != Status::Violation || output.json() {
            return;
        }
        if let Some(told) = registry.tool(&self.name).and_then(show::history) {
            output.note(FAINT, "history", &told);
        }
    }

    /// The run of the call, with the policy that was asked for.
    fn run_of(&self) -> Run {
        let run = Run::new();
        match self.policy {
            Some(policy) => run.policy(policy),
            None => run,
        }
    }

    fn context(&self) -> Context {
        let context = match self.policy {
            Some(_) => Context::new().run(&self.run_of()),
            None => Context::new(),
        };
        match self.timeout {
            Some(timeout) => context.timeout(timeout),
            None => context,
        }
    }

    /// Makes the call, and repeats it with the answer if it asks and the user answers.
    async fn approved(
        &self,
        registry: &Registry,
        call: &ToolCall,
        output: &mut Output,
    ) -> Result<Outcome, CommandError> {
        let mut interrupts = Interrupts::new();
        let mut answer = None;
        for round in 0..=approval::ROUNDS {
            let context = || match answer.take() {
                Some(answer) => self.context().answer(answer),
                None => self.context(),
            };
            let (registry, made) = (registry.clone(), call.clone());
            let timeout = self.timeout;
            let outcome = answered(registry, made, context, timeout, &mut interrupts, output).await;
            let Some(asked) = Request::of(&outcome, &call.arguments) else {
                return Ok(outcome);
            };
            if round == approval::ROUNDS {
                break;
            }
            answer = if self.approve.as_deref() == Some(asked.id()) {
                Some(asked.approve())
            } else if approval::is_attended(output) {
                match approval::prompt(&asked, &mut interrupts, output).await? {
                    Some(answer) => Some(answer),
                    None => return Ok(Outcome::new(&call.id, &call.name, Err(interrupted()))),
                }
            } else {
                return Ok(outcome);
            };
        }
        Ok(Outcome::new(&call.id, &call.name, Err(changed())))
    }
}

/// How long to wait for a body that has been cancelled.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long to wait after a request to terminate, which is not sent twice.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// Makes the call, and cancels it on Ctrl-C.
///
/// The call has a task of its own, because a synchronous body blocks its thread. Nothing but the end of the program can end such
/// a body, so it is abandoned after its time limit.
async fn answered(
    registry: Registry,
    call: ToolCall,
    context: impl FnOnce() -> Context,
    timeout: Option<Duration>,
    interrupts: &mut Interrupts,
    output: &mut Output,
) -> Outcome {
    let token = CancellationToken::new();
    let context = context()
        .cancellation(token.clone())
        .log(super::output::log);
    let (id, name) = (call.id.clone(), call.name.clone());
    let mut task = tokio::spawn(async move { registry.call(call).context(context).await });
    let ended = |error| Outcome::new(id, &name, Err(error));
    let interrupt = tokio::select! {
        outcome = &mut task => return outcome.unwrap_or_else(|_| ended(panicked(&name))),
        after = over(timeout) => return ended(timed_out(&name, after)),
        interrupt = interrupts.next() => interrupt,
    };
    token.cancel();
    tokio::select! {
        outcome = &mut task => return outcome.unwrap_or_else(|_| ended(panicked(&name))),
        () = tokio::time::sleep(PATIENCE) => {}
        _ = interrupts.next() => return ended(given_up()),
    }
    let patience = match interrupt {
        Interrupt::Asked => {
            output.note(
                CAREFUL,
                "cancelled",
                "the tool is still running; Ctrl-C again stops waiting for it",
            );
            None
        }
        Interrupt::Terminated => Some(LAST_PATIENCE),
    };
    tokio::select! {
        outcome = &mut task => outcome.unwrap_or_else(|_| ended(panicked(&name))),
        _ = over(patience) => ended(given_up()),
        _ = interrupts.next() => ended(given_up()),
    }
}

/// Waits until the call should have ended; forever if it has no time limit.
async fn over(time: Option<Duration>) -> Duration {
    let Some(time) = time else {
        return std::future::pending().await;
    };
    tokio::time::sleep(time.saturating_add(PATIENCE)).await;
    time
}

fn interrupted() -> CallError {
    CallError::Ended {
        status: Status::Cancelled,
        error: "not started, because the call was cancelled".to_owned(),
        effect: Effect::None,
        may_still_run: false,
    }
}

fn changed() -> CallError {
    CallError::Ended {
        status: Status::Denied,
        error: "not started, because it was denied: it was approved three times, and each time what has to be approved had changed"
            .to_owned(),
        effect: Effect::None,
        may_still_run: false,
    }
}

fn given_up() -> CallError {
    CallError::Ended {
        status: Status::Cancelled,
        error: format!("the call was cancelled; it may still be running; {MAY_HAVE_TAKEN_EFFECT}"),
        effect: Effect::Unknown,
        may_still_run: true,
    }
}

fn timed_out(tool: &str, after: Duration) -> CallError {
    let within = match after.as_millis() {
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    };
    CallError::Ended {
        status: Status::TimedOut,
        error: format!(
            "`{tool}` did not end within {within}; it may still be running; {MAY_HAVE_TAKEN_EFFECT}"
        ),
        effect: Effect::Unknown,
        may_still_run: true,
    }
}

fn panicked(tool: &str) -> CallError {
    CallError::Ended {
        status: Status::Panicked,
        error: format!("the thread of `{tool}` panicked; {MAY_HAVE_TAKEN_EFFECT}"),
        effect: Effect::Unknown,
        may_still_run: false,
    }
}

/// Parses a duration like that of `#[tool(timeout = "30s")]`, which may have a fraction.
fn duration(text: &str) -> Result<Duration, String> {
    let expected =
        || format!("write a number and a unit, such as `30s`, `200ms` or `2m`, not `{text}`");
    let digits = text.find(|one: char| !one.is_ascii_digit() && one != '.');
    let (number, unit) = text.split_at(digits.ok_or_else(expected)?);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(expected()),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| expected())
}
