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
use super::arguments::{Reader, Source, TOOL};
use super::artifacts::SavedArtifact;
use super::output::{CAREFUL, FAINT, Output, asks_for_json};
use super::runtime::{Interrupt, Interrupts, block_on};
use super::{CommandError, exit, explain, input, outcome, show};
use clap::{Args as _, FromArgMatches as _};

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
What can be read in two ways is refused, with the JSON for each. `call NAME --help` lists the arguments of a tool.

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
    options: Options,
    /// The name of the tool, and its arguments: `name=value` or `--name value` for each, or one JSON object, which `@FILE`
    /// reads from a file and `-` from standard input. Options may stand among them.
    // Any text, because the registry reports unknown names.
    #[arg(id = TOOL, value_names = ["NAME", "ARGUMENTS"], required = true, num_args = 1.., trailing_var_arg = true)]
    words: Vec<String>,
}

/// The options, which stand before the name of the tool or behind it.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Options {
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

impl Options {
    /// These options and those that stand behind the name.
    fn and(self, behind: Self) -> Self {
        Self {
            check: self.check || behind.check,
            explain: self.explain || behind.explain,
            approve: behind.approve.or(self.approve),
            timeout: behind.timeout.or(self.timeout),
            policy: behind.policy.or(self.policy),
            out: behind.out.or(self.out),
        }
    }
}

/// The options of `call`, as the words behind the name of a tool have them.
pub(super) fn options() -> clap::Command {
    Options::augment_args(clap::Command::new("call")).arg(json_option())
}

/// The option that all commands share.
pub(super) fn json_option() -> clap::Arg {
    clap::Arg::new("json")
        .long("json")
        .global(true)
        .action(clap::ArgAction::SetTrue)
        .help("Give results and errors as JSON")
}

impl Call {
    /// Returns whether the words behind the name of the tool ask for JSON.
    pub(super) fn asks_for_json(&self) -> bool {
        asks_for_json(&self.words)
    }

    pub(super) fn run(
        mut self,
        program: &str,
        registry: &Registry,
        output: &mut Output,
    ) -> Result<u8, CommandError> {
        let name = self.words.remove(0);
        let tool = registry.tool(&name);
        // For an unknown tool, nothing needs to be read.
        let (mut arguments, mut too_long, mut is_from_file) = ("{}".to_owned(), None, false);
        if let Some(tool) = tool {
            let reader = Reader::new(tool);
            let usage = format!("{program} {} [OPTIONS]", reader.form());
            let options = options().override_usage(usage);
            let (matches, source) = reader.read(&options, &self.words)?;
            let behind = Options::from_arg_matches(&matches).map_err(CommandError::Usage)?;
            self.options = self.options.and(behind);
            arguments = match source {
                Source::Json(text) => text,
                Source::File(path) => {
                    let limit = registry.max_argument_bytes();
                    let read = input::file(limit, &path)?;
                    is_from_file = true;
                    too_long = read.is_none().then_some(limit);
                    read.unwrap_or_default()
                }
            };
        }
        let options = self.options;
        let call = ToolCall::new("1", &*name, arguments);
        let outcome = if let Some(limit) = too_long {
            let invalid = InvalidArguments::longer_than(limit);
            let error = CallError::InvalidArguments(Box::new(invalid));
            Outcome::new(&call.id, &call.name, Err(error))
        } else if options.explain {
            return explain::run(registry, &call, &options.run(), output);
        } else if options.check {
            let (call, context) = (call.clone(), options.context());
            block_on(async { registry.check(call).context(context).await })?
        } else {
            block_on(options.approved(registry, &call, output))??
        };
        let asked = Request::of(&outcome, &call.arguments);
        let mut code = exit::of(outcome.status());
        let mut unwritten = None;
        if options.check || options.explain {
            outcome::print_check(&outcome, asked.as_ref(), output)?;
        } else {
            let (kept, error) = SavedArtifact::new(outcome.artifacts(), options.out.as_deref());
            code = error.as_ref().map_or(code, CommandError::code);
            outcome::print(&outcome, asked.as_ref(), &kept, code, output)?;
            unwritten = error;
        }
        if let Some(tool) = tool.filter(|_| !output.json()) {
            match outcome.status() {
                Status::InvalidArguments if !is_from_file => {
                    output.note(FAINT, "usage", &Reader::new(tool).form());
                }
                // No arguments help a tool that asks for earlier calls.
                Status::Violation => {
                    if let Some(history) = show::history(tool) {
                        output.note(FAINT, "history", &history);
                    }
                }
                _ => {}
            }
        }
        unwritten.map_or(Ok(code), Err)
    }
}

