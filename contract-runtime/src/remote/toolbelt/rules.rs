use std::panic::{AssertUnwindSafe, catch_unwind};

use cel::{Context, Program, Value as Cel};
use serde_json::{Map, Value};

use crate::contract::condition::ConditionKind;
use crate::registry::{ConditionManifest, ToolManifest};

/// The preconditions of one tool that can be judged here.
pub(crate) struct Rules(Vec<Rule>);

struct Rule {
    program: Program,
    condition: ConditionManifest,
    message: String,
    paths: Vec<String>,
}

/// A rule that does not hold.
pub(crate) struct Broken<'r> {
    pub(crate) condition: &'r ConditionManifest,
    pub(crate) message: &'r str,
    /// The values at its paths, by the name of the argument.
    pub(crate) values: Map<String, Value>,
}

impl Rules {
    /// Reads the rules of a tool.
    ///
    /// # Errors
    ///
    /// The id of the first condition whose rule cannot be read.
    pub(crate) fn new(tool: &ToolManifest) -> Result<Self, String> {
        let conditions = tool.conditions.iter();
        let rules = conditions
            .filter(|condition| condition.kind == ConditionKind::Pre)
            .filter_map(|condition| Some((condition, condition.rule.as_ref()?)))
            .map(|(condition, rule)| {
                // The parser is generated code that was seen to panic on strange input.
                let program = catch_unwind(AssertUnwindSafe(|| Program::compile(&rule.rule)));
                match program {
                    Ok(Ok(program)) => Ok(Rule {
                        program,
                        condition: condition.clone(),
                        message: rule.message.clone(),
                        paths: rule.paths.clone(),
                    }),
                    _ => Err(condition.id.clone()),
                }
            });
        rules.collect::<Result<_, _>>().map(Self)
    }

    /// The first rule that these arguments break; one that cannot be evaluated decides nothing.
    pub(crate) fn broken(&self, arguments: &Map<String, Value>) -> Option<Broken<'_>> {
        let broken = self.0.iter().find(|rule| {
            let mut context = Context::default();
            let given = context.add_variable("args", arguments).is_ok();
            let verdict = catch_unwind(AssertUnwindSafe(|| rule.program.execute(&context)));
            given && matches!(verdict, Ok(Ok(Cel::Bool(false))))
        })?;
        let names = broken.paths.iter().filter_map(|path| {
            let name = path.strip_prefix('/')?.split('/').next()?;
            Some(name.replace("~1", "/").replace("~0", "~"))
        });
        let values = names
            .filter_map(|name| Some((name.clone(), arguments.get(&name)?.clone())))
            .collect();
        Some(Broken {
            condition: &broken.condition,
            message: &broken.message,
            values,
        })
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|rule| &rule.condition.id))
            .finish()
    }
}
