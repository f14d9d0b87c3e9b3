//! One line that matched.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path::{escape_path, unescape};

/// A line that matched; it is written as `path:line: text`, and can be read back.
///
/// ```
/// use toolkit::Hit;
///
/// let hit: Hit = "src/main.rs:3: fn main() {".parse()?;
/// assert_eq!(hit.line, 3);
/// assert_eq!(hit.to_string(), "src/main.rs:3: fn main() {");
/// # Ok::<(), toolkit::HitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Hit {
    /// The file, below the path that was searched, and so as other tools take it. Written with control characters,
    /// bytes that are not UTF-8, and `: ` escaped.
    pub path: PathBuf,
    /// The number of the line; the first is 1.
    pub line: u64,
    /// The line without its end. Of a long one, what surrounds the first match, with `..` where something was left out.
    pub text: String,
}

/// A text is no [`Hit`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a hit; write it as `path:line: text`")]
pub struct HitError(String);

impl fmt::Display for Hit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With this, the first `: ` behind a number is the one that ends the number of the line.
        let path = escape_path(&self.path).replace(": ", r"\x3a ");
        write!(formatter, "{path}:{}: {}", self.line, self.text)
    }
}

impl FromStr for Hit {
    type Err = HitError;

    fn from_str(text: &str) -> Result<Self, HitError> {
        let error = || HitError(text.chars().take(80).collect());
        let (place, found) = text.split_once(": ").ok_or_else(error)?;
        let (path, line) = place.rsplit_once(':').ok_or_else(error)?;
        Ok(Self {
            path: unescape(path).ok_or_else(error)?.into_owned(),
            line: line.parse().map_err(|_| error())?,
            text: found.to_owned(),
        })
    }
}

impl From<Hit> for String {
    fn from(hit: Hit) -> Self {
        hit.to_string()
    }
}

impl TryFrom<String> for Hit {
    type Error = HitError;

    fn try_from(text: String) -> Result<Self, HitError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_hit_can_be_read_back(
            name in proptest::collection::vec(prop_oneof![Just(b':'), Just(b' '), Just(b'1'), Just(b'\\'), 1_u8..], 1..12),
            line in 1_u64..,
            text in "[^\n]*",
        ) {
            let path = PathBuf::from(OsStr::from_bytes(&name));
            let hit = Hit { path, line, text };
            prop_assert_eq!(hit.to_string().parse(), Ok(hit));
        }
    }

    #[test]
    fn a_path_that_looks_like_a_hit_stays_apart() {
        let hit = Hit {
            path: "a:1: b".into(),
            line: 7,
            text: "c:2: d".into(),
        };
        assert_eq!(hit.to_string(), r"a:1\x3a b:7: c:2: d");
        assert_eq!(hit.to_string().parse(), Ok(hit));
    }

    #[test]
    fn what_is_no_hit_is_refused() {
        for text in [
            "",
            "a",
            "a: b",
            "a:b: c",
            "a:1:b",
            r"a\q:1: b",
            r"a\x4:1: b",
        ] {
            assert!(text.parse::<Hit>().is_err(), "{text}");
        }
    }
}
