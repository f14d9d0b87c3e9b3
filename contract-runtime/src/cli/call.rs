use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use super::artifacts::Kept;
use super::runtime::{Interrupts, block_on};
use super::screen::{CAREFUL, Screen};
use super::{Fault, exit, outcome};
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
    /// How long it may take, such as `30s`, `1.5s` or `200ms`; the tool's own limit still holds.
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
        let arguments = match &*self.arguments {
            "-" => read_input()?,
            _ => self.arguments,
        };
        let call = ToolCall::new("1", self.name, arguments);
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
            let outcome = block_on(async { registry.check_with(call, context()).await })?;
            outcome::print_check(&outcome, screen)?;
            return Ok(exit::of(outcome.status()));
        }
        let outcome = block_on(answered(registry.clone(), call, context, screen))?;
        let (kept, unwritten) = Kept::new(outcome.artifacts(), self.out.as_deref());
        let code = match &unwritten {
            Some(fault) => fault.code(),
            None => exit::of(outcome.status()),
        };
        outcome::print(&outcome, &kept, code, screen)?;
        unwritten.map_or(Ok(code), Err)
    }
}

/// Calls, and cancels the call when the user says so.
///
/// The call has a task of its own, because a body that is not async does not let this one run.
async fn answered(
    registry: Registry,
    call: ToolCall,
    context: impl FnOnce() -> Context,
    screen: &mut Screen,
) -> Outcome {
    let mut interrupts = Interrupts::new();
    let token = CancellationToken::new();
    let context = context().cancellation(token.clone());
    let (id, name) = (call.id.clone(), call.name.clone());
    let mut task = tokio::spawn(async move { registry.call_with(call, context).await });
    let ended = |end| Outcome::new(id, name, end);
    tokio::select! {
        outcome = &mut task => return outcome.unwrap_or_else(|_| ended(End::Panicked)),
        () = interrupts.next() => token.cancel(),
    }
    let patience = tokio::time::sleep(Duration::from_secs(1));
    tokio::select! {
        outcome = &mut task => return outcome.unwrap_or_else(|_| ended(End::Panicked)),
        () = patience => {
            screen.note(CAREFUL, "cancelled", "the tool goes on; Ctrl-C again gives up waiting for it");
        }
        () = interrupts.next() => return ended(GIVEN_UP),
    }
    tokio::select! {
        outcome = &mut task => outcome.unwrap_or_else(|_| ended(End::Panicked)),
        () = interrupts.next() => ended(GIVEN_UP),
    }
}

const GIVEN_UP: End = End::Cancelled {
    reason: "the call was cancelled",
    may_still_run: true,
};

/// All of standard input, as text.
pub(super) fn read_input() -> Result<String, Fault> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|error| Fault::NotUtf8 {
        at: error.utf8_error().valid_up_to(),
    })
}

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
