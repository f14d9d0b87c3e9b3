use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reply::Output;

/// A result of more than text: what the model reads, and what goes along with it.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Draw a dot.
/// #[tool]
/// fn dot() -> Content {
///     Content::text("a black dot").with(Artifact::image("image/png", [0x89, b'P', b'N', b'G']))
/// }
///
/// let registry = Registry::builder().tool(dot).build()?;
/// let result = registry.call_blocking(ToolCall::new("1", "dot", "")).into_result();
/// assert_eq!(result.output.as_deref(), Some("a black dot"));
/// assert_eq!(result.artifacts.len(), 1);
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Content {
    output: Output,
}

/// Something that a result carries beside its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Artifact {
    /// A picture.
    Image {
        /// Such as `image/png` (RFC 6838).
        media_type: String,
        /// The bytes of the file.
        data: Vec<u8>,
    },
    /// A file.
    File {
        /// The name to show, without a folder.
        name: String,
        /// Such as `text/csv` (RFC 6838).
        media_type: String,
        /// The bytes of the file.
        data: Vec<u8>,
    },
    /// Structured data.
    Value {
        /// What it is.
        name: String,
        /// The data.
        value: Value,
    },
}

impl Artifact {
    /// A picture.
    pub fn image(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self::Image {
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    /// A file.
    pub fn file(
        name: impl Into<String>,
        media_type: impl Into<String>,
        data: impl Into<Vec<u8>>,
    ) -> Self {
        Self::File {
            name: name.into(),
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    /// Structured data.
    pub fn value(name: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::Value {
            name: name.into(),
            value: value.into(),
        }
    }
}

impl Content {
    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            output: Output {
                text: text.into(),
                ..Output::default()
            },
        }
    }

    /// A JSON value for the model, written compactly.
    pub fn json(value: &Value) -> Self {
        Self {
            output: Output {
                text: value.to_string(),
                is_json: true,
                artifacts: None,
            },
        }
    }

    /// Adds something to go along.
    pub fn with(mut self, artifact: Artifact) -> Self {
        self.output.artifacts.get_or_insert_default().push(artifact);
        self
    }

    /// The text for the model.
    #[must_use]
    pub fn as_text(&self) -> &str {
        &self.output.text
    }

    /// What goes along.
    #[must_use]
    pub fn artifacts(&self) -> &[Artifact] {
        self.output.artifacts.as_deref().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn into_output(self) -> Output {
        self.output
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
