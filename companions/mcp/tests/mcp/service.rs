//! A server as a service in somebody else's HTTP server: below axum, below layers of tower, on plain hyper; and its end.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use contract_mcp::HttpService;
use contract_runtime::{Context, prelude::*};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use super::hooks::{User, who};
use super::line::{SHORT, july};
use super::tools::{Seen, registry, within};
use super::web::{Server, call};

fn service(set: impl FnOnce(contract_mcp::Server) -> contract_mcp::Server) -> (HttpService, Seen) {
    let seen = Seen::default();
    let server = contract_mcp::Server::new(registry(&seen).unwrap());
    (set(server).into_service().unwrap(), seen)
}

/// An axum server on a port of its own.
async fn serve(app: Router) -> Server {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    Server {
        address,
        stop: tokio_util::sync::CancellationToken::new(),
        served: tokio::spawn(async move {
            axum::serve(listener, app).await.unwrap();
            Ok(())
        }),
    }
}

#[tokio::test]
async fn a_service_answers_below_a_path_of_axum() {
    let (service, _) = service(|server| server);
    let api = Router::new().nest_service("/mcp", service.clone());
    let app = Router::new()
        .route("/", get(async || "the host's own page"))
        .route_service("/mcp", service)
        .nest("/api", api);
    let server = serve(app).await;
    server.lives().await;
    let text = server.july_text("tools/call", json!({"name": "point"}), "");
    let nested = text.replacen(" /mcp ", " /api/mcp ", 1);
    let answer = server.raw(nested.as_bytes()).await;
    assert_eq!(answer.status, 200, "{} {}", answer.head, answer.body);
    assert_eq!(answer.json()["result"]["structuredContent"]["x"], 1);
    // A session is one of the service, wherever the service is mounted.
    let session = server.session().await.ok().unwrap();
    let text = server.post(
        &format!("Mcp-Session-Id: {session}\r\n"),
        &call(1, "point").to_string(),
    );
    let nested = text.replacen(" /mcp ", " /api/mcp ", 1);
    assert_eq!(server.raw(nested.as_bytes()).await.status, 200);
    let rebound = nested.replacen(
        &format!("Host: {}", server.address),
        "Host: evil.example",
        1,
    );
    assert_eq!(server.raw(rebound.as_bytes()).await.status, 403);
    let page = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(
        server.raw(page.as_bytes()).await.body,
        "the host's own page"
    );
}

async fn authenticate(mut request: Request, next: Next) -> Response {
    let user = request.headers().get("x-user");
    let Some(user) = user.and_then(|user| user.to_str().ok()) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let user = User(user.to_owned());
    request.extensions_mut().insert(user);
    next.run(request).await
}

#[tokio::test]
async fn a_layer_of_the_host_decides_who_may_ask_and_says_who_it_is() {
    let registry = Registry::builder()
        .tool(who)
        .context_per_call::<User>()
        .build()
        .unwrap();
    let service = contract_mcp::Server::new(registry)
        .context(|call| match call.extension::<User>() {
            Some(user) => Context::new().with(user.clone()),
            None => Context::new(),
        })
        .into_service()
        .unwrap();
    let app = Router::new()
        .nest_service("/mcp", service)
        .layer(from_fn(authenticate));
    let server = serve(app).await;
    let params = || json!({"name": "who"});
    assert_eq!(server.july("tools/call", params(), "").await.status, 401);
    let answer = server.july("tools/call", params(), "x-user: ada\r\n").await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "ada");
    // In a session each request speaks for itself.
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let text = server.post("x-user: ada\r\n", &begin.to_string());
    let answer = server.raw(text.as_bytes()).await;
    let session = answer.header("mcp-session-id").unwrap();
    let headers = format!("Mcp-Session-Id: {session}\r\nx-user: bob\r\n");
    let text = server.post(&headers, &call(1, "who").to_string());
    let answer = server.raw(text.as_bytes()).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "bob");
}

/// A request without a connection: the newer revision, or one of a session.
fn request(message: &Value, headers: &[(&str, &str)]) -> Request<Full<Bytes>> {
    let mut request = Request::post("/")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::from(message.to_string())).unwrap()
}

fn july_call(name: &str) -> Request<Full<Bytes>> {
    let message = july(1, "tools/call", json!({ "name": name }));
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", name),
    ];
    request(&message, &headers)
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

async fn ask(service: &HttpService, request: Request<Full<Bytes>>) -> Answer {
    within(service.clone().oneshot(request)).await.unwrap()
}

async fn text(answer: Answer) -> String {
    let body = within(answer.into_body().collect()).await.unwrap();
    String::from_utf8(body.to_bytes().to_vec()).unwrap()
}

/// The answer to a call that waits, as it comes.
fn waiting(service: &HttpService) -> JoinHandle<(StatusCode, String)> {
    let answer = service.clone().oneshot(july_call("wait"));
    tokio::spawn(async {
        let answer = answer.await.unwrap();
        (answer.status(), text(answer).await)
    })
}

