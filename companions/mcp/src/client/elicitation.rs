//! What a server asks during a call, put to the approver of the call.

use std::convert::Infallible;

use contract_runtime::approval::Decision;
use contract_runtime::dynamic::DynamicContext;
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputResponses, PrimitiveSchemaDefinition,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::names::shortened;

/// How many questions of a server people are asked in one call.
pub(super) const QUESTIONS: usize = 10;

/// The longest message of a question, in characters; what follows it must be read, too.
const MESSAGE: usize = 1_500;

/// A question of a server that asks while the call runs, and where the answer goes.
pub(super) struct Elicitation {
    pub(super) asked: ElicitRequestParams,
    pub(super) answer: oneshot::Sender<ElicitResult>,
}

pub(super) fn declined() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}

/// Answers whatever comes while the call runs, and never ends.
pub(super) async fn answer_all(
    mut asked: mpsc::UnboundedReceiver<Elicitation>,
    server: &str,
    context: &DynamicContext,
) -> Infallible {
    while let Some(Elicitation {
        asked,
        answer: told,
    }) = asked.recv().await
    {
        let mut told = told;
        let answer = tokio::select! {
            biased;
            // The server has taken the question back, so people need not decide on it.
            () = told.closed() => continue,
            answer = answer(&asked, server, context) => answer,
        };
        let answer = answer.unwrap_or_else(|why| {
            context.log.warning(format_args!(
                "the server asked, and its question was declined, because {why}: {}",
                shortened(message(&asked))
            ));
            declined()
        });
        // If nobody waits for it, the server has disconnected.
        let _ = told.send(answer);
    }
    std::future::pending().await
}

/// Answers everything that a call needs before it is made again; the error says why it cannot be.
pub(super) async fn answer_each(
    requests: &InputRequests,
    server: &str,
    context: &DynamicContext,
) -> Result<InputResponses, String> {
    let mut answers = InputResponses::new();
    for (key, request) in requests {
        let answer = match request {
            InputRequest::Elicitation(request) => answer(&request.params, server, context).await?,
            _ => return Err("it asks for more than people can answer here".to_owned()),
        };
        answers.insert(key.clone(), json!(answer));
    }
    Ok(answers)
}

/// Answers one question: it is accepted or declined by a person. The error says why nobody was asked.
async fn answer(
    asked: &ElicitRequestParams,
    server: &str,
    context: &DynamicContext,
) -> Result<ElicitResult, String> {
    let (accepted, field) = yes(asked)?;
    let message: String = message(asked).chars().take(MESSAGE).collect();
    let question = match field {
        None => format!("{server} asks: {message}"),
        Some(field) => format!("{server} asks: {message} (yes to {field})"),
    };
    match context.ask(&question).await {
        None => Err("there is nobody to ask".to_owned()),
        Some(Decision::Approved(_)) => {
            Ok(ElicitResult::new(ElicitationAction::Accept).with_content(accepted))
        }
        Some(Decision::Unanswered) => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        Some(_) => Ok(declined()),
    }
}

/// The content that says yes to a question that can be answered by yes or no, and what its field is called.
fn yes(asked: &ElicitRequestParams) -> Result<(Value, Option<String>), String> {
    let ElicitRequestParams::FormElicitationParams {
        requested_schema: form,
        ..
    } = asked
    else {
        return Err("it wants a person to visit a page".to_owned());
    };
    let required = form.required.iter().flatten();
    let mut unknown = required.filter(|name| !form.properties.contains_key(*name));
    let mut fields = form.properties.iter();
    match (fields.next(), fields.next(), unknown.next()) {
        _ if is_of_this_crate(form) => Ok((json!({"decision": "approve"}), None)),
        (None, _, None) => Ok((json!({}), None)),
        (Some((name, PrimitiveSchemaDefinition::Boolean(field))), None, None) => {
            let title = shortened(field.title.as_deref().unwrap_or(name));
            let described = field.description.as_deref().map(shortened);
            let field = described.map_or(format!("`{title}`"), |text| format!("`{title}`: {text}"));
            Ok((json!({ name: true }), Some(field)))
        }
        _ => Err("it asks for more than yes or no".to_owned()),
    }
}

/// Whether it is the form with which a server of this crate asks: a decision, and a reason that may be left out.
fn is_of_this_crate(form: &ElicitationSchema) -> bool {
    let required = form.required.iter().flatten();
    let mut names = form.properties.keys();
    let decision = form.properties.get("decision").map(|field| json!(field));
    decision.is_some_and(|field| field["enum"] == json!(["approve", "deny"]))
        && required.eq(["decision"])
        && names.all(|name| name == "decision" || name == "reason")
}

pub(super) fn message(asked: &ElicitRequestParams) -> &str {
    match asked {
        ElicitRequestParams::FormElicitationParams { message, .. }
        | ElicitRequestParams::UrlElicitationParams { message, .. } => message,
        _ => "",
    }
}
