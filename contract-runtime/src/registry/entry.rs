//! A tool in a registry, with its settings resolved.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::asks::{self, AskChange};
use super::build_error::BuildProblem;
use crate::contract::approval::Asks;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::panics::{guard, ignore_poison};
use crate::contract::policy::{Policy, PolicyOrigin, Resolved};
use crate::contract::scope::Secrets;
use crate::contract::type_kind::TypeKind;
use crate::contract::violation::{Blame, Detection, Violation};
use crate::futures;
use crate::schema::arguments::{Bounds, examine};
use crate::schema::lower::sentence::requirement;
use crate::schema::lower::{Published, PublishedCondition, Subject, lower};
use crate::schema::{ArgumentProblem, InvalidArguments, ProblemKind};
use crate::schema::{InputSchema, ParameterSchema, correct_output};
use crate::tool::Tool;
use crate::tool::call::{Call, Description, Running};
use crate::tool::context_params::Need;
use crate::tool::dynamic::Origin;
use crate::tool::inputs::Inputs;
use crate::tool::spec::Constant;

/// A tool in a registry, with everything decided that can be decided before a call.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tool: Tool,
    pub(crate) inputs: Inputs,
    pub(crate) output: Option<Value>,
    /// The schema of the arguments as it is published, where conditions change it.
    narrowed: Option<Value>,
    /// Which of them ask.
    pub(crate) asks: Arc<Asks>,
    /// Its conditions as everybody but the program sees them.
    pub(crate) conditions: Vec<PublishedCondition>,
    /// The operator's override, or the author's setting.
    pub(crate) policy: Option<Resolved>,
    /// The policy outside of any run, as it was when the registry was built: what is published depends on it.
    pub(crate) outside: Resolved,
    pub(crate) timeout: Option<Duration>,
    pub(crate) needs: Vec<Need>,
    pub(crate) secrets: Secrets,
    /// What a model is told instead of the author's description.
    pub(crate) described: Option<String>,
    /// Calls may run side by side.
    pub(crate) read_only: bool,
    /// A call needs nothing but its arguments, and takes as long as it takes.
    pub(crate) is_straight: bool,
    /// The published schema as refusals name it, read when the first needs it.
    bounds: OnceLock<Option<Bounds>>,
}

pub(super) struct Settings {
    pub(super) coerce: bool,
    pub(super) timeout: Option<Duration>,
    /// The registry's own.
    pub(super) policy: Option<Policy>,
    /// What the operator says of asking.
    pub(super) asks: Vec<AskChange>,
}

impl Entry {
    pub(super) fn new(
        mut tool: Tool,
        overruled: Option<Policy>,
        settings: &Settings,
        problems: &mut Vec<BuildProblem>,
    ) -> Option<Self> {
        if tool.misplaced {
            problems.push(BuildProblem::Misplaced {
                tool: tool.name.clone(),
                location: tool.location.clone(),
            });
        }
        let description = describe(&tool, problems)?;
        let needs = description.needs.clone();
        let (inputs, output) = schemas(&mut tool, description, problems)?;
        let inputs = match inputs {
            Ok(schema) => {
                judge_constants(&tool, &schema, problems);
                let inputs = Inputs::new(schema, tool.coerce || settings.coerce);
                match &tool.origin {
                    Origin::Generated(_) => inputs,
                    Origin::Dynamic { stated, .. } => inputs.stating(stated.clone()),
                }
            }
            Err(source) => {
                problems.push(BuildProblem::Schema {
                    tool: tool.name.clone(),
                    location: tool.location.clone(),
                    source,
                });
                return None;
            }
        };
        let set = |policy, origin| Resolved { policy, origin };
        let overruled = overruled.map(|policy| set(policy, PolicyOrigin::Override));
        let own = || Some(set(tool.own_policy()?, PolicyOrigin::Tool));
        let policy = overruled.or_else(own);
        let registry = || Some(set(settings.policy?, PolicyOrigin::Registry));
        let outside = policy.or_else(registry).unwrap_or_else(Resolved::process);
        let (conditions, asks) = asks::resolve(&tool, &settings.asks, problems);
        let (narrowed, conditions) = if conditions.is_empty() {
            (None, Vec::new())
        } else {
            let published = published(&tool, &inputs.schema, &conditions, outside);
            let is_narrowed = published.input != *inputs.schema.json();
            (is_narrowed.then_some(published.input), published.conditions)
        };
        let secrets = match tool.spec() {
            Some(spec) => Secrets::Declared(spec.contract.secrets),
            None => Secrets::said(inputs.schema.secrets()),
        };
        let timeout = tool.timeout.or(settings.timeout);
        Some(Self {
            secrets,
            inputs,
            output,
            narrowed,
            conditions,
            asks: Arc::new(asks),
            policy,
            outside,
            timeout,
            is_straight: timeout.is_none() && needs.is_empty(),
            needs,
            described: tool.alone.then(|| alone(&tool.description)),
            read_only: tool.hints.read_only == Some(true),
            bounds: OnceLock::new(),
            tool,
        })
    }
}

