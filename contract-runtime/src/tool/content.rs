//! Results with artifacts: images, files and structured data.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outcome::OutputKind;

/// A result with more than text: the text that the model reads, and artifacts. [`default`](Self::default) is that of `()`.
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
/// let result = registry.call(ToolCall::new("1", "dot", "")).blocking().into_result();
/// assert_eq!(result.output.as_deref(), Some("a black dot"));
/// assert_eq!(result.artifacts.len(), 1);
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Content {
    pub(crate) text: String,
    pub(crate) kind: OutputKind,
    /// The artifacts. They are boxed twice because most results have none, and one word is moved faster than three.
    #[allow(clippy::box_collection, reason = "see above")]
    pub(crate) artifacts: Option<Box<Vec<Artifact>>>,
}

/// Something that a result carries besides its text.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Draw a chart.
/// #[tool(read_only)]
/// fn chart() -> Content {
///     Content::text("one chart")
///         .with(Artifact::image("image/png", [0x89, b'P', b'N', b'G']))
///         .with(Artifact::file("data.csv", "text/csv", "x,y\n"))
/// }
///
/// let registry = Registry::builder().tool(chart).build()?;
/// let outcome = registry.call(ToolCall::new("1", "chart", "{}")).blocking();
/// assert_eq!(outcome.artifacts().len(), 2);
/// assert!(matches!(&outcome.artifacts()[0], Artifact::Image { media_type, .. } if media_type == "image/png"));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Artifact {
    /// An image.
    Image {
        /// The media type, such as `image/png` (RFC 6838).
        media_type: String,
        /// The bytes of the file.
        data: Vec<u8>,
    },
    /// A file.
    File {
        /// The file name to show, without a folder.
        name: String,
        /// The media type, such as `text/csv` (RFC 6838).
        media_type: String,
        /// The bytes of the file.
        data: Vec<u8>,
    },
    /// Structured data.
    Value {
        /// The name of the data.
        name: String,
        /// The data.
        value: Value,
    },
}

impl Artifact {
    /// Creates an image artifact.
    pub fn image(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self::Image {
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    /// Creates a file artifact.
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

    /// Creates an artifact of structured data.
    pub fn value(name: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::Value {
            name: name.into(),
            value: value.into(),
        }
    }
}

impl Content {
    pub(crate) const fn new(text: String, kind: OutputKind) -> Self {
        Self {
            text,
            kind,
            artifacts: None,
        }
    }

    /// Creates a result with this text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(text.into(), OutputKind::Text)
    }

    /// Creates a result with a JSON value for the model, written compactly.
    pub fn json(value: &Value) -> Self {
        Self::new(value.to_string(), OutputKind::Json)
    }

    /// Creates a result with a JSON value for the model, which is passed on as it is written.
    ///
    /// ```
    /// use contract_runtime::Content;
    ///
    /// assert_eq!(Content::json_text("1.50")?.as_text(), "1.50");
    /// assert!(Content::json_text("1.5.0").is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is not JSON.
    pub fn json_text(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        let text = text.into();
        serde_json::from_str::<IgnoredAny>(&text)?;
        Ok(Self::new(text, OutputKind::Json))
    }

    /// Adds an artifact.
    pub fn with(mut self, artifact: Artifact) -> Self {
        self.artifacts.get_or_insert_default().push(artifact);
        self
    }

    /// Returns the text for the model.
    #[must_use]
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// Returns the artifacts.
    #[must_use]
    pub fn artifacts(&self) -> &[Artifact] {
        self.artifacts.as_deref().map_or(&[], Vec::as_slice)
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
