//! Serialises a manifest as JSON.

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{Manifest, ManifestVersion, ToolManifest};

/// Why a text is not a manifest.
///
/// ```
/// use contract_manifest::{Manifest, ManifestError};
///
/// let older = r#"{"version": "0.1", "rules": 1, "tools": []}"#;
/// let error = Manifest::from_json(older).unwrap_err();
/// assert!(matches!(&error, ManifestError::Version { found } if found == "0.1"), "{error}");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The text is not JSON, or does not have the form of a manifest.
    #[error("not a manifest: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The version of the manifest is not supported.
    #[error(
        "version `{found}` of the manifest format is not supported, only {}; use a version of contract-runtime that supports it",
        ManifestVersion::CURRENT
    )]
    Version {
        /// The version it names.
        found: String,
    },
    /// The manifest describes a tool twice.
    #[error("not a manifest: tool `{tool}` appears in it twice")]
    Duplicate {
        /// The name of the tool.
        tool: String,
    },
}

impl Manifest {
    /// Parses a manifest.
    ///
    /// # Errors
    ///
    /// [`ManifestError`]: the text is not JSON or not a manifest, it is of another major version, or two tools have one name.
    pub fn from_json(text: &str) -> Result<Self, ManifestError> {
        Self::from_value(serde_json::from_str(text)?)
    }

    /// Serialises the manifest in its canonical form: keys in byte order, indented by two spaces, with a final line
    /// break.
    ///
    /// Equal manifests have equal texts, whatever features other crates switch on in `serde_json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Nothing in it can fail: every key is a text.
        let value = serde_json::to_value(self).unwrap_or_default();
        format!("{:#}\n", sorted(value))
    }

    /// Returns the JSON Schema (2020-12) of a manifest.
    ///
    /// ```
    /// let schema = contract_manifest::Manifest::json_schema();
    /// assert_eq!(schema["title"], "Contract manifest");
    /// ```
    #[must_use]
    pub fn json_schema() -> Value {
        // A test reads it.
        serde_json::from_str(include_str!("manifest.schema.json")).unwrap_or_default()
    }

    fn from_value(value: Value) -> Result<Self, ManifestError> {
        // Before all else: the fields of another version are other fields.
        if let Some(version) = value.get("version").and_then(Value::as_str) {
            version.parse::<ManifestVersion>()?;
        }
        let plain: Plain = serde_json::from_value(value)?;
        let mut names = BTreeSet::new();
        let twice = plain.tools.iter().find(|tool| !names.insert(&tool.name));
        if let Some(tool) = twice {
            return Err(ManifestError::Duplicate {
                tool: tool.name.clone(),
            });
        }
        Ok(Self {
            version: plain.version,
            rules: plain.rules,
            tools: plain.tools,
            other: plain.other,
        })
    }
}

/// A manifest before it is checked.
#[derive(Deserialize)]
struct Plain {
    version: ManifestVersion,
    rules: u32,
    tools: Vec<ToolManifest>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// By way of a value, because a flattened struct cannot read numbers where a crate in the tree has switched on the
/// `arbitrary_precision` of `serde_json`.
impl<'de> Deserialize<'de> for Manifest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let members = members.into_iter();
            Value::Object(members.map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        plain => plain,
    }
}
