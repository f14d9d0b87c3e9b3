use std::path::PathBuf;
use std::time::Duration;

use super::artifacts::Kept;
use super::input;
use super::runtime::{Interrupt, Interrupts, block_on};
use super::screen::{CAREFUL, Screen};
use super::{Fault, exit, outcome};
use crate::tool::InvalidArguments;
use crate::tool::outcome::End;
use crate::{CancellationToken, Context, Outcome, Policy, Registry, Run, ToolCall};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
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

Ctrl-C cancels the call; once more gives up waiting for it.")]
pub(super) struct Call {
    /// The name of the tool.
    // Any text: what there is not is the registry's to say.
    #[arg(id = super::completions::TOOL, value_name = "NAME")]
    name: String,
    /// Its arguments as a JSON object; `-` reads them from standard input.
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// Do all that a call does up to the body: is there such a tool, are these its arguments, do its preconditions hold?
    #[arg(long, conflicts_with = "out")]
    check: bool,
    /// How long it may take, such as `30s`, `1.5s` or `200ms`; the tool's own limit still holds. A body that is not async is
    /// given up a second later.
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
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let too_long;
        let arguments = match &*self.arguments {
            // Of what there is not, nothing needs to be read.
            "-" if registry.tool(&self.name).is_some() => {
                let limit = registry.argument_bytes();
                let read = input::at_most(limit, std::io::stdin().lock())?;
                too_long = read.is_none().then_some(limit);
                read.unwrap_or_default()
            }
            _ => {
                too_long = None;
                self.arguments
            }
        };
        let call = ToolCall::new("1", self.name, arguments);
        let refused = too_long.map(|limit| {
            let invalid = InvalidArguments::longer_than(limit);
            let end = End::InvalidArguments(Box::new(invalid));
            Outcome::new(call.id.clone(), call.name.clone(), end)
        });
        let context = || {
            let mut context = Context::new();
            if let Some(policy) = self.policy {
                context = context.run(&Run::new().policy(policy));
            }
            match self.timeout {
                Some(timeout) => context.timeout(timeout),
                None => context,
            }
        };
        if self.check {
            let outcome = match refused {
                Some(outcome) => outcome,
                None => block_on(async { registry.check_with(call, context()).await })?,
            };
            outcome::print_check(&outcome, screen)?;
            return Ok(exit::of(outcome.status()));
        }
        let outcome = if let Some(outcome) = refused {
            outcome
        } else {
            let answered = answered(registry.clone(), call, context, self.timeout, screen);
            block_on(answered)?
        };
        let (kept, unwritten) = Kept::new(outcome.artifacts(), self.out.as_deref());
        let code = match &unwritten {
            Some(fault) => fault.code(),
            None => exit::of(outcome.status()),
        };
        outcome::print(&outcome, &kept, code, screen)?;
        unwritten.map_or(Ok(code), Err)
    }
}

/// How long a body is waited for that has been told to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long after a request to terminate: who sends it does not send a second one.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// Calls, and cancels the call when the user says so.
///
/// The call has a task of its own, because a body that is not async does not let this one run. Nothing can end such a body but
/// the end of the program, so when its time is over it is given up.
async fn answered(
    registry: Registry,
    call: ToolCall,
    context: impl FnOnce() -> Context,
    timeout: Option<Duration>,
    screen: &mut Screen,
) -> Outcome {
    let mut interrupts = Interrupts::new();
    let token = CancellationToken::new();
    let context = context().cancellation(token.clone());
    let (id, name) = (call.id.clone(), call.name.clone());
    let mut task = tokio::spawn(async move { registry.call_with(call, context).await });
    let ended = |end| Outcome::new(id, name, end);
    let interrupt = tokio::select! {
        outcome = &mut task => return outcome.unwrap_or_else(|_| ended(End::Panicked)),
        after = over(timeout) => return ended(End::TimedOut { after, may_still_run: true }),
        interrupt = interrupts.next() => interrupt,
    };
    token.cancel();
    tokio::select! {
        outcome = &mut task => return outcome.unwrap_or_else(|_| ended(End::Panicked)),
        () = tokio::time::sleep(PATIENCE) => {}
        _ = interrupts.next() => return ended(GIVEN_UP),
    }
    let patience = match interrupt {
        Interrupt::Asked => {
            screen.note(
                CAREFUL,
                "cancelled",
                "the tool goes on; Ctrl-C again gives up waiting for it",
            );
            None
        }
        Interrupt::Terminated => Some(LAST_PATIENCE),
    };
    tokio::select! {
        outcome = &mut task => outcome.unwrap_or_else(|_| ended(End::Panicked)),
        _ = over(patience) => ended(GIVEN_UP),
        _ = interrupts.next() => ended(GIVEN_UP),
    }
}

/// Waits until this time is over and the call should have ended; for ever if there is no limit.
async fn over(time: Option<Duration>) -> Duration {
    let Some(time) = time else {
        return std::future::pending().await;
    };
    tokio::time::sleep(time.saturating_add(PATIENCE)).await;
    time
}

const GIVEN_UP: End = End::Cancelled {
    reason: "the call was cancelled",
    may_still_run: true,
};

/// A number with a unit, as `#[tool(timeout = "30s")]` has it, and with a fraction.
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