impl Entry {
    /// The schema of the arguments as it is published, conditions included.
    pub(crate) fn input(&self) -> &Value {
        self.narrowed.as_ref().unwrap_or(self.inputs.schema.json())
    }

    /// The tool as it was before its schemas were taken out of it, for another registry.
    pub(super) fn whole_tool(&self) -> Tool {
        let mut tool = self.tool.clone();
        if let Origin::Dynamic { input, output, .. } = &mut tool.origin {
            input.clone_from(self.inputs.schema.json());
            output.clone_from(&self.output);
        }
        tool
    }

    /// Says of a violation without a sentence what its condition demands, in words that a model can read.
    #[cold]
    pub(super) fn name_demand(&self, violation: &mut Violation) {
        let is_refusal = violation.kind == ConditionKind::Pre && violation.blame == Blame::Model;
        let is_said =
            violation.message.is_some() && violation.detection == Detection::PredicateFalse;
        if is_said || !is_refusal {
            return;
        }
        let published = self.conditions.iter();
        let condition = published
            .map(|one| (one.id(), one.condition()))
            .find(|(id, _)| *id == violation.contract);
        if let Some((_, condition)) = condition {
            let subjects = subjects(&self.tool, &self.inputs.schema);
            violation.demand = Some(requirement(condition, &subjects));
        }
    }

    /// Puts the published bounds into a refusal, which knows those of the types.
    #[cold]
    pub(super) fn name_bounds(&self, invalid: &mut InvalidArguments) {
        let Some(narrowed) = &self.narrowed else {
            return;
        };
        let bounds = self.bounds.get_or_init(|| Bounds::new(narrowed));
        if let Some(bounds) = bounds {
            bounds.name(&self.inputs.schema, invalid);
        }
    }
}

/// The description of a tool whose calls are refused beside others.
fn alone(author: &str) -> String {
    let author = author.trim_end();
    format!("{author}\n\nCall it by itself: it is refused beside other calls of the same turn.")
}

/// Asks a tool for its parameters, through the same generated function that reads them.
fn describe(tool: &Tool, problems: &mut Vec<BuildProblem>) -> Option<Description> {
    let into = Mutex::new(Description {
        generator: SchemaSettings::draft2020_12().into_generator(),
        ..Description::default()
    });
    let asked = guard(|| {
        let call = Call::describe(&into);
        if let Running::Later(mut future) = tool.shim.call(call) {
            // It ends at its first poll, before the body.
            let _ = futures::now_or_never(future.as_mut());
        }
    });
    if asked.is_err() {
        problems.push(BuildProblem::Undescribed {
            tool: tool.name.clone(),
            location: tool.location.clone(),
        });
        return None;
    }
    Some(ignore_poison(into.into_inner()))
}

