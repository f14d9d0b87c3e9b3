//! A tool in a registry, with its settings resolved.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

use super::asks::{self, AskChange};
use super::build_error::BuildProblem;
use crate::contract::approval::Asks;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::panics::{guard, ignore_poison};
use crate::contract::policy::{Policy, PolicyOrigin, Resolved};
use crate::contract::scope::Secrets;
use crate::contract::type_kind::TypeKind;
use crate::contract::violation::{Blame, Detection, MASK, Violation};
use crate::futures;
use crate::schema::InvalidArguments;
use crate::schema::arguments::{Bounds, examine};
use crate::schema::lower::sentence::requirement;
use crate::schema::lower::{Published, PublishedCondition, Subject, Subjects, lower, refuses};
use crate::schema::{
    ArgumentProblem, Constants, DescribedParameter, InputSchema, Parameter, ProblemKind,
    StoredSchema, TypeSchemas,
};
use crate::tool::Tool;
use crate::tool::call::{Call, Description, Running};
use crate::tool::context_params::Need;
use crate::tool::dynamic::{DynamicSchemas, Origin};
use crate::tool::forgiving::Decoding;
use crate::tool::slot::Inputs;
use crate::tool::spec::Constant;

/// A tool in a registry, with its settings resolved. What is rarely needed is computed at its first use and kept.
pub(crate) struct Entry {
    pub(crate) tool: Tool,
    pub(crate) inputs: Inputs,
    pub(super) output: Option<Arc<StoredSchema>>,
    /// The conditions of the tool, if an operator has changed which of them ask for approval.
    changed: Option<Box<[Condition]>>,
    pub(crate) asks: Arc<Asks>,
    /// The conditions as they are published: keywords, sentences and rules.
    lowered: OnceLock<Box<Lowered>>,
    /// The operator's override, or the author's setting.
    pub(crate) policy: Option<Resolved>,
    /// The policy outside of any run, as it was when the registry was built: what is published depends on it.
    pub(crate) outside: Resolved,
    pub(crate) timeout: Option<Duration>,
    pub(crate) needs: Box<[Need]>,
    pub(crate) secrets: Secrets,
    /// Calls may run side by side.
    pub(crate) read_only: bool,
}

struct Lowered {
    /// The schema of the arguments as it is published, where conditions change it.
    narrowed: Option<Value>,
    conditions: Vec<PublishedCondition>,
}

/// The settings of an operator for all tools.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) coerce: bool,
    pub(super) ignore_unknown_keys: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) policy: Option<Policy>,
    /// The policies that replace those of the authors, by tool.
    pub(super) overrides: BTreeMap<String, Policy>,
    pub(super) asks: Vec<AskChange>,
}

impl Entry {
    /// Returns arguments for a log, with a mask in the place of what is secret or may be, because it has no name that the tool knows.
    pub(super) fn masked(&self, arguments: &str) -> Value {
        // A call without arguments may be an empty text.
        if arguments.trim().is_empty() {
            return json!({});
        }
        let Value::Object(mut sent) = self.secrets.masked(arguments) else {
            return MASK.into();
        };
        let properties = &self.inputs.schema.json()["properties"];
        for (name, value) in &mut sent {
            if properties.get(name).is_none() {
                *value = MASK.into();
            }
        }
        sent.into()
    }

