//! Parses a complete reply.

use serde::Deserialize;
use serde_json::value::RawValue;

/// What a reply says.
pub(super) enum ParsedReply {
    Answer {
        reasoning: Option<String>,
        content: String,
    },
    Call {
        reasoning: Option<String>,
        tool: String,
        /// As they were written, so that dispatch sees every key.
        arguments: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object<'a> {
    #[serde(rename = "type")]
    kind: String,
    reasoning: Option<String>,
    tool: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    content: Option<String>,
}

impl ParsedReply {
    /// Reads it, or says to the model what is wrong with it.
    pub(super) fn read(text: &str, reasoning: bool) -> Result<Self, String> {
        let object: Object<'_> =
            serde_json::from_str(text).map_err(|error| format!("it cannot be parsed: {error}"))?;
        if object.reasoning.is_some() && !reasoning {
            return Err("`reasoning` is not allowed here; leave it out".to_owned());
        }
        let reasoning = object.reasoning.filter(|text| !text.is_empty());
        match (&*object.kind, object.tool, object.arguments, object.content) {
            ("answer", None, None, Some(content)) => Ok(Self::Answer { reasoning, content }),
            ("tool_call", Some(tool), Some(arguments), None) => Ok(Self::Call {
                reasoning,
                tool,
                arguments: arguments.get().to_owned(),
            }),
            ("answer", ..) => Err("an `answer` must have `content` and no other key".to_owned()),
            ("tool_call", ..) => {
                Err("a `tool_call` must have `tool` and `arguments`, and no `content`".to_owned())
            }
            (other, ..) => Err(format!(
                "`{other}` is not a valid `type`; write `tool_call` or `answer`"
            )),
        }
    }
}
