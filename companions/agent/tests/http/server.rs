//! A server that answers as a script says, and keeps what it was asked.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use contract_agent::{Provider, stream_with};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{secrets, wire};

/// What the server answers, in the protocol in which it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A text.
    Says(String),
    /// Calls of tools: id, name, and arguments as text.
    Calls(Vec<(String, String, String)>),
    /// One of these two behind reasoning, which every later request has to hold.
    Reasons(&'static str, Box<Answer>),
    /// A status, headers and a body.
    Raw(u16, Vec<(&'static str, String)>, String),
    /// Events, piece by piece.
    Events(Vec<Piece>),
    /// Nothing, for ever.
    Silence,
}

/// A step of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Send(String),
    Wait(Duration),
    /// The connection breaks.
    Break,
    /// Nothing more comes.
    Hang,
}

/// What the server was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    /// The client's end of the connection.
    pub(crate) from: SocketAddr,
}

#[derive(Clone)]
pub(crate) struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    left: Arc<AtomicUsize>,
    /// The reasoning of each reply, as it has to come back.
    reasoned: Arc<Mutex<Vec<Value>>>,
}

pub(crate) fn says(text: &str) -> Answer {
    Answer::Says(text.to_owned())
}

pub(crate) fn calls(name: &str, arguments: &str) -> Answer {
    Answer::Calls(vec![(
        "call_1".to_owned(),
        name.to_owned(),
        arguments.to_owned(),
    )])
}

pub(crate) fn status(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
    let headers = headers
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    Answer::Raw(status, headers, body.to_owned())
}

impl Server {
    /// Answers in order; after the last answer it gives that again.
    pub(crate) async fn with(script: impl IntoIterator<Item = Answer>) -> Self {
        let script: Vec<Answer> = script.into_iter().collect();
        Self::that(move |number| script[number.min(script.len() - 1)].clone()).await
    }

    /// Answers the requests, which are numbered from 0.
    pub(crate) async fn that(script: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self {
        secrets::listen();
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let address = listener.local_addr().expect("it is bound").to_string();
        let server = Self {
            address,
            asked: Arc::default(),
            left: Arc::default(),
            reasoned: Arc::default(),
        };
        let script = Arc::new(script);
        let app = Router::new().fallback({
            let server = server.clone();
            move |request| {
                let (server, script) = (server.clone(), Arc::clone(&script));
                async move { server.answer(request, &*script).await }
            }
        });
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, app).await });
        server
    }

    /// The address of the endpoint.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Whether no client has gone before it had the whole answer.
    pub(crate) fn is_kept(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    /// Waits until a client has gone before it had the whole answer.
    pub(crate) async fn is_left(&self) {
        for _ in 0..2_000 {
            if !self.is_kept() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the client keeps its connection");
    }

    async fn answer(
        &self,
        request: Request,
        script: &(impl Fn(usize) -> Answer + Send + Sync),
    ) -> Result<Response, Infallible> {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("a whole request");
        let body: Value = serde_json::from_slice(&body).expect("a request is JSON");
        let from = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let ConnectInfo(from) = *from.expect("a request comes over a connection");
        let path = parts.uri.to_string();
        let provider = wire::provider(&path);
        let streams = body["stream"] == true || path.contains("streamGenerateContent");
        let headers = parts.headers.iter().map(|(name, value)| {
            let value = value.to_str().expect("a header is text");
            (name.to_string(), value.to_owned())
        });
        let returned = wire::returned(provider, &body);
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(Asked {
                headers: headers.collect(),
                path,
                body,
                from,
            });
            asked.len() - 1
        };
        let answer = self.judged(script(number), provider, &returned);
        Ok(self.respond(answer, provider, streams).await)
    }

    /// The answer, unless the request lacks the reasoning of a reply, or has another.
    fn judged(&self, answer: Answer, provider: Provider, returned: &[Value]) -> Answer {
        let mut reasoned = self.reasoned.lock().unwrap();
        if returned != *reasoned {
            let message = format!("the conversation lacks its reasoning: {returned:?}");
            return status(400, &[], &message);
        }
        if let Answer::Reasons(thought, _) = &answer {
            reasoned.push(wire::reasoning(provider, thought));
        }
        answer
    }

    async fn respond(&self, answer: Answer, provider: Provider, streams: bool) -> Response {
        let whole = |text: String| {
            Response::builder()
                .header("content-type", "application/json")
                .body(Body::from(text))
                .expect("a response")
        };
        match answer {
            Answer::Says(_) | Answer::Calls(_) | Answer::Reasons(..) if streams => {
                let events = wire::events(provider, &answer);
                self.stream(events.into_iter().map(Piece::Send).collect())
            }
            Answer::Says(_) | Answer::Calls(_) | Answer::Reasons(..) => {
                whole(wire::whole(provider, &answer))
            }
            Answer::Raw(status, headers, body) => {
                let mut response = Response::builder().status(status);
                for (name, value) in headers {
                    response = response.header(name, value);
                }
                response.body(Body::from(body)).expect("a response")
            }
            Answer::Events(pieces) => self.stream(pieces),
            Answer::Silence => {
                let _left = Left(Some(Arc::clone(&self.left)));
                std::future::pending().await
            }
        }
    }

    fn stream(&self, pieces: Vec<Piece>) -> Response {
        let left = Left(Some(Arc::clone(&self.left)));
        let body = stream_with(|emitter| async move {
            for piece in pieces {
                match piece {
                    Piece::Send(text) => emitter.emit(Ok(text)).await,
                    Piece::Wait(wait) => tokio::time::sleep(wait).await,
                    Piece::Break => {
                        // So that what was sent before leaves this machine first.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        emitter.emit(Err(io::Error::other("broken"))).await;
                    }
                    Piece::Hang => std::future::pending().await,
                }
            }
            left.disarm();
        });
        Response::builder()
            .header("content-type", "text/event-stream")
            .body(Body::from_stream(body))
            .expect("a response")
    }
}

/// Dropped with something inside: the client has gone.
struct Left(Option<Arc<AtomicUsize>>);

impl Left {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if let Some(count) = self.0.take() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }
}
