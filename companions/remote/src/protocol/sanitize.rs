//! Texts of the other side: what reaches a terminal, a log or a model moves no cursor and turns no line around.

use serde_json::{Map, Value};

use super::artifact::WireArtifact;
use super::{BackendMessage, ExecutorMessage, ToolReply};
use crate::remote::toolbelt::{shown, told};

/// The most characters of the name of something; a file has no more on any system.
const NAME: usize = 255;

/// The most characters of a remark: a report, a fault, a reason.
const REMARK: usize = 1_000;

/// The most characters of one text of a violation or of a problem.
const SENTENCE: usize = 10_000;

/// Something that the other side has written.
pub(crate) trait FromAfar {
    /// Takes out of its texts what nobody should be shown; results, values and files are data, and stay as they are.
    fn fit_to_show(&mut self);
}

impl FromAfar for ExecutorMessage {
    fn fit_to_show(&mut self) {
        match self {
            Self::Handshake(handshake) => {
                // Its tools and its platform are judged where they are taken.
                for entry in &mut handshake.unacknowledged {
                    if let Some(reply) = &mut entry.reply {
                        reply.fit_to_show();
                    }
                }
            }
            Self::ToolResult(reply) => reply.fit_to_show(),
            Self::ToolProgress(report) => tell(&mut report.message, REMARK),
            Self::Fault(fault) => tell(&mut fault.message, REMARK),
            Self::Cancelled(_) | Self::Ping | Self::Pong => {}
        }
    }
}

impl FromAfar for BackendMessage {
    fn fit_to_show(&mut self) {
        match self {
            Self::HandshakeOk(accepted) => {
                accepted.toolbelt.iter_mut().for_each(name);
                for refusal in &mut accepted.refused {
                    name(&mut refusal.name);
                    tell(&mut refusal.reason, REMARK);
                }
            }
            Self::AgentMessageDelta(delta) => tell(&mut delta.text, usize::MAX),
            Self::Finished(finished) => tell(&mut finished.message, usize::MAX),
            Self::Fault(fault) => tell(&mut fault.message, REMARK),
            Self::RunTool(_)
            | Self::CancelTool(_)
            | Self::Ack(_)
            | Self::BootstrapFinished
            | Self::Ping
            | Self::Pong => {}
        }
    }
}

impl FromAfar for ToolReply {
    fn fit_to_show(&mut self) {
        if let Some(error) = &mut self.error {
            // The registry cuts it, as it cuts a result: with its end, where the cause often stands.
            tell(error, usize::MAX);
        }
        for artifact in &mut self.artifacts {
            match artifact {
                WireArtifact::Image { media_type, .. } => name(media_type),
                WireArtifact::File {
                    name: file,
                    media_type,
                    ..
                } => {
                    name(file);
                    name(media_type);
                }
                WireArtifact::Value { name: of, .. } => name(of),
            }
        }
        if let Some(violation) = &mut self.violation {
            let values = violation.get_mut("values").map(Value::take);
            sentences(violation);
            for of in ["contract", "tool", "call_id"] {
                if let Some(Value::String(text)) = violation.get_mut(of) {
                    name(text);
                }
            }
            if let (Some(Value::Object(values)), Some(place)) =
                (values, violation.get_mut("values"))
            {
                let named = values.into_iter().map(|(of, value)| (named(&of), value));
                *place = Value::Object(named.collect::<Map<_, _>>());
            }
        }
        if let Some(invalid) = &mut self.invalid_arguments {
            sentences(invalid);
        }
    }
}

fn tell(text: &mut String, most: usize) {
    *text = told(text, most);
}

fn name(text: &mut String) {
    *text = named(text);
}

fn named(text: &str) -> String {
    shown(&text.replace('\n', ""), NAME)
}

/// Every text of a value; its names are read by nobody who does not know them.
fn sentences(value: &mut Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => tell(text, SENTENCE),
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values_mut()),
            _ => {}
        }
    }
}
