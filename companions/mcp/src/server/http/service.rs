//! A server as an HTTP service: one request at a time, without a listener.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Once};
use std::task::{Context, Poll};
use std::time::Duration;

use contract_http::{OriginCheck, OriginError};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_TYPE, HeaderValue, ORIGIN, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::Server;
use super::super::auth::{Principal, ServedMetadata};
use super::super::call::PrincipalId;
use super::super::handler::Handler;
use super::super::limits::Limits;
use super::super::message::{self, Rejection};
use super::super::revision::Revision;
use super::authorization::Authorization;
use super::cors;
use super::session_error::{self, SessionError};
use super::sessions::Sessions;
use crate::ServeError;

pub(crate) type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

const SESSION: &str = "mcp-session-id";

/// Headers that must not be repeated, because a proxy in front might use another value than this server.
const ONCE: [&str; 2] = [SESSION, "mcp-protocol-version"];

/// When to try again, in seconds; most calls take less.
const AWHILE: HeaderValue = HeaderValue::from_static("5");

/// How often idle sessions are looked for.
const SWEEP: Duration = Duration::from_secs(60);

/// How long responses may take to be sent after their calls have been cancelled.
pub(super) const FLUSH: Duration = Duration::from_secs(1);

/// A server as a [`tower_service::Service`], to be mounted in an HTTP server of your own; see [`Server::into_service`].
///
/// It answers requests for any path; the router in front of it chooses the path. All clones share the same sessions. It needs a
/// tokio runtime with timers.
///
/// The service ends in one of three ways. Each of them ends all sessions and closes all open streams:
///
/// - [`shutdown`](Self::shutdown) ends it gracefully. Await it before your server waits for its connections to close, because a
///   client may keep the stream of its session open.
/// - [`close`](Self::close) ends it immediately.
/// - Dropping the last clone ends it immediately. A request in progress holds a clone, and so does the response to a `POST` until
///   its body is sent or dropped.
#[derive(Clone)]
pub struct HttpService(Arc<Inner>);

struct Inner {
    protocol: StreamableHttpService<Handler, Sessions>,
    handler: Handler,
    sessions: Arc<Sessions>,
    /// The requests whose responses have not been sent in full.
    in_flight: TaskTracker,
    limits: Limits,
    connections: usize,
    origin_check: OriginCheck,
    authorization: Authorization,
    /// Cancelled when no further request is answered.
    closing: CancellationToken,
    /// Cancels every call.
    calls: CancellationToken,
    /// Ends every session and every stream.
    streams: CancellationToken,
    sweeping: Once,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}

impl Inner {
    fn end(&self) {
        self.closing.cancel();
        self.calls.cancel();
        self.streams.cancel();
    }
}

impl HttpService {
    pub(in crate::server) fn new(mut server: Server) -> Result<Self, ServeError> {
        let settings = std::mem::take(&mut server.http);
        let metadata = settings.metadata.map(ServedMetadata::new);
        let authorization = Authorization {
            check: settings.authorizer,
            metadata: metadata.transpose()?,
        };
        let limits = server.limits;
        let hooks = server.hooks.clone();
        let handler = Handler::new(server)?;
        let calls = handler.0.end.clone();
        let shared = handler.clone();
        let streams = CancellationToken::new();
        let sessions = Arc::new(Sessions::new(settings.sessions, settings.kept_bytes, hooks));
        // Hosts and origins are checked here, before anything is read. A call that reports nothing is answered as one piece of
        // JSON, which costs less than a stream of one event.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            // `Sessions` knows which clients accept events without data.
            .with_sse_retry(None)
            .with_json_response(true)
            .with_max_request_body_bytes(limits.message_bytes)
            .with_cancellation_token(streams.clone());
        Ok(Self(Arc::new(Inner {
            protocol: StreamableHttpService::new(
                move || Ok(handler.clone()),
                Arc::clone(&sessions),
                config,
            ),
            handler: shared,
            sessions,
            in_flight: TaskTracker::new(),
            limits,
            connections: settings.connections,
            origin_check: settings.origin_check,
            authorization,
            closing: CancellationToken::new(),
            calls,
            streams,
            sweeping: Once::new(),
        })))
    }

    pub(super) fn limits(&self) -> Limits {
        self.0.limits
    }

    pub(super) fn connections(&self) -> usize {
        self.0.connections
    }

