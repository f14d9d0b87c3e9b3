//! One tool under verification, prepared once.

use contract_runtime::__family::TriedTool;
use contract_runtime::{Context, Outcome, Policy, Registry, Run, ToolCall, ToolInfo, Violation};
use jsonschema::Validator;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::json::write_rust;

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

/// A judge that nobody here wrote.
pub(super) fn validator(schema: &Value) -> Result<Validator, String> {
    let validator = jsonschema::draft202012::options().build(schema);
    validator.map_err(|error| error.to_string())
}
