//! The version of the manifest format.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ManifestError;

/// The version of the [`Manifest`](crate::Manifest) format, written as `"1.2"`.
///
/// ```
/// use contract_manifest::ManifestVersion;
///
/// assert_eq!(ManifestVersion::CURRENT.to_string(), "1.2");
/// assert!("1.7".parse::<ManifestVersion>().is_ok());
/// assert!("2.0".parse::<ManifestVersion>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManifestVersion {
    major: u32,
    minor: u32,
}

impl ManifestVersion {
    /// The version that is written here.
    pub const CURRENT: Self = Self { major: 1, minor: 2 };
}

impl fmt::Display for ManifestVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for ManifestVersion {
    type Err = ManifestError;

    fn from_str(text: &str) -> Result<Self, ManifestError> {
        let unknown = || ManifestError::Version {
            found: text.to_owned(),
        };
        let (major, minor) = text.split_once('.').ok_or_else(unknown)?;
        let number = |digits: &str| digits.parse().map_err(|_| unknown());
        let version = Self {
            major: number(major)?,
            minor: number(minor)?,
        };
        // `+1.00` reads as the same number.
        if version.major != Self::CURRENT.major || version.to_string() != text {
            return Err(unknown());
        }
        Ok(version)
    }
}

impl Serialize for ManifestVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ManifestVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}
