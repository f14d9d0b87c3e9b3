//! Sanitises texts of the peer before they reach a terminal, a log or a model.

use serde_json::{Map, Value};

use super::artifact::WireArtifact;
use super::{BackendMessage, ExecutorMessage, ToolReply};
use crate::toolbelt::{sanitize, sanitize_prose};

/// The most characters of a name; no system allows longer file names.
const NAME: usize = 255;

/// The most characters of a report, a fault or a reason.
const REMARK: usize = 1_000;

/// The most characters of one text of a violation or of a problem.
const SENTENCE: usize = 10_000;

/// A message that the peer has written.
pub(crate) trait Sanitize {
    /// Sanitises its texts; results, values and files are data, and stay as they are.
    fn sanitize(&mut self);
}

impl Sanitize for ExecutorMessage {
    fn sanitize(&mut self) {
        match self {
            Self::Handshake(handshake) => {
                // Its tools and its platform are sanitised when they are evaluated.
                for entry in &mut handshake.unacknowledged {
                    if let Some(reply) = &mut entry.reply {
                        reply.sanitize();
                    }
                }
            }
            Self::ToolResult(reply) => reply.sanitize(),
            Self::ToolProgress(report) => clean_prose(&mut report.message, REMARK),
            Self::ToolLog(record) => clean_prose(&mut record.message, REMARK),
            Self::Fault(fault) => clean_prose(&mut fault.message, REMARK),
            Self::Cancelled(_) | Self::Ping | Self::Pong => {}
        }
    }
}

impl Sanitize for BackendMessage {
    fn sanitize(&mut self) {
        match self {
            Self::HandshakeOk(accepted) => {
                accepted.toolbelt.iter_mut().for_each(clean_name);
                for refusal in &mut accepted.refused {
                    clean_name(&mut refusal.name);
                    clean_prose(&mut refusal.reason, REMARK);
                }
            }
            Self::AgentMessageDelta(delta) => clean_prose(&mut delta.text, usize::MAX),
            Self::Finished(finished) => clean_prose(&mut finished.message, usize::MAX),
            Self::Fault(fault) => clean_prose(&mut fault.message, REMARK),
            Self::RunTool(_)
            | Self::CancelTool(_)
            | Self::Ack(_)
            | Self::BootstrapFinished
            | Self::Ping
            | Self::Pong => {}
        }
    }
}

impl Sanitize for ToolReply {
    fn sanitize(&mut self) {
        if let Some(error) = &mut self.error {
            // The registry shortens it like a result: it keeps the end, which often has the cause.
            clean_prose(error, usize::MAX);
        }
        for artifact in &mut self.artifacts {
            match artifact {
                WireArtifact::Image { media_type, .. } => clean_name(media_type),
                WireArtifact::File {
                    name: file,
                    media_type,
                    ..
                } => {
                    clean_name(file);
                    clean_name(media_type);
                }
                WireArtifact::Value { name: of, .. } => clean_name(of),
            }
        }
        if let Some(violation) = &mut self.violation {
            let values = violation.get_mut("values").map(Value::take);
            clean_texts(violation);
            for of in ["contract", "tool", "call_id"] {
                if let Some(Value::String(text)) = violation.get_mut(of) {
                    clean_name(text);
                }
            }
            if let (Some(Value::Object(values)), Some(place)) =
                (values, violation.get_mut("values"))
            {
                let named = values
                    .into_iter()
                    .map(|(of, value)| (to_clean_name(&of), value));
                *place = Value::Object(named.collect::<Map<_, _>>());
            }
        }
        if let Some(invalid) = &mut self.invalid_arguments {
            clean_texts(invalid);
        }
    }
}

fn clean_prose(text: &mut String, most: usize) {
    *text = sanitize_prose(text, most);
}

fn clean_name(text: &mut String) {
    *text = to_clean_name(text);
}

fn to_clean_name(text: &str) -> String {
    sanitize(&text.replace('\n', ""), NAME)
}

/// Sanitises every text of a value, but not the names of its members.
fn clean_texts(value: &mut Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => clean_prose(text, SENTENCE),
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values_mut()),
            _ => {}
        }
    }
}
