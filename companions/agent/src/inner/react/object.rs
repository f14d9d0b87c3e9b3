//! Parses a call written as one JSON object.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::parse::{Step, value};

/// A call with a name, arguments and nothing else, each of them once. The meaning of another key is unknown; it may deny the call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call<'t> {
    #[serde(
        alias = "name",
        alias = "action",
        alias = "tool_name",
        alias = "function"
    )]
    tool: String,
    #[serde(
        borrow,
        alias = "args",
        alias = "parameters",
        alias = "input",
        alias = "action_input",
        alias = "tool_args"
    )]
    arguments: &'t RawValue,
}

/// How much of an error is shown, in characters; it may quote a key of any length.
const SHOWN: usize = 200;

/// Reads the object that a text begins with as a call. Returns it with the text after the object; `None` if no object is there.
pub(super) fn from_object(text: &str) -> Option<(Step, &str)> {
    let (object, rest) = value(text).ok()?;
    let step = match serde_json::from_str::<Call<'_>>(object) {
        Ok(Call { tool, .. }) if !is_name(&tool) => Step::Unclear(no_name(&tool)),
        Ok(Call { tool, arguments }) => {
            // Arguments as text are decoded once; others stay as they are written.
            let written = arguments.get();
            let arguments = serde_json::from_str(written).unwrap_or_else(|_| written.to_owned());
            Step::Call { tool, arguments }
        }
        Err(error) => {
            let error: String = error.to_string().chars().take(SHOWN).collect();
            Step::Unclear(format!(
                "the object is not an action: {}; write an object with only `tool` and `arguments`, each of them once, or \
                 `Answer:` with your answer",
                error.escape_debug()
            ))
        }
    };
    Some((step, rest))
}

pub(super) fn is_name(text: &str) -> bool {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !text.is_empty() && text.chars().all(belongs)
}

pub(super) fn no_name(text: &str) -> String {
    format!(
        "`{}` is not the name of a tool; write the name of one of the tools exactly as given",
        text.escape_debug()
    )
}