    pub(super) fn new(
        tool: Tool,
        settings: &Settings,
        types: &mut TypeSchemas,
        problems: &mut Vec<BuildProblem>,
    ) -> Option<Self> {
        if tool.misplaced {
            let (tool, location) = tool.place();
            problems.push(BuildProblem::Misplaced { tool, location });
        }
        let mut description = describe(&tool, problems)?;
        let needs = std::mem::take(&mut description.needs).into_boxed_slice();
        let schemas = schemas(&tool, description, types, problems)?;
        let mut schema = match schemas.input {
            Ok(schema) => schema,
            Err(source) => {
                let (tool, location) = tool.place();
                problems.push(BuildProblem::Schema {
                    tool,
                    location,
                    source,
                });
                return None;
            }
        };
        judge_constants(&tool, &schema, problems);
        schema.ignore_unknown_keys(settings.ignore_unknown_keys);
        let set = |policy, origin| Resolved { policy, origin };
        let overruled = settings.overrides.get(&*tool.name);
        let overruled = overruled.map(|policy| set(*policy, PolicyOrigin::Override));
        let own = || Some(set(tool.stated().policy?, PolicyOrigin::Tool));
        let policy = overruled.or_else(own);
        let registry = || Some(set(settings.policy?, PolicyOrigin::Registry));
        let outside = policy.or_else(registry).unwrap_or_else(Resolved::process);
        let (changed, asks) = asks::resolve(&tool, settings, problems);
        let secrets = match tool.spec() {
            Some(spec) => Secrets::Declared(spec.contract.secrets),
            None => Secrets::said(schema.secrets()),
        };
        let timeout = tool.timeout.or(settings.timeout);
        let stated = match &tool.origin {
            Origin::Generated(_) => None,
            Origin::Dynamic { stated, .. } => Some(Arc::clone(stated)),
        };
        Some(Self {
            inputs: Inputs {
                schema,
                coerce: tool.coerce || settings.coerce,
                stated,
            },
            output: schemas.output,
            changed,
            asks,
            lowered: OnceLock::new(),
            policy,
            outside,
            timeout,
            needs,
            secrets,
            read_only: tool.hints.read_only == Some(true),
            tool,
        })
    }
}

impl Entry {
    /// Returns the conditions of the tool, with the operator's changes of which of them ask for approval.
    pub(super) fn conditions(&self) -> &[Condition] {
        self.changed.as_deref().unwrap_or(self.tool.conditions())
    }

    /// Whether every call that breaks this condition is refused.
    pub(super) fn refuses(&self, condition: &Condition) -> bool {
        refuses(self.outside, condition)
    }

    /// The conditions as they are published: keywords, sentences and rules.
    pub(crate) fn published(&self) -> &[PublishedCondition] {
        self.lowered().map_or(&[], |lowered| &lowered.conditions)
    }

    /// The schema of the arguments as it is published, where conditions change it.
    pub(super) fn narrowed(&self) -> Option<&Value> {
        self.lowered()?.narrowed.as_ref()
    }

    fn lowered(&self) -> Option<&Lowered> {
        let lower = || {
            let published = self.lower(self.conditions());
            Box::new(Lowered {
                narrowed: published.is_narrowed.then_some(published.input),
                conditions: published.conditions,
            })
        };
        let any = !self.conditions().is_empty();
        any.then(|| &**self.lowered.get_or_init(lower))
    }

    /// The schema of the arguments as it is published, conditions included.
    pub(crate) fn input(&self) -> &Value {
        self.narrowed().unwrap_or_else(|| self.inputs.schema.json())
    }

    /// Returns the published schema of the arguments with one condition only.
    pub(super) fn input_with(&self, condition: &Condition) -> Value {
        self.lower(std::slice::from_ref(condition)).input
    }

    fn lower(&self, conditions: &[Condition]) -> Published {
        let subjects = Arc::new(Subjects {
            all: subjects(&self.tool, &self.inputs.schema),
            input: self.inputs.schema.as_stored().clone(),
        });
        lower(
            self.tool.contract_name(),
            self.outside,
            conditions,
            &subjects,
        )
    }

    pub(super) fn described(&self) -> Cow<'_, str> {
        let text = &self.tool.description;
        if !self.tool.alone {
            return Cow::Borrowed(text);
        }
        Cow::Owned(format!(
            "{}\n\nCall it by itself: it is refused beside other calls of the same turn.",
            text.trim_end()
        ))
    }

    /// Adds what the condition demands, in words, to a violation that has no message.
    pub(super) fn name_demand(&self, violation: &mut Violation) {
        let is_refusal = violation.kind == ConditionKind::Pre && violation.blame == Blame::Model;
        let is_said =
            violation.message.is_some() && violation.detection == Detection::PredicateFalse;
        if is_said || !is_refusal {
            return;
        }
        let mut published = self.published().iter();
        if let Some(published) = published.find(|one| one.id() == violation.contract) {
            let subjects = subjects(&self.tool, &self.inputs.schema);
            violation.demand = Some(requirement(published.condition(), &subjects));
        }
    }

    /// Puts the published bounds into a refusal, which knows those of the types.
    pub(super) fn name_bounds(&self, invalid: &mut InvalidArguments) {
        if let Some(bounds) = self.narrowed().and_then(Bounds::new) {
            bounds.name(&self.inputs.schema, invalid);
        }
    }
}

