use std::sync::Arc;

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::pending::{Came, Pending};
use crate::contract::violation::{Blame, Detection, Location};
use crate::registry::ToolManifest;
use crate::remote::protocol::{ToolReply, Verdict};
use crate::remote::toolbelt::Rules;
use crate::tool::call::{Call, Running, later};
use crate::tool::dynamic::read;
use crate::tool::dynamic_context::of_call;
use crate::tool::lookup::Need;
use crate::tool::reply::{Ended, Output};
use crate::tool::shim::Shim;
use crate::tool::{DynamicSpec, Tool};
use crate::{
    ArgumentProblem, InvalidArguments, Lowering, Policy, PolicyOrigin, ProblemKind, Violation,
};

/// A tool of an executor, as an entry for a registry on this side.
pub(super) fn tool(manifest: &ToolManifest, pending: Arc<Pending>) -> Tool {
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
        pending,
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
    pending: Arc<Pending>,
    /// Progress and deadline of the call.
    needs: [Need; 1],
}

impl Shim for Away {
    fn call<'c>(&'c self, call: Call<'c>) -> Running<'c> {
        later(async move {
            let request = call.asking(&self.needs)?;
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
                return Err(Ended::Violation(Box::new(Violation {
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
                })));
            }
            let arguments = judged?;
            request.frame().enter()?;
            let own = request.sources.as_ref().map(|sources| sources.own);
            let left = own.and_then(|own| own.deadline.remaining());
            let call = self.pending.call(
                self.name.clone(),
                Value::Object(arguments),
                left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
                own.map(|own| own.progress.clone()).unwrap_or_default(),
            );
            let came = call.await;
            match came {
                Came::Reply(reply) => answered(*reply),
                Came::Unknown => Err(Ended::Failed(format!(
                    "unknown outcome: the connection to the executor broke, and `{}` may or may not have run",
                    self.name
                ))),
            }
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

fn answered(reply: ToolReply) -> Result<Output, Ended> {
    if reply.status == Verdict::Success {
        return Ok(Output {
            text: reply.result.unwrap_or_default(),
            is_json: reply.is_json,
            artifacts: None,
        });
    }
    let violation = reply.violation.map(serde_json::from_value::<Violation>);
    match violation {
        Some(Ok(violation)) => Err(Ended::Violation(Box::new(violation))),
        _ => Err(Ended::Failed(reply.error.unwrap_or_default())),
    }
}
