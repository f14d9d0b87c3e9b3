//! The tools as `tools/list` returns them.

use contract_manifest::PortableRule;
use contract_runtime::{Dialect, McpRevision, Registry, ToolInfo};
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, Tool};
use serde_json::{Value, json};

use super::revision::Revision;
use crate::ServeError;

/// The tools as `tools/list` returns them, built once.
#[derive(Default)]
pub(super) struct List {
    november: Vec<ListedTool>,
    july: Vec<ListedTool>,
}

/// Which tools a client wants, and what it wants to know of them.
pub(super) struct Wanted {
    pub(super) revision: Revision,
    /// The most tools in one page.
    pub(super) page: usize,
    /// Whether its earlier calls are known.
    pub(super) remembered: bool,
    /// Whether it reads contracts as data.
    pub(super) contracts: bool,
    /// The tools that it may see.
    pub(super) visible: Registry,
}

#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
struct ListedTool {
    tool: Tool,
    /// Whether a client has to repeat some argument in a header, which is then compared.
    in_headers: bool,
    /// Whether a result may be a string, by its schema.
    text: bool,
    /// Whether a result is listed, and sent, as the one member of an object.
    wrapped: bool,
    /// Whether a condition depends on the earlier calls of a run.
    asks_history: bool,
}

/// What a tool promises about its results in `tools/list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// No structured result.
    Nothing,
    /// A structured result, which is a JSON value; it may be a string if `text`, and is sent inside an object if `wrapped`.
    Structured { text: bool, wrapped: bool },
}

