//! What every library does.

use serde_json::{Value, json};

/// How many tools are listed.
pub(crate) const LISTED: usize = 500;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Add,
    AddAsync,
    Search,
    Struct,
    Enum,
    Map,
    List,
}

impl Work {
    pub(crate) const ALL: [Self; 7] = [
        Self::Add,
        Self::AddAsync,
        Self::Search,
        Self::Struct,
        Self::Enum,
        Self::Map,
        Self::List,
    ];

    /// The name of the tool that is called.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::AddAsync => "add_async",
            Self::Search => "search",
            Self::Struct => "place",
            Self::Enum => "convert",
            Self::Map => "total",
            Self::List => "list",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Add => "`add(i64, i64)`",
            Self::AddAsync => "the same, async",
            Self::Search => "`search(String, Option<u32>, Vec<String>)`",
            Self::Struct => "a struct of three fields",
            Self::Enum => "a number and an enum",
            Self::Map => "a map of three",
            Self::List => "500 tools: build and first listing",
        }
    }

    /// The arguments, as a model sends them.
    pub(crate) const fn arguments(self) -> &'static str {
        match self {
            Self::Add | Self::AddAsync => r#"{"a": 41, "b": -1}"#,
            Self::Search => {
                r#"{"query": "declarative contracts", "limit": 25, "tags": ["rust", "agents", "tools", "json"]}"#
            }
            Self::Struct => r#"{"order": {"item": "paper, A4", "count": 12, "note": "white"}}"#,
            Self::Enum => r#"{"length": 26, "unit": "mile"}"#,
            Self::Map => r#"{"prices": {"paper": 1250, "pencils": 399, "ink": 2799}}"#,
            Self::List => "",
        }
    }

    /// Whether this is the result of the work.
    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        let found: Value = serde_json::from_str(text)
            .map_err(|error| format!("{}: {error}: {text}", self.name()))?;
        let expected = match self {
            Self::Add | Self::AddAsync => json!(40),
            Self::Search => {
                json!({"query": "declarative contracts", "limit": 25, "tags": ["rust", "agents", "tools", "json"], "total": 25})
            }
            Self::Struct => json!(26),
            Self::Enum => json!(41_842_944),
            Self::Map => json!(4448),
            Self::List => {
                let all = (0..LISTED).all(|index| text.contains(&format!("find_pages_{index}\"")));
                let properties = text.matches(r#""tags""#).count();
                return if all && properties >= LISTED && found.is_array() {
                    Ok(())
                } else {
                    Err(format!("not all tools are listed: {properties}"))
                };
            }
        };
        if found == expected {
            return Ok(());
        }
        Err(format!("{}: {found} instead of {expected}", self.name()))
    }
}
