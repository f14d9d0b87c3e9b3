//! Which version comes after a change of the contracts.

use std::fmt;

/// One change, as `diff --json` prints it.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Change {
    verdict: String,
    path: String,
    reason: String,
}

/// How large the difference between two contracts is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    None,
    /// Texts alone.
    Patch,
    /// Callers are not affected.
    Minor,
    /// A caller may be affected.
    Major,
}

impl Level {
    pub(crate) fn of(changes: &[Change]) -> Self {
        let level = |change: &Change| match &*change.verdict {
            "compatible" if change.reason == "the text has changed" => Self::Patch,
            "compatible" if change.path.ends_with("message") => Self::Patch,
            "compatible" => Self::Minor,
            _ => Self::Major,
        };
        changes.iter().map(level).max().unwrap_or(Self::None)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nothing",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        })
    }
}

/// A version without what follows a hyphen or a plus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

impl Version {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let core = text.split(['-', '+']).next()?;
        let mut numbers = core.split('.').map(|number| number.parse().ok());
        let version = Self {
            major: numbers.next()??,
            minor: numbers.next()??,
            patch: numbers.next()??,
        };
        numbers.next().is_none().then_some(version)
    }

    /// The version at the end of a tag, such as `v1.2.0` or `daykit-v1.2.0`.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let end = tag.rsplit(['/', '-']).next()?;
        Self::parse(end.strip_prefix('v').unwrap_or(end))
    }

    /// The lowest version that may follow, as Cargo reads versions: before 1.0 the second number is the major one, before 0.1 the
    /// third.
    pub(crate) fn next(self, level: Level) -> Self {
        let Self {
            major,
            minor,
            patch,
        } = self;
        let patched = Self {
            patch: patch + 1,
            ..self
        };
        match level {
            Level::None => self,
            Level::Major if major > 0 => Self {
                major: major + 1,
                minor: 0,
                patch: 0,
            },
            Level::Minor if major > 0 => Self {
                minor: minor + 1,
                patch: 0,
                ..self
            },
            Level::Major if minor > 0 => Self {
                minor: minor + 1,
                patch: 0,
                ..self
            },
            Level::Patch | Level::Minor | Level::Major => patched,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Level, Version};

    #[test]
    fn the_next_version_is_the_lowest_that_cargo_allows() {
        for (version, level, next) in [
            ("1.2.3", Level::None, "1.2.3"),
            ("1.2.3", Level::Patch, "1.2.4"),
            ("1.2.3", Level::Minor, "1.3.0"),
            ("1.2.3", Level::Major, "2.0.0"),
            ("0.2.3", Level::Patch, "0.2.4"),
            ("0.2.3", Level::Minor, "0.2.4"),
            ("0.2.3", Level::Major, "0.3.0"),
            ("0.0.3", Level::Major, "0.0.4"),
        ] {
            let next_version = Version::parse(version).unwrap().next(level);
            assert_eq!(next_version.to_string(), next, "{version} {level}");
        }
    }

    #[test]
    fn a_tag_says_its_version() {
        let said = |tag| Version::of_tag(tag).map(|version| version.to_string());
        assert_eq!(said("v1.2.0").as_deref(), Some("1.2.0"));
        assert_eq!(said("daykit-v1.2.0").as_deref(), Some("1.2.0"));
        assert_eq!(said("daykit/1.2.0").as_deref(), Some("1.2.0"));
        assert_eq!(said("main"), None);
        assert_eq!(said("HEAD~1"), None);
        assert_eq!(said("v1.2"), None);
    }

    #[test]
    fn the_largest_change_decides() {
        let change = |verdict: &str, path: &str, reason: &str| Change {
            verdict: verdict.to_owned(),
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        let text = || change("compatible", "description", "the text has changed");
        let new = || change("compatible", "", "is new");
        assert_eq!(Level::of(&[]), Level::None);
        assert_eq!(Level::of(&[text()]), Level::Patch);
        assert_eq!(Level::of(&[text(), new()]), Level::Minor);
        assert_eq!(
            Level::of(&[text(), change("breaking", "", "is gone"), new()]),
            Level::Major
        );
        // What a later version calls otherwise is taken for the worst.
        assert_eq!(Level::of(&[change("unknown", "", "")]), Level::Major);
    }
}