    /// Ends the service gracefully: answers new requests with 503, gives those in progress the [grace](Server::grace) period to
    /// finish, cancels the calls that are still running, and ends all sessions and streams.
    ///
    /// It takes at most one second longer than the grace period. If the future is dropped early, new requests stay refused, and
    /// nothing else ends.
    pub async fn shutdown(&self) {
        let service = &self.0;
        service.closing.cancel();
        service.in_flight.close();
        if timeout(service.limits.grace, service.in_flight.wait())
            .await
            .is_err()
        {
            service.calls.cancel();
            // A client that does not read its response is not waited for any longer.
            let _ = timeout(FLUSH, service.in_flight.wait()).await;
        }
        service.end();
    }

    /// Ends the service immediately: cancels all calls, and ends all sessions and streams.
    pub fn close(&self) {
        self.0.end();
    }

    /// Returns the path at which clients look for the [metadata](Server::resource_metadata), if there are any.
    ///
    /// A router that sends the requests of one path here, such as `/mcp`, must send those of this path here, too, with the path
    /// as it is.
    #[must_use]
    pub fn metadata_path(&self) -> Option<&str> {
        let metadata = self.0.authorization.metadata.as_ref()?;
        Some(&metadata.path)
    }

    /// Whether requests for the metadata come to this path.
    pub(super) fn has_metadata_at(&self, path: &str) -> bool {
        let metadata = self.0.authorization.metadata.as_ref();
        metadata.is_some_and(|metadata| metadata.are_at(path))
    }

    /// Answers a request, whatever its path.
    pub(super) async fn respond<B>(&self, request: Request<B>) -> HttpResponse
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        let service = &self.0;
        let (mut parts, body) = request.into_parts();
        if let Some(answer) = service.authorization.metadata(&parts) {
            let checked = service.origin_check.check_host(&parts.uri, &parts.headers);
            return checked.map_or_else(origin_response, |()| answer);
        }
        if let Err(refused) = service.admit(&parts) {
            return refused;
        }
        let origin = parts.headers.get(ORIGIN).cloned();
        let mut answer = match cors::preflight(&parts) {
            Some(answer) => answer,
            None => match service.authorize(&mut parts).await {
                Ok(principal) => {
                    let answer = self.answer(parts, body).await;
                    service.bind(&answer, principal);
                    answer
                }
                Err(refused) => refused,
            },
        };
        cors::allow(origin, answer.headers_mut());
        answer
    }

    /// Answers a request that has been admitted.
    async fn answer<B>(&self, parts: Parts, body: B) -> HttpResponse
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        let service = &self.0;
        // Counted before `closing` is read, so that a shutdown either waits for this request or refuses it.
        let guard = service.in_flight.token();
        if service.closing.is_cancelled() {
            return text_response(
                StatusCode::SERVICE_UNAVAILABLE,
                "the server is shutting down",
            );
        }
        self.sweep_sessions();
        if parts.method != Method::POST {
            // A stream of a session is open until the session ends, so nobody waits for it.
            drop(guard);
            let ends = parts.method == Method::DELETE;
            let nothing = Full::new(Bytes::new());
            let request = Request::from_parts(parts, nothing);
            let mut answer = service.protocol.handle(request).await;
            if ends && answer.status() == StatusCode::ACCEPTED {
                // The session has ended; clients of the older revisions take 202 for a failure.
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
            return answer;
        }
        let body = match service.read(body).await {
            Ok(body) => body,
            Err((status, why)) => return text_response(status, why),
        };
        let answer = self.message(parts, body).await;
        // Until the body is sent or dropped, the request counts, and the service lives, which would end the stream when it is dropped.
        let held = (guard, self.clone());
        answer.map(|body| {
            BoxBody::new(body.map_err(move |never| {
                let _ = &held;
                never
            }))
        })
    }

    /// Ends idle sessions from now and then, for as long as the service lives.
    fn sweep_sessions(&self) {
        self.0.sweeping.call_once(|| {
            let service = Arc::downgrade(&self.0);
            tokio::spawn(async move {
                loop {
                    sleep(SWEEP).await;
                    // Only the sessions: a task that holds the service would keep it alive.
                    let Some(sessions) = service.upgrade().map(|one| Arc::clone(&one.sessions))
                    else {
                        return;
                    };
                    sessions.sweep().await;
                }
            });
        });
    }

    /// Answers one message.
    async fn message(&self, mut parts: Parts, body: Bytes) -> HttpResponse {
        let revision = session(&parts).and_then(|id| self.0.sessions.revision(id));
        let tools = self.0.handler.0.tools.current();
        let in_headers = |name: &str| tools.list.compares_headers(name);
        let body = match message::extract_arguments(&body, in_headers) {
            Ok(Some(extracted)) => {
                parts.extensions.insert(extracted.arguments);
                extracted.message.map_or(body, Bytes::from)
            }
            Ok(None) => body,
            Err(rejection) => return rejection_response(rejection, revision),
        };
        if let Some(session) = session(&parts).and_then(|id| self.0.sessions.of_call(id)) {
            parts.extensions.insert(session);
        }
        let request = Request::from_parts(parts, Full::new(body));
        // Boxed, because it is large and would be moved around with the future of this function.
        let answering = Box::pin(self.0.protocol.handle(request));
        match session_error::capture(answering).await {
            (answer, None) => answer,
            (_, Some(why)) => session_error_response(&why, revision),
        }
    }
}

