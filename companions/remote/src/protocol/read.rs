//! Parses frames, and describes malformed ones.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

use super::sanitize::Sanitize;
use crate::toolbelt::sanitize;

/// Why a frame is not a valid message; only the name of its type is repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The text is not JSON.
    #[error("the frame is not JSON, at line {line}, column {column}")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The `type` is missing.
    #[error("the frame has no `type`")]
    NoType,
    /// The payload does not match the type.
    #[error("`{kind}` does not come with such a payload")]
    Payload {
        /// The type.
        kind: String,
    },
    /// No message of this version has this type.
    #[error("`{kind}` is not a message of protocol {version}")]
    Unknown {
        /// The type, shortened where it is long.
        kind: String,
        /// The supported version, [`PROTOCOL`](super::PROTOCOL).
        version: u32,
    },
}

/// Reports a malformed frame; the third one on a connection closes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Fault {
    /// What is wrong with the frame.
    pub message: String,
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self {
            message: malformed.to_string(),
        }
    }
}

/// Parses one frame, and sanitises its texts.
pub(crate) fn read<M>(text: &str, kinds: &[&str]) -> Result<M, Malformed>
where
    M: DeserializeOwned + Sanitize,
{
    let error = match serde_json::from_str::<M>(text) {
        Ok(mut message) => {
            message.sanitize();
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
            kind: sanitize(&kind, 40),
            version: super::PROTOCOL,
        },
    })
}

/// Writes one frame.
pub(crate) fn write<M: Serialize>(message: &M) -> String {
    // Messages hold no maps with keys that are not text, and no type that refuses.
    serde_json::to_string(message).unwrap_or_default()
}
