use serde_json::Value;

use super::{Limits, text};
use crate::schema::{Holds, holds};

/// The names of the dialect that schemas are read in; nobody fetches them.
const DIALECTS: [&str; 2] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
];

/// What the regular expressions of all custom tools take together, once they are compiled, nearly.
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
                "the pattern `{}` is none, or too large",
                text::shown(pattern, 60)
            )
        })?;
        Ok(())
    }
}

/// Takes a schema whose references stay inside it, with texts that show; or says why not.
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
            ("$schema", _) => return Err("`$schema` names another dialect than 2020-12".to_owned()),
            (
                "$id" | "$vocabulary" | "$recursiveRef" | "$dynamicRef" | "definitions"
                | "dependencies" | "additionalItems",
                _,
            ) => {
                return Err(format!(
                    "`{keyword}` is not followed; write `$ref` to a part of the schema, and `$defs`"
                ));
            }
            ("$ref", Value::String(to)) if to.starts_with('#') => {}
            ("$ref", to) => {
                return Err(format!(
                    "the schema refers to `{}`, and only references inside it are followed",
                    text::shown(to.as_str().unwrap_or_default(), 100)
                ));
            }
            ("pattern", Value::String(pattern)) => patterns.take(pattern)?,
            ("title" | "description" | "$comment", Value::String(words)) => {
                *words = text::shown(words, limits.description);
            }
            _ => match (holds(keyword), value) {
                (Holds::Schema, value) => take(value, limits, patterns)?,
                (Holds::List, Value::Array(items)) => {
                    items
                        .iter_mut()
                        .try_for_each(|item| take(item, limits, patterns))?;
                }
                (Holds::Map, Value::Object(members)) => {
                    for (name, member) in members {
                        if !text::is_shown(name) {
                            return Err(format!(
                                "the name `{}` holds characters that do not show",
                                text::shown(name, 64)
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
