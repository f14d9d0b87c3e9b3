//! Artifacts as they are sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract_runtime::Artifact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::toolbelt::depth;

/// The deepest JSON of an artifact: JSON is parsed to 128 levels, of which the surrounding message takes a few.
pub(super) const DEEPEST: usize = 120;

/// An artifact of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum WireArtifact {
    /// An image.
    Image {
        /// The media type, such as `image/png` (RFC 6838).
        media_type: String,
        /// The bytes of the file in Base64 (RFC 4648, section 4).
        data: String,
    },
    /// A file.
    File {
        /// The file name, without a directory.
        name: String,
        /// The media type, such as `text/csv` (RFC 6838).
        media_type: String,
        /// The bytes of the file in Base64 (RFC 4648, section 4).
        data: String,
    },
    /// Structured data; also used for a note that replaces an artifact that could not be sent.
    Value {
        /// The name of the value.
        name: String,
        /// The data.
        value: Value,
    },
}

impl From<&Artifact> for WireArtifact {
    fn from(artifact: &Artifact) -> Self {
        match artifact {
            Artifact::Image { media_type, data } => Self::Image {
                media_type: media_type.clone(),
                data: STANDARD.encode(data),
            },
            Artifact::File {
                name,
                media_type,
                data,
            } => Self::File {
                name: name.clone(),
                media_type: media_type.clone(),
                data: STANDARD.encode(data),
            },
            Artifact::Value { name, value } if depth(value) > DEEPEST => note(
                name,
                &format!("left out: nested deeper than {DEEPEST} levels"),
            ),
            Artifact::Value { name, value } => Self::Value {
                name: name.clone(),
                value: value.clone(),
            },
            _ => note(
                "artifact",
                "left out: it is of a kind that no message holds",
            ),
        }
    }
}

impl From<WireArtifact> for Artifact {
    fn from(sent: WireArtifact) -> Self {
        let bytes = |data: &str| STANDARD.decode(data);
        match sent {
            WireArtifact::Image { media_type, data } => match bytes(&data) {
                Ok(data) => Self::Image { media_type, data },
                Err(_) => note("image", "left out: it is not valid Base64").into(),
            },
            WireArtifact::File {
                name,
                media_type,
                data,
            } => match bytes(&data) {
                Ok(data) => Self::File {
                    name: file_name(&name),
                    media_type,
                    data,
                },
                Err(_) => note(&name, "left out: it is not valid Base64").into(),
            },
            WireArtifact::Value { name, value } => Self::Value { name, value },
        }
    }
}

impl WireArtifact {
    /// Its bytes in a message, nearly.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Image { media_type, data } => media_type.len() + data.len(),
            Self::File {
                name,
                media_type,
                data,
            } => name.len() + media_type.len() + data.len(),
            Self::Value { name, value } => name.len() + value.to_string().len(),
        }
    }

    /// A note in its place: that there was something, and why it did not come.
    pub(super) fn left_out(&self, most: usize) -> Self {
        let (name, media_type) = match self {
            Self::Image { media_type, .. } => ("image", Some(media_type)),
            Self::File {
                name, media_type, ..
            } => (name.as_str(), Some(media_type)),
            Self::Value { name, .. } => (name.as_str(), None),
        };
        let of = media_type.map_or_else(String::new, |kind| {
            format!(" of {}", kind.chars().take(100).collect::<String>())
        });
        let bytes = self.size();
        note(
            name,
            &format!(
                "left out: {bytes} bytes{of} as text, and a message holds {most}; save it there and give its path instead"
            ),
        )
    }
}

pub(super) fn note(name: &str, why: &str) -> WireArtifact {
    WireArtifact::Value {
        name: name.chars().take(100).collect(),
        value: why.into(),
    }
}

/// Returns what follows the last separator of any system, so that saving the file cannot leave the directory.
fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    match last {
        "" | "." | ".." => "file".to_owned(),
        last => last.to_owned(),
    }
}
