//! The endpoints under `/api/runs`, and `/api/tools`.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;

use super::chat::read;
use super::follow::{Until, follow};
use super::problem::Problem;
use super::server::Shared;
use crate::contract::ApprovalAnswer;
use crate::runs::Run;

/// A value as an answer.
pub(super) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Problem::new(status, "not_json", error.to_string()).into_response()
        }
    }
}

/// A number that the address of a request adds.
pub(super) fn number(address: &Uri, name: &str) -> Result<Option<u64>, Problem> {
    let mut parts = address.query().unwrap_or("").split('&');
    let given = parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    given.map(str::parse).transpose().map_err(|_| {
        let message = format!("`{name}` in the address is not a number");
        Problem::new(StatusCode::BAD_REQUEST, "no_number", message)
    })
}

/// The id of a run, as the address has it.
type Id = Result<Path<String>, PathRejection>;

async fn of(shared: &Shared, id: Id) -> Result<Arc<Run>, Problem> {
    let Path(id) = id.map_err(|_| Problem::unknown())?;
    let id = id.parse().map_err(|_| Problem::unknown())?;
    Ok(shared.engine.run(id).await?)
}

/// `GET /api/runs`: all of them, the latest first.
pub(super) async fn runs(State(shared): State<Arc<Shared>>) -> Response {
    json(&shared.engine.runs())
}

/// `GET /api/runs/{id}`: what `/api/chat` would answer now.
pub(super) async fn run(State(shared): State<Arc<Shared>>, id: Id) -> Result<Response, Problem> {
    let run = of(&shared, id).await?;
    Ok(json(&shared.engine.response(&run)))
}

/// `GET /api/runs/{id}/events`: what has happened after the event of the number `after`, and what happens until it is over.
pub(super) async fn events(
    State(shared): State<Arc<Shared>>,
    id: Id,
    address: Uri,
) -> Result<Response, Problem> {
    let run = of(&shared, id).await?;
    let after = number(&address, "after")?;
    follow(&shared, run, after.unwrap_or(0), Until::Over)
}

/// `POST /api/runs/{id}/cancel`.
pub(super) async fn cancel(State(shared): State<Arc<Shared>>, id: Id) -> Result<Response, Problem> {
    let run = of(&shared, id).await?;
    shared.engine.cancel(run.id()).await?;
    run.ended().await;
    Ok(json(&shared.engine.response(&run)))
}

/// `POST /api/runs/{id}/approval`: decides on the call that the run asks about.
pub(super) async fn approval(
    State(shared): State<Arc<Shared>>,
    id: Id,
    request: Request,
) -> Result<Response, Problem> {
    let run = of(&shared, id).await?;
    let answer: ApprovalAnswer = read(request, "approval").await?;
    shared.engine.decide(run.id(), &answer).await?;
    Ok(json(&shared.engine.response(&run)))
}

#[derive(Serialize)]
struct ExecutorView {
    connected: bool,
    tools: Vec<ToolView>,
}

/// A tool with its contract, for people.
#[derive(Serialize)]
struct ToolView {
    name: String,
    description: String,
    clauses: Vec<ClauseView>,
}

#[derive(Serialize)]
struct ClauseView {
    id: String,
    kind: Value,
    predicate: String,
    message: Option<String>,
    /// The backend judges it before a call travels.
    judged_here: bool,
}

/// `GET /api/tools`: the tools of the executor, and whether it is connected.
pub(super) async fn tools(State(shared): State<Arc<Shared>>) -> Response {
    let (toolbelt, connected) = shared.engine.executor();
    let tools = toolbelt.iter().flat_map(|toolbelt| toolbelt.tools());
    let tools = tools
        .map(|tool| ToolView {
            name: tool.name.clone(),
            description: tool.description.clone(),
            clauses: tool
                .conditions
                .iter()
                .map(|clause| ClauseView {
                    id: clause.id.clone(),
                    kind: serde_json::to_value(clause.kind).unwrap_or_default(),
                    predicate: clause.predicate.clone(),
                    message: clause.message.clone(),
                    judged_here: clause.rule.is_some(),
                })
                .collect(),
        })
        .collect();
    json(&ExecutorView { connected, tools })
}
