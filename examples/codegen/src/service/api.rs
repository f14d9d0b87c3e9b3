//! The endpoints below `/api`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json as value};
use tokio::time::timeout;

use super::body::{json, read};
use super::follow::{Shared, Until, follow};
use crate::contract::{ApprovalAnswer, ChatRequest, Problem};
use crate::runs::{Run, RunId};

/// How many seconds a response is waited for, by default and at most.
const PATIENCE: u64 = 25;
const MOST_PATIENCE: u64 = 300;

/// The numbers that the address of a request may have.
#[derive(Deserialize)]
pub(super) struct Numbers {
    wait: Option<u64>,
    after: Option<u64>,
}

type Asked = Result<Query<Numbers>, QueryRejection>;
type Id = Result<Path<RunId>, PathRejection>;

fn numbers(asked: Asked) -> Result<Numbers, Problem> {
    let message = "`wait` and `after` in the address are numbers";
    asked
        .map(|Query(numbers)| numbers)
        .map_err(|_| Problem::new(400, "no_number", message))
}

fn find(shared: &Shared, id: Id) -> Result<Arc<Run>, Problem> {
    let Path(id) = id.map_err(|_| Problem::unknown())?;
    shared.engine.run(id)
}

/// `POST /api/chat`: responds when the run asks or ends, and after `wait` seconds in any case.
pub(super) async fn chat(
    State(shared): State<Arc<Shared>>,
    asked: Asked,
    request: Request,
) -> Result<Response, Problem> {
    let wait = numbers(asked)?.wait;
    let (run, _) = take(&shared, request).await?;
    let patience = Duration::from_secs(wait.unwrap_or(PATIENCE).min(MOST_PATIENCE));
    tokio::select! {
        // The response of a run that is at work until then says so.
        _ = timeout(patience, run.rested()) => {}
        () = shared.closing.cancelled() => {}
    }
    Ok(json(&shared.engine.response(&run)))
}

/// `POST /api/chat/stream`: streams the events from now on, and the same response as the last of them.
pub(super) async fn stream(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Result<Response, Problem> {
    let (run, after) = take(&shared, request).await?;
    follow(&shared, run, after, Until::Rest)
}

/// Returns the run that a request is about, and the number of its last event before the request.
async fn take(shared: &Shared, request: Request) -> Result<(Arc<Run>, u64), Problem> {
    let ChatRequest {
        session_id,
        message,
        answers,
    } = read(request, "request").await?;
    let Some(id) = session_id else {
        if !answers.is_empty() {
            let message = "there are answers and no `session_id`; send that of the response with the questions";
            return Err(Problem::new(400, "wrong_answers", message));
        }
        return Ok((shared.engine.begin(&message).await?, 0));
    };
    let id = id.parse().map_err(|_| Problem::unknown())?;
    let run = shared.engine.run(id)?;
    let after = run.after(0).last().map_or(0, |event| event.sequence);
    if !message.trim().is_empty() || !answers.is_empty() {
        shared.engine.answer(id, &message, &answers).await?;
    }
    Ok((run, after))
}

/// `GET /api/runs`: all runs, the latest first.
pub(super) async fn runs(State(shared): State<Arc<Shared>>) -> Response {
    let runs = shared.engine.runs();
    let runs = runs.iter().map(|run| {
        let record = run.record();
        value!({
            "id": record.id,
            "began_ms": record.began_ms,
            "task": record.task,
            "state": record.life.state(),
        })
    });
    json(&runs.collect::<Vec<_>>())
}

/// `GET /api/runs/{id}`: the response that `/api/chat` would give now.
pub(super) async fn run(State(shared): State<Arc<Shared>>, id: Id) -> Result<Response, Problem> {
    let run = find(&shared, id)?;
    Ok(json(&shared.engine.response(&run)))
}

/// `GET /api/runs/{id}/events`: streams the events after the number `after`, until the run is over.
pub(super) async fn events(
    State(shared): State<Arc<Shared>>,
    id: Id,
    asked: Asked,
) -> Result<Response, Problem> {
    let run = find(&shared, id)?;
    let after = numbers(asked)?.after.unwrap_or(0);
    follow(&shared, run, after, Until::Over)
}

/// `POST /api/runs/{id}/cancel`: responds when the run has ended.
pub(super) async fn cancel(State(shared): State<Arc<Shared>>, id: Id) -> Result<Response, Problem> {
    let run = find(&shared, id)?;
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
    let run = find(&shared, id)?;
    let answer: ApprovalAnswer = read(request, "approval").await?;
    shared.engine.decide(run.id(), &answer).await?;
    Ok(json(&shared.engine.response(&run)))
}

/// `GET /api/tools`: the tools of the executor with their contracts, and whether it is connected.
pub(super) async fn tools(State(shared): State<Arc<Shared>>) -> Response {
    let (toolbelt, connected) = shared.engine.executor();
    let tools = toolbelt.iter().flat_map(|toolbelt| toolbelt.tools());
    let tools = tools.map(|tool| {
        let clauses = tool.conditions.iter().map(|clause| {
            value!({
                "id": clause.id,
                "kind": clause.kind,
                "predicate": clause.predicate,
                "message": clause.message,
                // The backend checks a portable rule before a call is sent.
                "judged_here": clause.rule.is_some(),
            })
        });
        let clauses: Vec<Value> = clauses.collect();
        value!({"name": tool.name, "description": tool.description, "clauses": clauses})
    });
    let tools: Vec<Value> = tools.collect();
    json(&value!({"connected": connected, "tools": tools}))
}
