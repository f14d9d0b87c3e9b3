use std::sync::Arc;

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::calls::{Asked, Calls, Came};
use crate::contract::violation::{Blame, Detection, Location};
use crate::registry::ToolManifest;
use crate::remote::safeguards::Watch;
use crate::remote::toolbelt::Rules;
use crate::tool::call::{Call, Running, later};
use crate::tool::dynamic::read;
use crate::tool::dynamic_context::of_call;
use crate::tool::lookup::Need;
use crate::tool::reply::Ended;
use crate::tool::shim::Shim;
use crate::tool::{DynamicSpec, Tool};
use crate::{
    ArgumentProblem, InvalidArguments, Lowering, Policy, PolicyOrigin, ProblemKind, Violation,
};

/// A tool of an executor, as an entry for a registry on this side.
pub(super) fn tool(manifest: &ToolManifest, calls: Arc<Calls>, watch: Arc<Watch>) -> Tool {
    let mut spec = DynamicSpec::new(&manifest.name, description(manifest))
        .input_schema(manifest.input_schema.clone())
        .hints(manifest.hints);
    if let Some(title) = &manifest.title {
        spec = spec.title(title);
    }
    if let Some(output) = &manifest.output_schema {
        spec = spec.output_schema(output.clone());
    }
    let shim = Away {
        name: manifest.name.clone(),
        // What cannot be read was refused with the handshake.
        rules: Rules::new(manifest).ok(),
        calls,
        watch,
        // What changes nothing can be done twice.
        idempotent: [manifest.hints.idempotent, manifest.hints.read_only].contains(&Some(true)),
        needs: [of_call()],
    };
    Tool::by_hand(spec, Arc::new(shim))
}

/// The sentences of conditions that the schema does not say.
fn description(manifest: &ToolManifest) -> String {
    let told = manifest
        .conditions
        .iter()
        .filter(|one| one.lowering != Lowering::Exact);
    told.fold(manifest.description.clone(), |text, one| {
        text + "\n- " + &one.sentence
    })
}

struct Away {
    name: String,
    rules: Option<Rules>,
    calls: Arc<Calls>,
    watch: Arc<Watch>,
    idempotent: bool,
    /// Progress and deadline of the call.
    needs: [Need; 1],
}

impl Shim for Away {
    fn call<'c>(&'c self, call: Call<'c>) -> Running<'c> {
        later(async move {
            let request = call.asking(&self.needs)?;
            let mut frame = request.frame();
            let judged = read(request);
            let typed = match &judged {
                Ok(arguments) => Some(arguments.clone()),
                Err(Ended::Invalid(invalid)) => well_typed(invalid, request.text),
                Err(_) => None,
            };
            let broken = typed
                .as_ref()
                .zip(self.rules.as_ref())
                .and_then(|(arguments, rules)| rules.broken(arguments));
            if let Some(broken) = broken {
                let condition = broken.condition;
                frame.told(Violation {
                    contract: condition.id.clone(),
                    kind: condition.kind,
                    tool: self.name.clone(),
                    predicate: condition.predicate.clone(),
                    message: Some(broken.message.to_owned()),
                    location: Location {
                        file: String::new(),
                        line: 0,
                        column: 0,
                    },
                    policy: Policy::Enforce,
                    origin: PolicyOrigin::Process,
                    detection: Detection::PredicateFalse,
                    blame: Blame::Model,
                    values: broken.values,
                    call_id: None,
                    template: None,
                })?;
            }
            let arguments = judged?;
            frame.enter()?;
            let own = request.sources.as_ref().map(|sources| sources.own);
            let asked = Asked {
                call_id: own.map_or_else(String::new, |own| own.info.id.clone()),
                tool_name: self.name.clone(),
                parameters: arguments,
                idempotent: self.idempotent,
                until: own.and_then(|own| own.deadline.at()),
                progress: own.map(|own| own.progress.clone()).unwrap_or_default(),
            };
            let call_id = asked.call_id.clone();
            let ended = match self.calls.call(asked).await {
                Came::Reply(reply) => match reply.into_output() {
                    Err(Ended::Violation(violation)) => {
                        let told = violation.to_string();
                        frame.told(*violation)?;
                        // Under its policy it would not have ended the call there either.
                        Err(Ended::Failed(told))
                    }
                    ended => ended,
                },
                Came::InDoubt(why) => Err(Ended::Failed(format!(
                    "unknown outcome: {why}, and `{}` may or may not have run; look before you call it again",
                    self.name
                ))),
                Came::NotRun(why) => {
                    Err(Ended::Failed(format!("`{}` was not run: {why}", self.name)))
                }
            };
            if let Ok(output) = &ended {
                self.watch.answered(&call_id, &self.name, &output.text);
            }
            ended
        })
    }

    fn output(&self, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

/// The arguments, where only keywords refuse them: a rule says better what is wrong, and as the executor would.
fn well_typed(invalid: &InvalidArguments, text: &str) -> Option<Map<String, Value>> {
    let by_keyword = |problem: &ArgumentProblem| {
        matches!(
            problem.kind,
            ProblemKind::Range | ProblemKind::Length | ProblemKind::Value | ProblemKind::Pattern
        )
    };
    let all = invalid.problems().iter().all(by_keyword);
    all.then(|| serde_json::from_str(text).ok()).flatten()
}