impl Options {
    /// The run of the call, with the policy that was asked for.
    fn run(&self) -> Run {
        let run = Run::new();
        match self.policy {
            Some(policy) => run.policy(policy),
            None => run,
        }
    }

    fn context(&self) -> Context {
        let context = match self.policy {
            Some(_) => Context::new().run(&self.run()),
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
        let ended =
            |status, reason| Outcome::new(&call.id, &call.name, Err(not_started(status, reason)));
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
                    None => return Ok(ended(Status::Cancelled, "the call was cancelled")),
                }
            } else {
                return Ok(outcome);
            };
        }
        Ok(ended(Status::Denied, CHANGED))
    }
}

const CHANGED: &str =
    "it was denied: it was approved three times, and each time what has to be approved had changed";

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
    const GIVEN_UP: &str = "the call was cancelled; it may still be running";
    let token = CancellationToken::new();
    let context = context()
        .cancellation(token.clone())
        .log(super::output::log);
    let (id, name) = (call.id.clone(), call.name.clone());
    let mut task = tokio::spawn(async move { registry.call(call).context(context).await });
    let ended = |status, error: &str, may_still_run| {
        Outcome::new(&id, &name, Err(given_up(status, error, may_still_run)))
    };
    let panicked = |_| {
        let error = format!("the thread of `{name}` panicked");
        ended(Status::Panicked, &error, false)
    };
    let interrupt = tokio::select! {
        outcome = &mut task => return outcome.unwrap_or_else(panicked),
        after = over(timeout) => {
            let within = match after.as_millis() {
                millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
                millis => format!("{millis} ms"),
            };
            let error = format!("`{name}` did not end within {within}; it may still be running");
            return ended(Status::TimedOut, &error, true);
        }
        interrupt = interrupts.next() => interrupt,
    };
    token.cancel();
    tokio::select! {
        outcome = &mut task => return outcome.unwrap_or_else(panicked),
        () = tokio::time::sleep(PATIENCE) => {}
        _ = interrupts.next() => return ended(Status::Cancelled, GIVEN_UP, true),
    }
    let patience = match interrupt {
        Interrupt::Asked => {
            let running = "the tool is still running; Ctrl-C again stops waiting for it";
            output.note(CAREFUL, "cancelled", running);
            None
        }
        Interrupt::Terminated => Some(LAST_PATIENCE),
    };
    tokio::select! {
        outcome = &mut task => outcome.unwrap_or_else(panicked),
        _ = over(patience) => ended(Status::Cancelled, GIVEN_UP, true),
        _ = interrupts.next() => ended(Status::Cancelled, GIVEN_UP, true),
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

/// The end of a call whose body is still running or may have been.
fn given_up(status: Status, error: &str, may_still_run: bool) -> CallError {
    CallError::Ended {
        status,
        error: format!("{error}; {MAY_HAVE_TAKEN_EFFECT}"),
        effect: Effect::Unknown,
        may_still_run,
    }
}

/// The end of a call that did not begin.
fn not_started(status: Status, reason: &str) -> CallError {
    CallError::Ended {
        status,
        error: format!("not started, because {reason}"),
        effect: Effect::None,
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