impl Inner {
    /// Checks the headers, before the body is read.
    #[expect(
        clippy::result_large_err,
        reason = "it is the answer, and made at most once"
    )]
    fn admit(&self, request: &Parts) -> Result<(), HttpResponse> {
        let checked = self.origin_check.check(&request.uri, &request.headers);
        checked.map_err(origin_response)?;
        for name in ONCE {
            if request.headers.get_all(name).iter().nth(1).is_some() {
                let why = "a request names its session and its revision at most once";
                return Err(text_response(StatusCode::BAD_REQUEST, why));
            }
        }
        Ok(())
    }

    /// Finds out who sends a request, and whether its session is theirs.
    async fn authorize(&self, request: &mut Parts) -> Result<Option<Arc<str>>, HttpResponse> {
        let Some(principal) = self.authorization.principal(request).await? else {
            return Ok(None);
        };
        let id = principal.shared_id();
        if session(request).is_some_and(|session| !self.sessions.is_of(session, &id)) {
            // As if there were no such session: its client begins again, and nobody learns of those of others.
            return Err(session_error_response(&SessionError::Ended, None));
        }
        request.extensions.insert(PrincipalId(Arc::clone(&id)));
        request.extensions.insert::<Principal>(principal);
        Ok(Some(id))
    }

    /// Makes the session that an answer begins one of its principal.
    fn bind(&self, answer: &HttpResponse, principal: Option<Arc<str>>) {
        if let Some(principal) = principal
            && let Some(id) = answer.headers().get(SESSION)
            && let Ok(id) = id.to_str()
        {
            self.sessions.bind(id, principal);
        }
    }

    async fn read<B>(&self, body: B) -> Result<Bytes, (StatusCode, &'static str)>
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        const LARGE: (StatusCode, &str) = (
            StatusCode::PAYLOAD_TOO_LARGE,
            "the message is larger than this server accepts",
        );
        let limit = self.limits.message_bytes;
        if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
            return Err(LARGE);
        }
        let body = Limited::new(body.map_err(|_| BrokenBody), limit).collect();
        match tokio::time::timeout(self.limits.patience, body).await {
            Err(_) => Err((
                StatusCode::REQUEST_TIMEOUT,
                "the body of the request took too long",
            )),
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(LARGE),
            Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the body of the request broke off")),
        }
    }
}

/// A body that broke off, whatever its error.
#[derive(Debug, thiserror::Error)]
#[error("the body broke off")]
struct BrokenBody;

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<BoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.respond(request).await) })
    }
}

fn session(parts: &Parts) -> Option<&str> {
    parts.headers.get(SESSION)?.to_str().ok()
}

pub(super) fn text_response(status: StatusCode, why: impl Into<Bytes>) -> HttpResponse {
    let mut answer = Response::new(BoxBody::new(Full::new(why.into())));
    *answer.status_mut() = status;
    answer
}

fn origin_response(error: OriginError) -> HttpResponse {
    let status = match error {
        OriginError::InvalidHost => StatusCode::BAD_REQUEST,
        _ => StatusCode::FORBIDDEN,
    };
    text_response(status, error.to_string())
}

fn session_error_response(why: &SessionError, revision: Option<Revision>) -> HttpResponse {
    let status = match why {
        SessionError::InUse { id } => return rejection_response(Rejection::in_use(id), revision),
        SessionError::Full { .. } => StatusCode::SERVICE_UNAVAILABLE,
        SessionError::Other(_) => StatusCode::INTERNAL_SERVER_ERROR,
        // So that its client begins again.
        SessionError::Ended => StatusCode::NOT_FOUND,
    };
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::from(why.to_string()))));
    *answer.status_mut() = status;
    if status == StatusCode::SERVICE_UNAVAILABLE {
        answer.headers_mut().insert(RETRY_AFTER, AWHILE);
    }
    answer
}

fn rejection_response(rejection: Rejection, revision: Option<Revision>) -> HttpResponse {
    let text = rejection.into_answer(revision);
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::from(text))));
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("limits", &self.0.limits)
            .field("in_flight", &self.0.in_flight)
            .finish_non_exhaustive()
    }
}
