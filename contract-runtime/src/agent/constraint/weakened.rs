//! What a grammar cannot say.

use std::fmt;

use serde::Serialize;

/// A keyword that a grammar says weaker than the schema: it accepts texts that a call then refuses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Weakened {
    /// The place of a reply: the tool and then the way into its arguments.
    pub at: String,
    /// The keyword of JSON Schema.
    pub keyword: String,
    /// Only GBNF and regular expressions are weaker; Lark says it.
    pub only_gbnf: bool,
}

impl Weakened {
    pub(super) fn new(at: &str, keyword: &str, only_gbnf: bool) -> Self {
        Self {
            at: at.to_owned(),
            keyword: keyword.to_owned(),
            only_gbnf,
        }
    }
}

impl fmt::Display for Weakened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, keyword, .. } = self;
        let of = if self.only_gbnf {
            "a grammar without intersections"
        } else {
            "a grammar"
        };
        write!(
            f,
            "`{keyword}` at `{at}` is not said whole by {of}; the call judges it"
        )
    }
}
