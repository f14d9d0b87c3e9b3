use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, Tool};
use serde_json::Value;

use crate::{Dialect, ExportError, McpRevision, Registry};

/// The tools as `tools/list` gives them, in either revision; made once.
pub(super) struct List {
    november: Vec<Tool>,
    july: Vec<Tool>,
    page: usize,
}

impl List {
    pub(super) fn new(registry: &Registry, page: usize) -> Result<Self, ExportError> {
        Ok(Self {
            november: tools(registry, McpRevision::November2025)?,
            july: tools(registry, McpRevision::July2026)?,
            page,
        })
    }

    pub(super) fn tool(&self, name: &str) -> Option<Tool> {
        self.july.iter().find(|tool| tool.name == name).cloned()
    }

    /// A cursor is the name of the last tool of the page before: it stays right when the set changes between two starts.
    pub(super) fn page(
        &self,
        revision: McpRevision,
        cursor: Option<&str>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = match revision {
            McpRevision::November2025 => &self.november,
            McpRevision::July2026 => &self.july,
        };
        let rest = match cursor {
            None => &all[..],
            Some(cursor) => {
                let after = all.iter().position(|tool| tool.name == cursor);
                let after = after.ok_or_else(|| {
                    ErrorData::invalid_params("no such cursor; begin again without one", None)
                })?;
                &all[after + 1..]
            }
        };
        let page = &rest[..rest.len().min(self.page)];
        let mut result = ListToolsResult::with_all_items(page.to_vec());
        if page.len() < rest.len() {
            result.next_cursor = page.last().map(|tool| tool.name.to_string());
        }
        if revision == McpRevision::July2026 {
            result.ttl_ms = Some(0);
            result.cache_scope = Some(CacheScope::Private);
        }
        Ok(result)
    }
}

fn tools(registry: &Registry, revision: McpRevision) -> Result<Vec<Tool>, ExportError> {
    let exported = registry.export(Dialect::Mcp(revision))?;
    let list = exported.as_array().map_or(&[][..], Vec::as_slice);
    Ok(list.iter().map(tool).collect())
}

fn tool(exported: &Value) -> Tool {
    // What the export writes is what the protocol reads.
    serde_json::from_value(exported.clone()).unwrap_or_default()
}
