use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

use super::shown::FromAfar;
use crate::remote::toolbelt::shown;

/// Why a frame is no message; nothing of the frame is repeated but the name of its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The text is not JSON.
    #[error("the frame is not JSON, at line {line}, column {column}")]
    NotJson {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// There is no `type`.
    #[error("the frame has no `type`")]
    NoType,
    /// The type has no such payload.
    #[error("`{kind}` does not come with such a payload")]
    Payload {
        /// The type.
        kind: String,
    },
    /// No message of this version has the type.
    #[error("`{kind}` is no message of protocol {version}")]
    Unknown {
        /// The type, shortened where it is long.
        kind: String,
        /// [`PROTOCOL`](super::PROTOCOL).
        version: u32,
    },
}

/// What was wrong with a frame; the third of a connection ends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Fault {
    /// In words.
    pub message: String,
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self {
            message: malformed.to_string(),
        }
    }
}

/// Reads one frame; its texts may be shown to anybody.
pub(crate) fn read<M>(text: &str, kinds: &[&str]) -> Result<M, Malformed>
where
    M: DeserializeOwned + FromAfar,
{
    let error = match serde_json::from_str::<M>(text) {
        Ok(mut message) => {
            message.fit_to_show();
            return Ok(message);
        }
        Err(error) => error,
    };
    if matches!(error.classify(), Category::Syntax | Category::Eof) {
        return Err(Malformed::NotJson {
            line: error.line(),
            column: error.column(),
        });
    }
    let kind = serde_json::from_str::<Value>(text)
        .ok()
        .and_then(|frame| Some(frame.get("type")?.as_str()?.to_owned()));
    Err(match kind {
        None => Malformed::NoType,
        Some(kind) if kinds.contains(&&*kind) => Malformed::Payload { kind },
        Some(kind) => Malformed::Unknown {
            kind: shown(&kind, 40),
            version: super::PROTOCOL,
        },
    })
}

/// Writes one frame.
pub(crate) fn write<M: Serialize>(message: &M) -> String {
    // Messages hold no maps with keys that are not text, and no type that refuses.
    serde_json::to_string(message).unwrap_or_default()
}
