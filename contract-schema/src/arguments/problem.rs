//! Everything that is wrong with the arguments of a call, as data and as sentences, and the name that was probably meant.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strsim::osa_distance;

use super::describe::{clip, escaped, quoted};
use super::place::{ErrorPosition, Path};

/// The most values that a problem lists.
const LISTED: usize = 50;

/// The kind of an [`ArgumentProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is not JSON.
    Malformed,
    /// The arguments are JSON, but not an object.
    NotAnObject,
    /// The text is longer than the registry allows.
    TooLarge,
    /// The value can be read in too many ways and was not judged to the end.
    TooComplex,
    /// A required argument or key is absent.
    Missing,
    /// No argument or key has this name.
    Unknown,
    /// A key is given more than once.
    Duplicate,
    /// The value has the wrong JSON type.
    Type,
    /// A number is too small, too large or not a multiple of the step.
    Range,
    /// A string, array or object has too few or too many parts.
    Length,
    /// The value is not one of those listed, or is excluded.
    Value,
    /// A string does not match its pattern.
    Pattern,
    /// A string does not have its format, such as a date. Reported only with a call that is refused in any case: the type
    /// decides.
    Format,
    /// The value fits none of several forms, or more than one where only one may fit.
    NoMatch,
    /// The schema accepts the value, but the type does not.
    Rejected,
}

/// One problem with the arguments of a call, as data; its `Display` is one sentence.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// #[pre(number % 2 == 0, "only even numbers are halved")]
/// fn halve(number: u8) -> u8 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).build()?;
/// let call = |arguments| registry.call(ToolCall::new("1", "halve", arguments)).blocking();
/// let outcome = call(r#"{"number": "four"}"#);
/// let problem = &outcome.invalid_arguments().unwrap().problems()[0];
/// assert_eq!(problem.pointer, "/number");
/// assert_eq!(problem.expected, "an integer from 0 to 255 that is a multiple of 2");
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArgumentProblem {
    /// The value, as a JSON pointer (RFC 6901); empty for the arguments as a whole. It stops at a secret argument.
    pub pointer: String,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// What is accepted, in words.
    pub expected: String,
    /// What was given, in words, cut to about 60 characters; the value of a secret is not shown.
    pub got: String,
    /// The accepted values or names, if they are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Value>,
    /// The accepted value or name that is closest to the given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl ArgumentProblem {
    pub(super) fn new(
        pointer: String,
        kind: ProblemKind,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> Self {
        Self {
            pointer,
            kind,
            expected: expected.into(),
            got: got.into(),
            allowed: Vec::new(),
            nearest: None,
        }
    }

    /// Adds the accepted values, and the one among them that the text was probably meant for.
    pub(super) fn list<'v>(
        &mut self,
        path: &Path<'_>,
        values: impl Iterator<Item = &'v Value> + Clone,
        given: Option<&str>,
    ) {
        if !path.is_secret() {
            self.allowed = values.clone().take(LISTED).cloned().collect();
            let names = values.filter_map(Value::as_str);
            self.nearest = given.and_then(|given| nearest(given, names).map(str::to_owned));
        }
    }

    /// Returns `argument` for the top level and `key` below it, which are the words that the model knows.
    fn noun(&self) -> &'static str {
        if self.pointer.matches('/').count() > 1 {
            "key"
        } else {
            "argument"
        }
    }

    fn unknown(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.noun();
        write!(out, "no such {noun}")?;
        if let Some(name) = &self.nearest {
            write!(out, "; did you mean `{}`?", escaped(name))?;
        }
        let names: Vec<_> = self.allowed.iter().filter_map(Value::as_str).collect();
        let joint = if self.nearest.is_some() {
            " The"
        } else {
            "; the"
        };
        match names.as_slice() {
            [] if self.nearest.is_some() => Ok(()),
            [] => write!(out, "; expected {}", self.expected),
            [only] => write!(out, "{joint} only {noun} is `{only}`"),
            _ => {
                let shown: Vec<_> = names
                    .iter()
                    .take(20)
                    .map(|name| format!("`{}`", clip(name, 60)))
                    .collect();
                write!(out, "{joint} {noun}s are {}", shown.join(", "))?;
                match names.len().saturating_sub(20) {
                    0 => Ok(()),
                    more => write!(out, " and {more} more"),
                }
            }
        }
    }
}