/// Asks a tool for its parameters, through the same generated function that reads them.
fn describe(tool: &Tool, problems: &mut Vec<BuildProblem>) -> Option<Description> {
    let into = Mutex::new(Description::default());
    let asked = guard(|| {
        let call = Call::describe(&into);
        if let Running::Later(mut future) = tool.shim.call(call) {
            // The future ends at its first poll: a description is asked for, and the body does not run.
            let _ = futures::now_or_never(future.as_mut());
        }
    });
    if asked.is_err() {
        let (tool, location) = tool.place();
        problems.push(BuildProblem::Undescribed { tool, location });
        return None;
    }
    Some(ignore_poison(into.into_inner()))
}

fn subjects(tool: &Tool, schema: &InputSchema) -> Vec<Subject> {
    let kind = |name: &str| {
        let known = tool.parameters().iter().find(|one| one.name == name);
        known.map_or(TypeKind::Opaque, |one| one.kind)
    };
    let parameters = schema.parameters().iter();
    parameters
        .map(|parameter| Subject {
            name: parameter.name.clone().into_owned(),
            kind: kind(&parameter.name),
            required: parameter.required,
            default: parameter.default().cloned(),
        })
        .collect()
}

/// A default and an example must be what a call could send.
fn judge_constants(tool: &Tool, schema: &InputSchema, problems: &mut Vec<BuildProblem>) {
    for parameter in schema.parameters() {
        let defaults = parameter.default().map(|value| ("default", value));
        let examples = parameter.examples().iter();
        let examples = examples.map(|value| ("example", value));
        for (what, value) in defaults.into_iter().chain(examples) {
            let text = json!({ &*parameter.name: value }).to_string();
            let Err(invalid) = examine(&text, schema, false) else {
                continue;
            };
            // The other arguments are missing; problems about those are not problems of this one.
            let own = |problem: &ArgumentProblem| {
                let mut steps = problem.pointer.split('/');
                steps.nth(1) == Some(&*parameter.name)
            };
            let refusals = invalid
                .problems()
                .iter()
                .filter(|problem| own(problem) && problem.kind != ProblemKind::Missing);
            problems.extend(refusals.map(|problem| BuildProblem::Refused {
                what,
                tool: tool.name.to_string(),
                problem: problem.clone(),
                location: tool.location.to_string(),
            }));
        }
    }
}

fn schemas(
    tool: &Tool,
    description: Description,
    types: &mut TypeSchemas,
    problems: &mut Vec<BuildProblem>,
) -> Option<DynamicSchemas> {
    if let Origin::Dynamic { schemas, .. } = &tool.origin {
        return Some(DynamicSchemas::clone(schemas));
    }
    let before = problems.len();
    let parameters = parameters(tool, description, problems);
    let described = guard(|| DynamicSchemas {
        input: types.input(parameters),
        output: tool.shim.output().and_then(|result| types.result(result)),
    });
    if described.is_err() {
        let (tool, location) = tool.place();
        problems.push(BuildProblem::Undescribed { tool, location });
    }
    described.ok().filter(|_| problems.len() == before)
}

/// The parameters of a tool that a macro made, without those of its constants that cannot be written.
fn parameters(
    tool: &Tool,
    description: Description,
    problems: &mut Vec<BuildProblem>,
) -> Vec<DescribedParameter> {
    let mut constant = |what, parameter: &str, constant: &Constant| {
        let value = constant.json();
        if value.is_none() {
            problems.push(BuildProblem::Constant {
                what,
                tool: tool.name.to_string(),
                parameter: parameter.to_owned(),
                location: tool.location.to_string(),
            });
        }
        value
    };
    let described = tool.parameters().iter().zip(description.parameters);
    let parameters = described.map(|(parameter, of_type)| {
        let default = parameter.default.as_ref();
        let default = default.and_then(|default| constant("default", parameter.name, default));
        let examples = parameter.examples.iter();
        let examples = examples.filter_map(|example| constant("example", parameter.name, example));
        DescribedParameter {
            parameter: Parameter {
                name: Cow::Borrowed(parameter.name),
                required: !of_type.optional && parameter.default.is_none(),
                secret: parameter.secret,
                // If its schema is.
                is_exact: of_type.decoding != Decoding::Forgiving,
                unreadable_keys: of_type.decoding == Decoding::UnreadableKeys,
                constants: Constants::boxed(default, examples.collect()),
            },
            description: parameter.description,
            describe: of_type.describe,
        }
    });
    parameters.collect()
}
