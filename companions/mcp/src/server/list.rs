//! The tools as `tools/list` returns them.

use contract_runtime::{Dialect, McpRevision, Registry, ToolInfo};
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, Tool};
use serde_json::{Value, json};

use super::revision::Revision;
use crate::ServeError;

/// The tools as `tools/list` returns them, built once.
pub(super) struct List {
    november: Vec<ListedTool>,
    july: Vec<ListedTool>,
    page: usize,
}

struct ListedTool {
    tool: Tool,
    /// Whether a client has to repeat some argument in a header, which is then compared.
    in_headers: bool,
    /// Whether a result may be a string, by its schema.
    text: bool,
    /// Whether a condition depends on the earlier calls of a run.
    asks_history: bool,
}

/// What a tool promises about its results in `tools/list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// No structured result.
    Nothing,
    /// A structured result, which is a JSON value; it may be a string if `text`.
    Structured { text: bool },
}

impl List {
    pub(super) fn new(registry: &Registry, page: usize) -> Result<Self, ServeError> {
        Ok(Self {
            november: tools(registry, McpRevision::November2025)?,
            july: tools(registry, McpRevision::July2026)?,
            page,
        })
    }

    /// A tool whose arguments a client repeats in headers.
    ///
    /// rmcp calls it for every request, so tools without such arguments are not copied.
    pub(super) fn with_headers(&self, name: &str) -> Option<Tool> {
        let listed = find(&self.july, name)?;
        listed.in_headers.then(|| listed.tool.clone())
    }

    /// Whether a client repeats arguments of this tool in headers.
    pub(super) fn compares_headers(&self, name: &str) -> bool {
        find(&self.july, name).is_some_and(|listed| listed.in_headers)
    }

    pub(super) fn promise(&self, revision: Revision, name: &str) -> Promise {
        match find(self.all(revision), name) {
            Some(listed)
                if revision.has_structured_results() && listed.tool.output_schema.is_some() =>
            {
                Promise::Structured { text: listed.text }
            }
            _ => Promise::Nothing,
        }
    }

    /// The tools of one page; those that depend on earlier calls only where those are `remembered`.
    ///
    /// A cursor is the name of the last tool of the previous page, so it stays valid if the set changes between two starts.
    pub(super) fn page(
        &self,
        revision: Revision,
        cursor: Option<&str>,
        remembered: bool,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = self.all(revision);
        let rest = match cursor {
            None => all,
            Some(cursor) => {
                let after = position(all, cursor).ok_or_else(|| {
                    ErrorData::invalid_params("no such cursor; begin again without one", None)
                })?;
                all.get(after + 1..).unwrap_or_default()
            }
        };
        let mut offered = rest.iter().filter(|one| remembered || !one.asks_history);
        let page: Vec<&ListedTool> = offered.by_ref().take(self.page).collect();
        let tools = page.iter().map(|one| {
            let mut tool = one.tool.clone();
            revision.strip_tool(&mut tool);
            tool
        });
        let mut result = ListToolsResult::with_all_items(tools.collect());
        if offered.next().is_some() {
            result.next_cursor = page.last().map(|one| one.tool.name.to_string());
        }
        if revision >= Revision::July2026 {
            // The next start may be of another version of the program, with other tools.
            result.ttl_ms = Some(0);
            result.cache_scope = Some(CacheScope::Private);
        }
        Ok(result)
    }

    fn all(&self, revision: Revision) -> &[ListedTool] {
        match revision.export() {
            McpRevision::November2025 => &self.november,
            _ => &self.july,
        }
    }
}

fn position(all: &[ListedTool], name: &str) -> Option<usize> {
    all.binary_search_by(|one| one.tool.name.as_ref().cmp(name))
        .ok()
}

fn find<'l>(all: &'l [ListedTool], name: &str) -> Option<&'l ListedTool> {
    all.get(position(all, name)?)
}

fn tools(registry: &Registry, revision: McpRevision) -> Result<Vec<ListedTool>, ServeError> {
    let exported = registry.export(Dialect::Mcp(revision))?;
    let list = exported.as_array().map_or(&[][..], Vec::as_slice);
    // In the order of the registry, which is that of the bytes of their names.
    let tools = list.iter().zip(registry.tools());
    tools
        .map(|(exported, tool)| listed(exported, tool))
        .collect()
}

/// Where the contract stands in the `_meta` of an exported tool.
const CONTRACT: &str = "rs.docs.contract-runtime/contract";

/// Adds how often a person is asked, which no condition says of a tool that always asks.
fn add_approval(exported: &mut Value, tool: ToolInfo<'_>) {
    if tool.asks() {
        let often = if tool.confirms() {
            "always"
        } else {
            "sometimes"
        };
        exported["_meta"][CONTRACT]["approval"] = json!(often);
    }
}

fn listed(exported: &Value, tool: ToolInfo<'_>) -> Result<ListedTool, ServeError> {
    let (mut exported, asks_history) = (exported.clone(), tool.asks_history());
    add_approval(&mut exported, tool);
    if let Some(schema) = exported.get_mut("outputSchema")
        && let Value::Bool(anything) = *schema
    {
        // Older clients of the newer revision expect the form of an object.
        *schema = if anything {
            json!({})
        } else {
            json!({"not": {}})
        };
    }
    let in_headers = exported.get("inputSchema").is_some_and(annotated);
    let text = exported.get("outputSchema").is_some_and(admits_text);
    let name = exported.get("name").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    match serde_json::from_value(exported) {
        Ok(tool) => Ok(ListedTool {
            tool,
            in_headers,
            text,
            asks_history,
        }),
        Err(source) => Err(ServeError::Tool { name, source }),
    }
}

fn annotated(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.contains_key("x-mcp-header") || members.values().any(annotated)
        }
        Value::Array(items) => items.iter().any(annotated),
        _ => false,
    }
}

fn admits_text(schema: &Value) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|one| one == "string"),
        Some(one) => one == "string",
    }
}
