//! The tools that are measured, as an author writes them.

#![expect(
    clippy::unused_async,
    reason = "what an async tool costs before it waits for anything"
)]

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    pub(crate) query: String,
    pub(crate) limit: u32,
    pub(crate) tags: Vec<String>,
    pub(crate) total: u64,
}

/// Add two numbers.
#[tool]
pub(crate) fn add(a: i64, b: i64) -> i64 {
    a.wrapping_add(b)
}

/// Add two numbers, later.
#[tool]
pub(crate) async fn add_async(a: i64, b: i64) -> i64 {
    a.wrapping_add(b)
}

/// Search for something.
#[tool]
pub(crate) fn search(query: String, limit: Option<u32>, tags: Vec<String>) -> Found {
    found(query, limit, tags)
}

/// Search for something, later.
#[tool]
pub(crate) async fn search_async(query: String, limit: Option<u32>, tags: Vec<String>) -> Found {
    found(query, limit, tags)
}

pub(crate) fn found(query: String, limit: Option<u32>, tags: Vec<String>) -> Found {
    Found {
        total: query.len() as u64 + tags.len() as u64,
        limit: limit.unwrap_or(10),
        query,
        tags,
    }
}

pub(crate) const ADD: &str = r#"{"a": 41, "b": -1}"#;
pub(crate) const SEARCH: &str = r#"{"query": "declarative contracts", "limit": 25, "tags": ["rust", "agents", "tools", "json"]}"#;
