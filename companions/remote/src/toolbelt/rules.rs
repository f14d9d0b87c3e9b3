use std::sync::LazyLock;

use cel::{Context, IdedExpr, Value as Cel};
use serde_json::{Map, Value};

use super::cost::Cost;
use super::expression::{Read, read};
use super::walk;
use crate::contract::condition::ConditionKind;
use crate::contract::panics;
use crate::registry::{ConditionManifest, ToolManifest};

/// What a violation shows in the place of a secret.
const HIDDEN: &str = "***";

/// The functions of the language; it takes longer to gather them than to evaluate a rule.
static FUNCTIONS: LazyLock<Context<'static, 'static>> = LazyLock::new(Context::default);

/// The preconditions of one tool that can be judged here.
pub(crate) struct Rules {
    rules: Vec<Rule>,
    /// The arguments whose values are shown nowhere.
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
pub(crate) struct Broken<'r> {
    pub(crate) condition: &'r ConditionManifest,
    pub(crate) message: &'r str,
    /// The values at its paths, by the name of the argument; `"***"` for a secret one.
    pub(crate) values: Map<String, Value>,
}

impl Rules {
    /// Reads the rules of a tool; those that would take too long to judge are left to the executor.
    ///
    /// # Errors
    ///
    /// The id of the first condition whose rule is none of the profile.
    pub(crate) fn new(tool: &ToolManifest) -> Result<Self, String> {
        let conditions = tool.conditions.iter();
        let rules = conditions
            .filter(|condition| condition.kind == ConditionKind::Pre)
            .filter_map(|condition| Some((condition, condition.rule.as_ref()?)))
            .filter_map(|(condition, rule)| match read(&rule.rule) {
                Some(Read::Priced(expression, cost)) => Some(Ok(Rule {
                    expression,
                    cost,
                    condition: condition.clone(),
                    message: rule.message.clone(),
                    paths: rule.paths.clone(),
                })),
                Some(Read::LeftOut) => None,
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

    /// The first rule that these arguments break; one that cannot be evaluated decides nothing.
    pub(crate) fn broken(&self, arguments: &Map<String, Value>) -> Option<Broken<'_>> {
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
            let verdict = panics::guard(|| Cel::resolve(&rule.expression, &context));
            matches!(verdict, Ok(Ok(Cel::Bool(false))))
        })?;
        Some(Broken {
            condition: &broken.condition,
            message: &broken.message,
            values: self.shown(&broken.paths, arguments),
        })
    }

    fn shown(&self, paths: &[String], arguments: &Map<String, Value>) -> Map<String, Value> {
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