impl fmt::Display for ArgumentProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            out.write_str("the arguments: ")?;
        } else {
            write!(out, "`{}`: ", escaped(&self.pointer))?;
        }
        match self.kind {
            ProblemKind::Unknown => self.unknown(out),
            ProblemKind::Missing => {
                write!(
                    out,
                    "required {} is missing; expected {}",
                    self.noun(),
                    self.expected
                )
            }
            ProblemKind::Duplicate => out.write_str("is given more than once"),
            ProblemKind::TooComplex => out.write_str(&self.expected),
            _ => {
                write!(out, "expected {}, got {}", self.expected, self.got)?;
                match &self.nearest {
                    Some(name) => write!(out, "; did you mean {}?", quoted(name)),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The most problems that are kept; the rest is counted.
pub(super) const KEPT: usize = 20;

/// The most characters of the whole refusal in words.
const LONGEST: usize = 2_000;

/// The most characters of one problem in words, so that the second is still read.
const LONGEST_SENTENCE: usize = 600;

/// The most characters of the message of a type that refuses a value.
const LONGEST_REASON: usize = 200;

/// Everything that is wrong with the arguments of a call, found in one pass.
///
/// At most 20 problems are kept; [`total`](Self::total) counts all of them. `Display` gives one line per
/// problem, in at most 2,000 characters, and says how many are left out.
///
/// ```
/// use contract_runtime::ProblemKind;
/// use contract_runtime::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// #[pre(number % 2 == 0, "only even numbers are halved")]
/// fn halve(number: u8) -> u8 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).build()?;
/// let call = |arguments| registry.call(ToolCall::new("1", "halve", arguments)).blocking();
/// let outcome = call(r#"{"number": 256, "nubmer": 1}"#);
/// let invalid = outcome.invalid_arguments().unwrap();
/// let kinds: Vec<_> = invalid.problems().iter().map(|problem| problem.kind).collect();
/// assert!(kinds.contains(&ProblemKind::Range) && kinds.contains(&ProblemKind::Unknown));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvalidArguments {
    problems: Vec<ArgumentProblem>,
    total: usize,
}

impl InvalidArguments {
    pub(super) fn new(mut problems: Vec<ArgumentProblem>, total: usize) -> Self {
        let total = total.max(problems.len());
        problems.truncate(KEPT);
        Self { problems, total }
    }

    /// Adds further problems. One at the same place replaces the less precise message of a type.
    pub(super) fn with(mut self, further: Vec<ArgumentProblem>) -> Self {
        for problem in further {
            let same = |known: &ArgumentProblem| known.pointer == problem.pointer;
            match self.problems.iter_mut().find(|known| same(known)) {
                Some(known) if known.kind == ProblemKind::Rejected => *known = problem,
                Some(_) => {}
                None => {
                    self.total += 1;
                    if self.problems.len() < KEPT {
                        self.problems.push(problem);
                    }
                }
            }
        }
        self
    }

    pub(super) fn one(problem: ArgumentProblem) -> Self {
        Self::new(vec![problem], 1)
    }

    /// Returns the first problems, in the order of the schema and then of the text.
    #[must_use]
    pub fn problems(&self) -> &[ArgumentProblem] {
        &self.problems
    }

    pub(super) fn problems_mut(&mut self) -> &mut [ArgumentProblem] {
        &mut self.problems
    }

    /// Returns the same problems without the values that were given, for logs.
    #[must_use]
    pub fn masked(&self) -> Self {
        let mut masked = self.clone();
        for problem in &mut masked.problems {
            "***".clone_into(&mut problem.got);
        }
        masked
    }

    /// Returns how many problems there are, including those that are not kept.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Creates the refusal of arguments of `got` bytes, which were not read because `limit` are admitted.
    pub fn too_large(limit: usize, got: usize) -> Self {
        Self::above(limit, &format!("{got} bytes"))
    }

    /// Creates the refusal of arguments that were read up to the `limit` in bytes, and not to their end.
    #[must_use]
    pub fn longer_than(limit: usize) -> Self {
        Self::above(limit, "more")
    }

    fn above(limit: usize, got: &str) -> Self {
        let (kind, expected) = (ProblemKind::TooLarge, format!("at most {limit} bytes"));
        Self::one(ArgumentProblem::new(String::new(), kind, expected, got))
    }
}

/// Creates the refusal of a value by its type, where the schema admits it. The message must not contain the value of a secret.
pub fn rejected(place: ErrorPosition, message: Option<&str>) -> InvalidArguments {
    let what = if place.is_key { "key" } else { "value" };
    let got = match message {
        Some(message) => {
            let reason = escaped(message);
            format!("a {what} it refuses: {}", clip(&reason, LONGEST_REASON))
        }
        None => format!("a {what} it refuses"),
    };
    InvalidArguments::one(ArgumentProblem::new(
        place.pointer,
        ProblemKind::Rejected,
        format!("a {what} its type accepts"),
        got,
    ))
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ([only], 1) = (self.problems.as_slice(), self.total) {
            return out.write_str(&clip(&only.to_string(), LONGEST));
        }
        let mut text = format!("{} problems:", self.total);
        let mut length = text.chars().count();
        let mut said = 0;
        for problem in &self.problems {
            let line = format!("\n- {}", clip(&problem.to_string(), LONGEST_SENTENCE));
            let more = line.chars().count();
            // The last line, with the number of problems left out, needs less than 40 characters.
            if length + more > LONGEST - 40 {
                break;
            }
            text.push_str(&line);
            length += more;
            said += 1;
        }
        out.write_str(&text)?;
        match self.total.saturating_sub(said) {
            0 => Ok(()),
            left => write!(out, "\n- and {left} more"),
        }
    }
}

impl std::error::Error for InvalidArguments {}

/// Longer names are not compared: the work grows with the product of the lengths.
const LONGEST_NAME: usize = 64;

/// Returns the candidate closest to `given`, if it is close enough to be a typo.
///
/// Distance is that of optimal string alignment (insert, delete, replace, swap neighbours), without regard
/// to case and to `_`, `-`, `.` and spaces. A third of the letters may differ, at least one.
pub fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(given)?;
    let close = candidates.filter_map(|candidate| {
        let letters = folded(candidate)?;
        let length = |name: &str| name.chars().count();
        let allowed = (length(&wanted).max(length(&letters)) / 3).max(1);
        let distance = osa_distance(&wanted, &letters);
        let related = wanted.chars().any(|letter| letters.contains(letter));
        (related && distance <= allowed).then_some((distance, candidate))
    });
    let nearest = close.min_by_key(|(distance, _)| *distance);
    nearest.map(|(_, candidate)| candidate)
}

