//! Checks the schemas of custom tools, within limits.

use contract_runtime::__family::{KeywordValue, holds};
use serde_json::Value;

use super::{Limits, text};

/// The URIs of the supported dialect, which are not fetched.
const DIALECTS: [&str; 2] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
];

/// The approximate size of the compiled regular expressions of all custom tools.
#[derive(Debug)]
pub(super) struct Patterns {
    left: usize,
}

impl Patterns {
    /// The sizes that a pattern is counted with, in bytes: most are of the first.
    const SIZES: [usize; 2] = [8 << 10, 256 << 10];

    pub(super) const fn new(limits: &Limits) -> Self {
        Self {
            left: limits.pattern_bytes,
        }
    }

    fn take(&mut self, pattern: &str) -> Result<(), String> {
        let fits = |size: &usize| {
            let mut builder = regex_lite::RegexBuilder::new(pattern);
            builder.size_limit(*size).build().is_ok()
        };
        let size = Self::SIZES.into_iter().find(fits);
        let left = size.and_then(|size| self.left.checked_sub(size));
        self.left = left.ok_or_else(|| {
            format!(
                "the pattern `{}` is invalid or too large",
                text::sanitize(pattern, 60)
            )
        })?;
        Ok(())
    }
}

/// Checks that the references of a schema are local, and sanitises its texts.
///
/// It is called with a value whose depth is bounded.
pub(super) fn take(
    schema: &mut Value,
    limits: &Limits,
    patterns: &mut Patterns,
) -> Result<(), String> {
    let Value::Object(keywords) = schema else {
        return Ok(());
    };
    for (keyword, value) in keywords {
        match (keyword.as_str(), &mut *value) {
            ("$schema", Value::String(dialect)) if DIALECTS.contains(&&**dialect) => {}
            ("$schema", _) => return Err("`$schema` names a dialect other than 2020-12".to_owned()),
            (
                "$id" | "$vocabulary" | "$recursiveRef" | "$dynamicRef" | "definitions"
                | "dependencies" | "additionalItems",
                _,
            ) => {
                return Err(format!(
                    "`{keyword}` is not supported; write `$ref` to a part of the schema, and `$defs`"
                ));
            }
            ("$ref", Value::String(to)) if to.starts_with('#') => {}
            ("$ref", to) => {
                return Err(format!(
                    "the schema refers to `{}`, and only references inside it are followed",
                    text::sanitize(to.as_str().unwrap_or_default(), 100)
                ));
            }
            ("pattern", Value::String(pattern)) => patterns.take(pattern)?,
            ("title" | "description" | "$comment", Value::String(words)) => {
                *words = text::sanitize(words, limits.description);
            }
            _ => match (holds(keyword), value) {
                (KeywordValue::Schema, value) => take(value, limits, patterns)?,
                (KeywordValue::List, Value::Array(items)) => {
                    items
                        .iter_mut()
                        .try_for_each(|item| take(item, limits, patterns))?;
                }
                (KeywordValue::Map, Value::Object(members)) => {
                    for (name, member) in members {
                        if !text::is_visible(name) {
                            return Err(format!(
                                "the name `{}` holds characters that do not show",
                                text::sanitize(name, 64)
                            ));
                        }
                        if keyword == "patternProperties" {
                            patterns.take(name)?;
                        }
                        take(member, limits, patterns)?;
                    }
                }
                _ => {}
            },
        }
    }
    Ok(())
}
