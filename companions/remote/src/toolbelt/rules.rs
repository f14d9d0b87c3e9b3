//! Evaluates the portable rules of a tool's preconditions.

use std::sync::LazyLock;

use cel::{Context, IdedExpr, Value as Cel};
use contract_manifest::{ConditionManifest, ToolManifest};
use contract_runtime::__family::guard;
use contract_runtime::ConditionKind;
use serde_json::{Map, Value};

use super::cost::Cost;
use super::expression::{ParsedRule, parse_rule};
use super::walk;

/// The replacement for a secret in a violation.
const HIDDEN: &str = "***";

/// The functions of the language; it takes longer to gather them than to evaluate a rule.
static FUNCTIONS: LazyLock<Context<'static, 'static>> = LazyLock::new(Context::default);

/// The preconditions of one tool that the backend can evaluate.
pub(crate) struct Rules {
    rules: Vec<Rule>,
    /// The arguments whose values must not be revealed.
    secrets: Vec<String>,
}

struct Rule {
    expression: IdedExpr,
    cost: Cost,
    condition: ConditionManifest,
    message: String,
    paths: Vec<String>,
}

/// A rule that does not hold.
pub(crate) struct BrokenRule<'r> {
    pub(crate) condition: &'r ConditionManifest,
    pub(crate) message: &'r str,
    /// The values at its paths, by the name of the argument; `"***"` for a secret one.
    pub(crate) values: Map<String, Value>,
}

impl Rules {
    /// Parses the rules of a tool; those that would take too long to evaluate are left to the executor.
    ///
    /// # Errors
    ///
    /// The id of the first condition whose rule is outside the portable profile.
    pub(crate) fn new(tool: &ToolManifest) -> Result<Self, String> {
        let conditions = tool.conditions.iter();
        let rules = conditions
            .filter(|condition| condition.kind == ConditionKind::Pre)
            .filter_map(|condition| Some((condition, condition.rule.as_ref()?)))
            .filter_map(|(condition, rule)| match parse_rule(&rule.rule) {
                // A condition that does not end the call on the executor does not end it here.
                Some(_) if !condition.policy.ends_the_call() => None,
                Some(ParsedRule::Evaluable(expression, cost)) => Some(Ok(Rule {
                    expression,
                    cost,
                    condition: condition.clone(),
                    message: rule.message.clone(),
                    paths: rule.paths.clone(),
                })),
                Some(ParsedRule::TooExpensive) => None,
                None => Some(Err(condition.id.clone())),
            });
        let properties = tool.input_schema.get("properties");
        let secret = |property: &Value| property.get("writeOnly") == Some(&Value::Bool(true));
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
            secrets: properties
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .filter(|(_, property)| secret(property))
                .map(|(name, _)| name.clone())
                .collect(),
        })
    }

    /// Returns the first rule that the arguments break; a rule that cannot be evaluated is ignored.
    pub(crate) fn first_broken(&self, arguments: &Map<String, Value>) -> Option<BrokenRule<'_>> {
        if self.rules.is_empty() {
            return None;
        }
        let size = arguments
            .iter()
            .map(|(name, value)| name.len() + walk::size(value))
            .sum();
        let mut affordable = self
            .rules
            .iter()
            .filter(|rule| rule.cost.is_affordable(size))
            .peekable();
        affordable.peek()?;
        let mut context = FUNCTIONS.new_inner_scope();
        context.add_variable("args", arguments).ok()?;
        let broken = affordable.find(|rule| {
            let verdict = guard(|| Cel::resolve(&rule.expression, &context));
            matches!(verdict, Ok(Ok(Cel::Bool(false))))
        })?;
        Some(BrokenRule {
            condition: &broken.condition,
            message: &broken.message,
            values: self.values_at(&broken.paths, arguments),
        })
    }

    fn values_at(&self, paths: &[String], arguments: &Map<String, Value>) -> Map<String, Value> {
        let names = paths.iter().filter_map(|path| {
            let name = path.strip_prefix('/')?.split('/').next()?;
            Some(name.replace("~1", "/").replace("~0", "~"))
        });
        let shown = names.filter_map(|name| {
            let value = match arguments.get(&name)? {
                _ if self.secrets.contains(&name) => HIDDEN.into(),
                value => value.clone(),
            };
            Some((name, value))
        });
        shown.collect()
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.rules.iter().map(|rule| &rule.condition.id))
            .finish()
    }
}