/// Returns the only candidate that has the words of `given`, or whose words `given` has, such as `path` for `file_path`.
pub fn by_words<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let words = |name: &str| format!("_{}_", name.replace(['-', '.', ':', '/'], "_"));
    let wanted = words(given);
    let mut found = candidates.filter(|candidate| {
        let own = words(candidate);
        !given.is_empty() && (own.contains(&wanted) || wanted.contains(&own))
    });
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// The name without case and without the joints that names differ in (`maxItems`, `max_items`), unless it is too long.
fn folded(name: &str) -> Option<String> {
    let letters = name
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'));
    let is_short = name.chars().nth(LONGEST_NAME).is_none();
    is_short.then(|| letters.flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::{by_words, nearest};

    #[test]
    fn words_in_front_and_behind_may_be_missing_or_added() {
        let names = ["calendar_add", "notes_add", "convert", "notes_list"];
        for (given, meant) in [
            ("list", Some("notes_list")),
            ("functions.convert", Some("convert")),
            ("mcp__desk__notes_list", Some("notes_list")),
            ("convert_units", Some("convert")),
            ("calendar", Some("calendar_add")),
            // Two could be meant.
            ("add", None),
            ("notes", None),
            // No word of its own.
            ("ist", None),
            ("reconvert", None),
            ("", None),
        ] {
            assert_eq!(by_words(given, names.into_iter()), meant, "{given}");
        }
        assert_eq!(by_words("", ["a_"].into_iter()), None);
    }

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["query", "limit", "max_items", "é"];
        for (given, meant) in [
            ("querry", Some("query")),
            ("Query", Some("query")),
            ("qurey", Some("query")),
            ("maxItems", Some("max_items")),
            ("limits", Some("limit")),
            ("E\u{301}", None),
            ("offset", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, names.into_iter()), meant, "{given}");
        }
        assert_eq!(nearest(&"q".repeat(1_000_000), names.into_iter()), None);
        assert_eq!(nearest("a", std::iter::empty()), None);
    }
}
