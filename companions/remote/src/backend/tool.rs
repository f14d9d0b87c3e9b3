//! An executor's tool as a tool of the backend's registry.

use std::sync::Arc;

use contract_manifest::ToolManifest;
use contract_runtime::__family::below_headings;
use contract_runtime::dynamic::{Backing, CallError, DynamicContext};
use contract_runtime::{Content, DynamicSpec, Effect, Status, Tool, Violation};
use serde_json::{Map, Value};

use super::calls::{AttemptOutcome, CallRequest, Calls};
use crate::safeguards::Watchdog;
use crate::toolbelt::Rules;

/// Builds an entry of the backend's registry for a tool of an executor.
pub(super) fn tool(manifest: &ToolManifest, calls: Arc<Calls>, watchdog: Arc<Watchdog>) -> Tool {
    let mut spec = DynamicSpec::new(&manifest.name, description(manifest))
        .input_schema(manifest.input_schema.clone())
        .hints(manifest.hints);
    if manifest.alone {
        spec = spec.alone();
    }
    if manifest.coerce {
        spec = spec.coerce();
    }
    if let Some(title) = &manifest.title {
        spec = spec.title(title);
    }
    if let Some(output) = &manifest.output_schema {
        spec = spec.output_schema(output.clone());
    }
    let away = RemoteTool {
        name: manifest.name.clone(),
        // Unreadable rules were refused with the handshake.
        rules: Rules::new(manifest).ok(),
        record: calls.task_store.task.to_string(),
        calls,
        watchdog,
        // A read-only tool can be called twice.
        idempotent: [manifest.hints.idempotent, manifest.hints.read_only].contains(&Some(true)),
    };
    Tool::backed(spec, away)
}

/// Returns the description that the executor's own registry would show.
fn description(manifest: &ToolManifest) -> String {
    let conditions = manifest.conditions.iter();
    let ending = conditions.filter(|one| one.policy.ends_the_call());
    let said = ending.filter_map(|one| Some((one.heading?, one.sentence.as_str())));
    below_headings(&manifest.description, &said)
}

struct RemoteTool {
    name: String,
    /// The task, whose store and journal know its calls by their keys.
    record: String,
    rules: Option<Rules>,
    calls: Arc<Calls>,
    watchdog: Arc<Watchdog>,
    idempotent: bool,
}

impl Backing for RemoteTool {
    fn refusal(&self, arguments: &Map<String, Value>) -> Option<Violation> {
        let broken = self.rules.as_ref()?.first_broken(arguments)?;
        let condition = broken.condition;
        let mut refusal = Violation::new(
            &condition.id,
            condition.kind,
            &self.name,
            &condition.predicate,
        );
        refusal.message = Some(broken.message.to_owned());
        refusal.policy = condition.policy;
        refusal.values = broken.values.into();
        Some(refusal)
    }

    fn record(&self) -> Option<&str> {
        Some(&self.record)
    }

    async fn call(
        &self,
        arguments: Map<String, Value>,
        context: DynamicContext,
    ) -> Result<Content, CallError> {
        let call_id = context.call.id;
        let request = CallRequest {
            call_id: call_id.clone(),
            tool_name: self.name.clone(),
            parameters: arguments,
            idempotent: self.idempotent,
            idempotency_key: context.idempotency_key.map(|key| key.to_string()),
            until: context.deadline.at(),
            progress: context.progress,
            log: context.log,
        };
        let answer = match self.calls.call(request).await {
            AttemptOutcome::Reply(reply) => {
                // Whether it arrived on its own or with a handshake.
                self.watchdog.record_activity();
                reply.into_content()?
            }
            AttemptOutcome::InDoubt(why) => {
                return Err(failed(
                    Effect::Unknown,
                    format!(
                        "unknown outcome: {why}, and `{}` may or may not have run; look before you call it again",
                        self.name
                    ),
                ));
            }
            AttemptOutcome::NotRun(why) => {
                return Err(failed(
                    Effect::None,
                    format!("`{}` was not run: {why}", self.name),
                ));
            }
        };
        self.watchdog
            .record_answer(&call_id, &self.name, answer.as_text());
        Ok(answer)
    }
}

fn failed(effect: Effect, error: String) -> CallError {
    CallError::Ended {
        status: Status::Failed,
        error,
        effect,
        may_still_run: false,
    }
}