/// A session of the older revision, and the body of its open stream.
async fn session(service: &HttpService) -> (String, BoxBody<Bytes, Infallible>) {
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let answer = ask(service, request(&begin, &[])).await;
    let id = answer.headers()["mcp-session-id"].to_str().unwrap();
    let id = id.to_owned();
    let stream = Request::get("/")
        .header("host", "localhost")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &id)
        .body(Full::default())
        .unwrap();
    let stream = ask(service, stream).await;
    assert_eq!(stream.status(), 200);
    (id, stream.into_body())
}

#[tokio::test]
async fn a_timeout_of_the_host_ends_the_call() {
    let (service, seen) = service(|server| server);
    let limited = tower::timeout::Timeout::new(service.clone(), SHORT);
    assert!(within(limited.oneshot(july_call("wait"))).await.is_err());
    seen.begun().await;
    seen.dropped().await;
    assert_eq!(ask(&service, july_call("point")).await.status(), 200);
}

#[cfg(unix)]
#[tokio::test]
async fn a_service_answers_on_plain_hyper_over_a_unix_socket() {
    use hyper::server::conn::http1;
    use hyper_util::rt::TokioIo;
    use hyper_util::service::TowerToHyperService;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let (service, _) = service(|server| server);
    let name = format!("mcp-{}.sock", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&path);
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let service = TowerToHyperService::new(service);
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let _ = connection.await;
    });
    let mut stream = within(tokio::net::UnixStream::connect(&path))
        .await
        .unwrap();
    let _ = std::fs::remove_file(&path);
    let body = july(1, "tools/call", json!({"name": "point"})).to_string();
    let text = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: point\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(r#""structuredContent":{"x":1"#), "{answer}");
}

#[tokio::test]
async fn sessions_end_when_the_last_clone_is_dropped() {
    let (service, seen) = service(|server| server);
    let (id, stream) = session(&service).await;
    let another = service.clone();
    drop(service);
    let answer = ask(
        &another,
        request(&call(1, "point"), &[("mcp-session-id", &id)]),
    )
    .await;
    assert_eq!(answer.status(), 200);
    // Its body holds the service.
    drop(answer);
    let called = waiting(&another);
    seen.begun().await;
    drop(another);
    // The request that is being answered holds the service.
    seen.0.go.notify_one();
    let (status, answer) = within(called).await.unwrap();
    assert!(status == 200 && answer.contains("gone"), "{answer}");
    within(stream.collect()).await.unwrap();
}

#[tokio::test]
async fn a_shutdown_answers_what_it_has_taken_and_ends_the_sessions() {
    let (service, seen) = service(|server| server);
    let (_, stream) = session(&service).await;
    let called = waiting(&service);
    seen.begun().await;
    let ending = service.clone();
    let ended = tokio::spawn(async move { ending.shutdown().await });
    // The task that ends it begins some time.
    within(async {
        while ask(&service, july_call("point")).await.status() != 503 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(!ended.is_finished());
    seen.0.go.notify_one();
    let (status, answer) = within(called).await.unwrap();
    assert!(status == 200 && answer.contains("gone"), "{answer}");
    within(ended).await.unwrap();
    within(stream.collect()).await.unwrap();
    assert_eq!(ask(&service, july_call("point")).await.status(), 503);
}

#[tokio::test]
async fn a_shutdown_cancels_what_goes_on_for_too_long() {
    let (service, seen) = service(|server| server.grace(SHORT));
    let called = waiting(&service);
    seen.begun().await;
    within(service.shutdown()).await;
    seen.dropped().await;
    let (_, answer) = within(called).await.unwrap();
    assert!(answer.contains("\"cancelled\""), "{answer}");
}

#[tokio::test]
async fn a_service_that_is_closed_ends_everything_at_once() {
    let (service, seen) = service(|server| server.grace(Duration::from_secs(600)));
    let (_, stream) = session(&service).await;
    let called = waiting(&service);
    seen.begun().await;
    service.close();
    seen.dropped().await;
    let _ = within(called).await.unwrap();
    within(stream.collect()).await.unwrap();
    assert_eq!(ask(&service, july_call("point")).await.status(), 503);
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_of_a_service_ends_after_half_an_hour() {
    let (service, _) = service(|server| server);
    let (id, stream) = session(&service).await;
    drop(stream);
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let headers = [("mcp-session-id", id.as_str())];
    let answer = ask(&service, request(&ping, &headers)).await;
    assert_eq!(answer.status(), 200);
    drop(answer);
    tokio::time::sleep(Duration::from_secs(32 * 60)).await;
    let answer = ask(&service, request(&ping, &headers)).await;
    assert_eq!(answer.status(), 404);
}
