use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::super::call::SessionEnd;
use super::super::limits::Limits;
use super::super::message::{self, Refused};
use super::super::{Handler, Server};
use super::declined::{self, Declined};
use super::door::Door;
use super::flights::{Flights, Landing};
use super::sessions::Sessions;
use crate::mcp::ServeError;

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

const SESSION: &str = "mcp-session-id";

/// Seconds until a session may have become idle: most calls are over in less.
const AWHILE: HeaderValue = HeaderValue::from_static("5");

/// Where the protocol is spoken.
const PATH: &str = "/mcp";

/// A server as a service of HTTP, without a listener; a clone is the same one.
#[derive(Clone)]
pub(crate) struct Mounted {
    service: StreamableHttpService<Handler, Sessions>,
    handler: Handler,
    pub(super) sessions: Arc<Sessions>,
    pub(super) flights: Flights,
    pub(super) limits: Limits,
    pub(super) calls: CancellationToken,
    pub(super) streams: CancellationToken,
    door: Arc<Door>,
}

impl Mounted {
    pub(in crate::mcp::server) fn new(mut server: Server) -> Result<Self, ServeError> {
        let door = Door::new(
            std::mem::take(&mut server.hosts),
            std::mem::take(&mut server.origins),
        );
        let limits = server.limits;
        let handler = server.handler()?;
        let calls = handler.0.end.clone();
        let shared = handler.clone();
        let streams = CancellationToken::new();
        let sessions = Arc::new(Sessions::new(limits.sessions));
        // Hosts and origins are judged at the door, before anything is read. A call that reports nothing is answered as
        // one piece of JSON, which costs less than a stream of one event.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(limits.message_bytes)
            .with_cancellation_token(streams.clone());
        Ok(Self {
            service: StreamableHttpService::new(
                move || Ok(handler.clone()),
                Arc::clone(&sessions),
                config,
            ),
            handler: shared,
            sessions,
            flights: Flights::default(),
            limits,
            calls,
            streams,
            door: Arc::new(door),
        })
    }

    /// Cancels every call, and ends every stream: what a listener does when it stops.
    #[cfg_attr(
        not(feature = "cli"),
        allow(dead_code, reason = "a page of the command line stands beside it")
    )]
    pub(crate) fn end(&self) {
        self.calls.cancel();
        self.streams.cancel();
    }

    /// Answers a request, for whatever path it is.
    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut parts, body) = request.into_parts();
        if let Err((status, why)) = self.door.admits(&parts) {
            return said(status, why);
        }
        if parts.uri.path() != PATH {
            return said(StatusCode::NOT_FOUND, "the path is /mcp");
        }
        if parts.method != Method::POST {
            let nothing = Full::new(Bytes::new());
            return self
                .service
                .handle(Request::from_parts(parts, nothing))
                .await;
        }
        let flight = self.flights.begin();
        let body = match self.read(body).await {
            Ok(body) => body,
            Err((status, why)) => return said(status, why),
        };
        let in_headers = |name: &str| self.handler.0.list.compares_headers(name);
        let body = match message::arguments(&body, in_headers) {
            Ok(Some(taken)) => {
                parts.extensions.insert(taken.arguments);
                taken.message.map_or(body, Bytes::from)
            }
            Ok(None) => body,
            Err(refused) => return not_taken(refused),
        };
        let session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok());
        if let Some(end) = session.and_then(|id| self.sessions.end(id)) {
            parts.extensions.insert(SessionEnd(end));
        }
        let request = Request::from_parts(parts, Full::new(body));
        // Boxed: it is large, and whoever holds the future of this function moves it around.
        let answering = Box::pin(self.service.handle(request));
        let answer = match declined::hearing(answering).await {
            (answer, None) => answer,
            (_, Some(why)) => declining(&why),
        };
        answer.map(|body| {
            BoxBody::new(Landing {
                body,
                _flight: flight,
            })
        })
    }

    async fn read<B>(&self, body: B) -> Result<Bytes, (StatusCode, &'static str)>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        const LARGE: (StatusCode, &str) = (
            StatusCode::PAYLOAD_TOO_LARGE,
            "the message is larger than this server takes",
        );
        let limit = self.limits.message_bytes;
        if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
            return Err(LARGE);
        }
        let body = Limited::new(body, limit).collect();
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

fn said(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::from_static(why.as_bytes()))));
    *answer.status_mut() = status;
    answer
}

fn declining(why: &Declined) -> Answer {
    let status = match why {
        Declined::InUse { id } => return not_taken(Refused::in_use(id)),
        Declined::Full { .. } => StatusCode::SERVICE_UNAVAILABLE,
        // So that its client begins again.
        Declined::Ended => StatusCode::NOT_FOUND,
    };
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::from(why.to_string()))));
    *answer.status_mut() = status;
    if status == StatusCode::SERVICE_UNAVAILABLE {
        answer.headers_mut().insert(RETRY_AFTER, AWHILE);
    }
    answer
}

fn not_taken(refused: Refused) -> Answer {
    let text = serde_json::to_vec(&refused.into_answer()).unwrap_or_default();
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::from(text))));
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

impl fmt::Debug for Mounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mounted")
            .field("limits", &self.limits)
            .field("flights", &self.flights)
            .finish_non_exhaustive()
    }
}
