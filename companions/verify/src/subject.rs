//! One tool under verification, prepared once.

use std::fmt::Write as _;

use contract_runtime::__family::TriedTool;
use contract_runtime::{Context, Outcome, Policy, Registry, Run, ToolCall, ToolInfo, Violation};
use jsonschema::Validator;
use serde_json::Value;
use tokio::runtime::Runtime;

/// One tool under trial.
pub(super) struct Subject<'r> {
    pub(super) registry: &'r Registry,
    pub(super) info: ToolInfo<'r>,
    pub(super) tried: TriedTool<'r>,
    pub(super) runtime: &'r Runtime,
    /// Judges results, where the tool says what they are.
    pub(super) output: Option<Validator>,
}

impl<'r> Subject<'r> {
    /// The tool of that name, if the registry has it.
    pub(super) fn new(registry: &'r Registry, name: &str, runtime: &'r Runtime) -> Option<Self> {
        let info = registry.tool(name)?;
        Some(Self {
            registry,
            info,
            tried: TriedTool::new(registry, name)?,
            runtime,
            output: info
                .output_schema()
                .and_then(|schema| validator(schema).ok()),
        })
    }

    /// The name by which a model calls it.
    pub(super) fn name(&self) -> &'r str {
        self.info.name()
    }

    /// Everything up to the body, under one policy for every condition.
    pub(super) fn check(&self, input: &Value, policy: Policy) -> Outcome {
        self.check_text(input.to_string(), policy)
    }

    /// [`check`](Self::check) of arguments as they would travel.
    pub(super) fn check_text(&self, arguments: String, policy: Policy) -> Outcome {
        let call = ToolCall::new("", self.name(), arguments);
        let context = Context::new().run(&Run::new());
        let check = self.registry.check(call).context(context).under(policy);
        self.runtime.block_on(check)
    }

    /// Whether a call with these arguments would reach the body.
    pub(super) fn accepts(&self, input: &Value) -> bool {
        self.check(input, Policy::Enforce).is_ok()
    }

    /// What refuses a call, and its words, apart from conditions over earlier calls, which no single call fulfils.
    pub(super) fn refusal(&self, input: &Value) -> Option<(Option<String>, String)> {
        let outcome = self.check(input, Policy::Enforce);
        let asks = |violation: &Violation| {
            let mut conditions = self.info.conditions().iter();
            conditions.any(|one| one.id() == violation.contract && one.condition().asks_history())
        };
        let said = |outcome: &Outcome| {
            let clause = outcome.violation().map(|one| one.contract.clone());
            (clause, outcome.error().unwrap_or_default().to_owned())
        };
        if !outcome.violation().is_some_and(asks) {
            return (!outcome.is_ok()).then(|| said(&outcome));
        }
        let observed = self.check(input, Policy::Observe);
        if !observed.is_ok() {
            return Some(said(&observed));
        }
        let other = observed.observed().iter().find(|one| !asks(one));
        other.map(|one| (Some(one.contract.clone()), one.to_string()))
    }

    /// The call, ready to be pasted into a test.
    pub(super) fn line(&self, input: &Value) -> String {
        let mut line = format!("registry.call((\"\", {:?}, json!(", self.name());
        write_rust(input, &|_| None, &mut line);
        line + "))).await"
    }
}

/// Writes a value as the macro `json!` takes it: its texts are Rust literals, and so are its numbers. Where there is an expression for
/// a place, which is a JSON pointer, that is written.
pub(super) fn write_rust(
    value: &Value,
    instead: &dyn Fn(&str) -> Option<String>,
    out: &mut String,
) {
    write_at("", value, instead, out);
}

fn write_at(at: &str, value: &Value, instead: &dyn Fn(&str) -> Option<String>, out: &mut String) {
    if let Some(expression) = instead(at) {
        out.push_str(&expression);
        return;
    }
    match value {
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
        Value::Number(number) => {
            out.push_str(&number.to_string());
            // Without a suffix a literal is an `i32`.
            match (number.as_i64(), number.as_u64()) {
                (Some(small), _) if i32::try_from(small).is_ok() => {}
                (Some(_), _) => out.push_str("_i64"),
                (None, Some(_)) => out.push_str("_u64"),
                (None, None) => {}
            }
        }
        Value::String(text) => drop(write!(out, "{text:?}")),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                write_at(&format!("{at}/{place}"), item, instead, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (place, (name, member)) in members.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                let _ = write!(out, "{name:?}: ");
                write_at(&below(at, name), member, instead, out);
            }
            out.push('}');
        }
    }
}

/// The JSON pointer of a member (RFC 6901).
pub(super) fn below(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A judge that nobody here wrote.
pub(super) fn validator(schema: &Value) -> Result<Validator, String> {
    let validator = jsonschema::draft202012::options().build(schema);
    validator.map_err(|error| error.to_string())
}