impl List {
    pub(super) fn new(registry: &Registry) -> Result<Self, ServeError> {
        let november = registry.export(Dialect::Mcp(McpRevision::November2025));
        let july = registry.export(Dialect::Mcp(McpRevision::July2026));
        // In the order of the registry, which is that of the bytes of their names.
        let all = || registry.tools().zip(each(november)).zip(each(july));
        let november = all().map(|((tool, november), july)| {
            let (exported, wrapped) = wrap(november, july);
            listed(exported, wrapped, tool)
        });
        let july = all().map(|((tool, _), july)| listed(july.clone(), false, tool));
        Ok(Self {
            november: november.collect::<Result<_, _>>()?,
            july: july.collect::<Result<_, _>>()?,
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
    #[cfg(feature = "http")]
    pub(super) fn compares_headers(&self, name: &str) -> bool {
        find(&self.july, name).is_some_and(|listed| listed.in_headers)
    }

    pub(super) fn promise(&self, revision: Revision, name: &str) -> Promise {
        match find(self.all(revision), name) {
            Some(listed)
                if revision.has_structured_results() && listed.tool.output_schema.is_some() =>
            {
                Promise::Structured {
                    text: listed.text,
                    wrapped: listed.wrapped,
                }
            }
            _ => Promise::Nothing,
        }
    }

    /// The tools of one page; those that depend on earlier calls only where those are remembered.
    ///
    /// A cursor is the name of the last tool of the previous page, so it stays valid if the set changes between two starts.
    pub(super) fn page(
        &self,
        wanted: &Wanted,
        cursor: Option<&str>,
    ) -> Result<ListToolsResult, ErrorData> {
        let revision = wanted.revision;
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
        let mut offered = rest
            .iter()
            .filter(|one| wanted.remembered || !one.asks_history)
            .filter(|one| wanted.visible.tool(&one.tool.name).is_some());
        let page: Vec<&ListedTool> = offered.by_ref().take(wanted.page).collect();
        let tools = page.iter().map(|one| {
            let mut tool = one.tool.clone();
            revision.strip_tool(&mut tool);
            if !wanted.contracts {
                strip_contract(&mut tool);
            }
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
        if revision < Revision::July2026 {
            &self.november
        } else {
            &self.july
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

fn each(exported: &Value) -> impl Iterator<Item = &Value> {
    exported.as_array().into_iter().flatten()
}

/// The member of an object that a result is which is not one.
pub(super) const RESULT: &str = "result";

/// A tool of 2025-11-25, where results are objects: one that is not is listed as a member of one, and whether it is.
fn wrap(november: &Value, july: &Value) -> (Value, bool) {
    let mut exported = november.clone();
    let Some(schema) = july.get("outputSchema") else {
        return (exported, false);
    };
    if exported.get("outputSchema").is_some() {
        return (exported, false);
    }
    let mut schema = match schema {
        Value::Bool(true) => json!({}),
        other => other.clone(),
    };
    move_references(&mut schema);
    let mut wrapper = json!({"type": "object", "properties": {}, "required": [RESULT]});
    for shared in ["$schema", "$defs"] {
        if let Some(keyword) = schema.as_object_mut().and_then(|all| all.remove(shared)) {
            wrapper[shared] = keyword;
        }
    }
    wrapper["properties"][RESULT] = schema;
    exported["outputSchema"] = wrapper;
    (exported, true)
}

/// Lets references within a schema still point to what they did when it has become that of a member.
fn move_references(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && let Some(pointer) = reference.strip_prefix('#')
                && !pointer.starts_with("/$defs/")
                && (pointer.is_empty() || pointer.starts_with('/'))
            {
                *reference = format!("#/properties/{RESULT}{pointer}");
            }
            members.values_mut().for_each(move_references);
        }
        Value::Array(items) => items.iter_mut().for_each(move_references),
        _ => {}
    }
}

fn strip_contract(tool: &mut Tool) {
    if let Some(meta) = &mut tool.meta {
        meta.0.remove(CONTRACT);
        if meta.0.is_empty() {
            tool.meta = None;
        }
    }
}

/// Where the contract stands in the `_meta` of an exported tool.
pub(super) const CONTRACT: &str = "rs.docs.contract-runtime/contract";

/// Adds the rules for peers, and how often a person is asked, which no condition says of a tool that always asks.
fn add_to_contract(exported: &mut Value, tool: ToolInfo<'_>) {
    let contract = exported.get_mut("_meta");
    if let Some(contract) = contract.and_then(|meta| meta.get_mut(CONTRACT)) {
        let published = tool.conditions().iter();
        let published = published.filter(|one| one.policy().ends_the_call());
        let conditions = contract["conditions"].as_array_mut();
        for (condition, published) in conditions.into_iter().flatten().zip(published) {
            if let Some(rule) = PortableRule::of(published) {
                condition["rule"] =
                    json!({"rule": rule.rule, "message": rule.message, "paths": rule.paths});
            }
        }
        let conditions = contract["conditions"].take();
        *contract = json!({"rules": PortableRule::VERSION, "conditions": conditions});
    }
    if tool.asks() {
        let often = if tool.confirms() {
            "always"
        } else {
            "sometimes"
        };
        exported["_meta"][CONTRACT]["approval"] = json!(often);
    }
}

fn listed(
    mut exported: Value,
    wrapped: bool,
    tool: ToolInfo<'_>,
) -> Result<ListedTool, ServeError> {
    let asks_history = tool.asks_history();
    add_to_contract(&mut exported, tool);
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
    // Without a schema the result is text alone, which is exact.
    if tool.output_schema().is_some_and(is_beyond_64_bits)
        && let Some(exported) = exported.as_object_mut()
    {
        exported.remove("outputSchema");
    }
    let in_headers = exported.get("inputSchema").is_some_and(annotated);
    let result = match exported.get("outputSchema") {
        Some(object) if wrapped => object["properties"].get(RESULT),
        other => other,
    };
    let text = result.is_some_and(admits_text);
    let name = exported.get("name").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    match serde_json::from_value(exported) {
        Ok(tool) => Ok(ListedTool {
            tool,
            in_headers,
            text,
            wrapped,
            asks_history,
        }),
        Err(source) => Err(ServeError::Tool { name, source }),
    }
}

/// Whether a schema admits integers that structured content would round, as those of the 128-bit types.
fn is_beyond_64_bits(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let bound = |name: &str| members.get(name).and_then(Value::as_f64);
            let is_integer = match members.get("type") {
                Some(Value::Array(types)) => types.iter().any(|one| one == "integer"),
                one => one.is_some_and(|one| one == "integer"),
            };
            is_integer
                && (bound("maximum").is_some_and(|most| most > TWO_TO_64)
                    || bound("minimum").is_some_and(|least| least < -TWO_TO_63))
                || members.values().any(is_beyond_64_bits)
        }
        Value::Array(items) => items.iter().any(is_beyond_64_bits),
        _ => false,
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_schema_accepts_what_the_schema_accepted() {
        // A tree whose root is the whole schema, and one of a definition.
        let tree =
            json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]});
        let defined = json!({
            "type": "array",
            "items": {"$ref": "#/$defs/Tree"},
            "$defs": {"Tree": {"anyOf": [
                {"type": "integer"},
                {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            ]}},
        });
        for schema in [tree, defined] {
            let (exported, wrapped) = wrap(&json!({"name": "t"}), &json!({"outputSchema": schema}));
            assert!(wrapped);
            let judge = jsonschema::validator_for(&exported["outputSchema"]).unwrap();
            assert!(
                judge.is_valid(&json!({"result": [1, [2, []]]})),
                "{exported}"
            );
            assert!(
                !judge.is_valid(&json!({"result": [1, ["x"]]})),
                "{exported}"
            );
            assert!(!judge.is_valid(&json!([1])), "{exported}");
        }
        let object = json!({"outputSchema": {"type": "object"}});
        assert_eq!(wrap(&object, &object), (object.clone(), false));
        let nothing = json!({"name": "t"});
        assert_eq!(wrap(&nothing, &nothing), (nothing.clone(), false));
    }
}