/// What is shown of these conditions of a tool.
pub(crate) fn published(
    tool: &Tool,
    schema: &InputSchema,
    conditions: &[Condition],
    outside: Resolved,
) -> Published {
    let subjects = subjects(tool, schema);
    let name = tool.contract_name();
    lower(name, outside, conditions, &subjects, schema.json())
}

fn subjects(tool: &Tool, schema: &InputSchema) -> Vec<Subject> {
    let kind = |name: &str| {
        let known = tool.parameters().iter().find(|one| one.name == name);
        known.map_or(TypeKind::Opaque, |one| one.kind)
    };
    schema
        .parameters()
        .map(|parameter| Subject {
            name: parameter.name.clone(),
            kind: kind(&parameter.name),
            schema: parameter.schema.clone(),
            required: parameter.required,
            default: parameter.default.clone(),
        })
        .collect()
}

/// A default and an example must be what a call could send.
fn judge_constants(tool: &Tool, schema: &InputSchema, problems: &mut Vec<BuildProblem>) {
    for parameter in schema.parameters() {
        let defaults = parameter.default.iter().map(|value| ("default", value));
        let examples = parameter.examples.iter().map(|value| ("example", value));
        for (what, value) in defaults.chain(examples) {
            let text = json!({ &*parameter.name: value }).to_string();
            let Err(invalid) = examine(&text, schema, false) else {
                continue;
            };
            // The other arguments are missing, which says nothing of this one.
            let own = |problem: &ArgumentProblem| {
                let mut steps = problem.pointer.split('/');
                steps.nth(1) == Some(parameter.name.as_str())
            };
            let refusals = invalid
                .problems()
                .iter()
                .filter(|problem| own(problem) && problem.kind != ProblemKind::Missing);
            problems.extend(refusals.map(|problem| BuildProblem::Refused {
                what,
                tool: tool.name.clone(),
                problem: problem.clone(),
                location: tool.location.clone(),
            }));
        }
    }
}

type Schemas = (
    Result<InputSchema, crate::schema::SchemaError>,
    Option<Value>,
);

/// The schemas of a tool; those that its author wrote are taken out of it.
fn schemas(
    tool: &mut Tool,
    mut description: Description,
    problems: &mut Vec<BuildProblem>,
) -> Option<Schemas> {
    if let Origin::Dynamic { input, output, .. } = &mut tool.origin {
        return Some((InputSchema::from_object(input.take()), output.take()));
    }
    let tool = &*tool;
    let before = problems.len();
    let mut constant = |what, parameter: &str, constant: &Constant| {
        let value = constant.json();
        if value.is_none() {
            problems.push(BuildProblem::Constant {
                what,
                tool: tool.name.clone(),
                parameter: parameter.to_owned(),
                location: tool.location.clone(),
            });
        }
        value
    };
    let parameters = tool
        .parameters()
        .iter()
        .zip(description.parameters)
        .map(|(parameter, (schema, optional))| ParameterSchema {
            name: parameter.name.to_owned(),
            description: Some(parameter.description)
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            schema: schema.to_value(),
            required: !optional && parameter.default.is_none(),
            default: parameter
                .default
                .as_ref()
                .and_then(|default| constant("default", parameter.name, default)),
            examples: parameter
                .examples
                .iter()
                .filter_map(|example| constant("example", parameter.name, example))
                .collect(),
            secret: parameter.secret,
        })
        .collect();
    let input = InputSchema::new(parameters, description.generator.take_definitions(true));
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let output = guard(|| tool.shim.output(&mut generator)).unwrap_or_else(|_| {
        problems.push(BuildProblem::Undescribed {
            tool: tool.name.clone(),
            location: tool.location.clone(),
        });
        None
    });
    let output = output
        .map(|schema| correct_output(schema.to_value(), generator.take_definitions(true)))
        // `()` is given as nothing at all.
        .filter(|schema| schema.get("type").and_then(Value::as_str) != Some("null"));
    (problems.len() == before).then_some((input, output))
}
