//! The page on which a doctor decides what the reception asks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Form, FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use contract_http::OriginCheck;
use contract_runtime::approval::{Approval, ApprovalRequest, Decided, Decision};
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use tokio::sync::oneshot;

use crate::users::{Role, User, user_of};

/// The requests that wait for a decision.
#[derive(Clone, Default)]
pub(crate) struct Desk(Arc<Mutex<BTreeMap<String, Open>>>);

struct Open {
    request: ApprovalRequest,
    answer: oneshot::Sender<Decided>,
}

impl Desk {
    /// Puts a request on the page, and waits for its decision.
    pub(crate) async fn decide(self, request: ApprovalRequest) -> Decided {
        let (answer, answered) = oneshot::channel();
        let id = request.id.clone();
        self.open().insert(id, Open { request, answer });
        answered.await.unwrap_or(Decision::Unanswered.into())
    }

    /// Returns the requests whose callers have not given up.
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Open>> {
        let mut open = self.0.lock();
        open.retain(|_, open| !open.answer.is_closed());
        open
    }

    pub(crate) fn routes(self) -> Router {
        Router::new()
            .route("/approvals", get(list))
            .route("/approvals/{id}", post(answer))
            .with_state(self)
    }
}

/// The doctor who sends a request, with a token as the password of the browser.
struct Doctor(User);

impl<S: Sync> FromRequestParts<S> for Doctor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        // A browser sends the password with every request, also with one that another page makes it send.
        if let Err(error) = OriginCheck::loopback().check(&parts.uri, &parts.headers) {
            return Err((StatusCode::FORBIDDEN, error.to_string()).into_response());
        }
        match password(&parts.headers).and_then(|token| user_of(&token)) {
            Some(user) if user.role == Role::Doctor => Ok(Self(user)),
            Some(_) => Err(StatusCode::FORBIDDEN.into_response()),
            None => {
                let challenge = [(header::WWW_AUTHENTICATE, "Basic realm=\"clinic\"")];
                Err((StatusCode::UNAUTHORIZED, challenge).into_response())
            }
        }
    }
}

/// The password of a request (RFC 7617, section 2).
fn password(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let decoded = BASE64_STANDARD.decode(value.strip_prefix("Basic ")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    Some(text.split_once(':')?.1.to_owned())
}

async fn list(State(desk): State<Desk>, Doctor(user): Doctor) -> Response {
    let mut page = format!(
        "<!doctype html><title>Approvals</title><h1>Approvals for {}</h1>",
        user.name
    );
    for (id, Open { request, .. }) in &*desk.open() {
        let caller = request.caller.as_deref().unwrap_or_default();
        let texts = [
            caller,
            &request.tool,
            &request.to_string(),
            &request.arguments.to_string(),
        ];
        let [caller, tool, question, arguments] = texts.map(escaped);
        // Writing to a text cannot fail.
        let _ = write!(
            page,
            "<form method=post action=\"/approvals/{id}\"><p>{caller}, {tool}: {question}<br><code>{arguments}</code></p>\
             <input name=reason placeholder=\"Reason\"> <button name=decision value=approve>Approve</button> \
             <button name=decision value=deny>Deny</button></form>"
        );
    }
    // No other page may show this one inside of itself and lead a click to its buttons.
    ([(header::X_FRAME_OPTIONS, "DENY")], Html(page)).into_response()
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\n', "<br>")
}

#[derive(Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
enum Answer {
    Approve,
    Deny { reason: String },
}

async fn answer(
    State(desk): State<Desk>,
    Doctor(user): Doctor,
    Path(id): Path<String>,
    Form(answer): Form<Answer>,
) -> Response {
    let Some(open) = desk.open().remove(&id) else {
        return (StatusCode::NOT_FOUND, "this request is not open").into_response();
    };
    let decision = match answer {
        Answer::Approve => Decision::Approved(Approval::Once),
        Answer::Deny { reason } => Decision::Denied(format!("{}: {reason}", user.name)),
    };
    // An error means that the caller has given up.
    let _ = open.answer.send(decision.by(user.name));
    Redirect::to("/approvals").into_response()
}
