//! What is said where no server of the protocol answers at an address.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use contract_mcp::{self, ImportError};

use crate::fake::within;

/// A server of pages that answers like this.
pub(crate) async fn page(
    answer: impl Fn(&HeaderMap) -> Response + Clone + Send + Sync + 'static,
) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(move |request: Request| {
        let answer = answer(request.headers());
        async move { answer }
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn refused(url: &str) -> ImportError {
    within(contract_mcp::import(contract_mcp::http(url)))
        .await
        .map(|_| ())
        .unwrap_err()
}

#[tokio::test]
async fn what_is_no_server_of_the_protocol_is_an_error() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = free.local_addr().unwrap();
    drop(free);
    // A query may hold a key.
    let error = refused(&format!("http://me:secret@{nobody}/mcp?key=secret")).await;
    assert!(matches!(error, ImportError::Unreachable { .. }), "{error}");
    let said = error.to_string();
    let expected = format!("cannot reach `http://{nobody}/mcp`: Connection refused");
    assert!(said.starts_with(&expected), "{said}");
    assert!(!said.contains("secret"), "{said}");

    let html = [("content-type", "text/html; charset=utf-8")];
    let json = [("content-type", "application/json")];
    let events = [("content-type", "text/event-stream")];
    let challenge = [("www-authenticate", "Bearer")];
    let unauthorized = "the server refused the connection with HTTP status 401 (unauthorized); \
                        pass a token that it accepts with `HttpClient::from_config`";
    let pages = [
        (
            (StatusCode::NOT_FOUND, "nothing here").into_response(),
            "the server answered with HTTP status 404 (`nothing here`); check the address of the server",
        ),
        (
            (StatusCode::UNAUTHORIZED, "who are you?").into_response(),
            unauthorized,
        ),
        (
            (StatusCode::UNAUTHORIZED, challenge).into_response(),
            unauthorized,
        ),
        (
            StatusCode::FORBIDDEN.into_response(),
            "the server refused the connection with HTTP status 403 (forbidden); \
             pass a token that it accepts with `HttpClient::from_config`",
        ),
        (
            (StatusCode::INTERNAL_SERVER_ERROR, "broken").into_response(),
            "the server answered with HTTP status 500; its own log may say why",
        ),
        (
            (StatusCode::TOO_MANY_REQUESTS, "slowly").into_response(),
            "the server answered with HTTP status 429; try again later",
        ),
        (
            (events, "data: garbage\n\n").into_response(),
            "the server closed the connection before it had listed its tools; is it a server of the Model Context Protocol?",
        ),
        (
            (html, "<html>welcome</html>").into_response(),
            "this is not a server of the Model Context Protocol: its answer is of type `text/html; charset=utf-8`",
        ),
        (
            (json, r#"{"status": "ok"}"#).into_response(),
            "this is not a server of the Model Context Protocol: its answer is not a JSON-RPC message",
        ),
    ];
    for (answer, expected) in pages {
        let (parts, body) = answer.into_parts();
        let body = axum::body::to_bytes(body, 1_000).await.unwrap();
        let address = page(move |_| {
            let mut answer = body.clone().into_response();
            *answer.status_mut() = parts.status;
            *answer.headers_mut() = parts.headers.clone();
            answer
        })
        .await;
        let error = refused(&format!("http://{address}/mcp")).await;
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn an_address_that_is_no_url_is_said_to_be_none() {
    for (url, expected) in [
        ("hello", " is not an HTTP URL: relative URL without a base"),
        ("", " is not an HTTP URL: relative URL without a base"),
        ("http://", " is not an HTTP URL: empty host"),
        (
            "localhost:1/mcp?key=secret",
            ", `localhost:1/mcp`, is not an HTTP URL: URL scheme is not allowed",
        ),
    ] {
        let error = refused(url).await;
        let expected = format!(
            "the address of the server{expected}; write one such as `http://localhost:8000/mcp`"
        );
        assert_eq!(error.to_string(), expected);
        assert!(matches!(error, ImportError::InvalidUrl { .. }));
    }
}

/// A server that writes these bytes to whoever asks.
async fn raw(answer: &'static [u8]) -> SocketAddr {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer).await;
        }
    });
    address
}

#[tokio::test]
async fn what_speaks_something_else_than_the_url_says_is_told_as_that() {
    let no_http = "what answers there is not HTTP; if it is TLS, write `https://`";
    let no_tls = "what answers there is not TLS; if it is plain HTTP, write `http://`";
    for (scheme, answer, reason) in [
        ("http", &b"\x15\x03\x03\x00\x02\x02\x16"[..], no_http),
        ("http", b"SSH-2.0-OpenSSH\r\n", no_http),
        ("https", b"HTTP/1.1 400 Bad Request\r\n\r\n", no_tls),
    ] {
        let url = format!("{scheme}://{}/mcp", raw(answer).await);
        let expected = format!(
            "cannot reach `{url}`: {reason}; check the address, and that the server is running"
        );
        assert_eq!(refused(&url).await.to_string(), expected);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_quoted() {
    for (answer, expected) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\ncontent-length: 10\r\n\r\nabc"[..],
            "the server answered with HTTP status 400; check the address of the server",
        ),
        (
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\nabc",
            "the server answered with HTTP status 400; check the address of the server",
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\nabc",
            "the server closed the connection before it had listed its tools; is it a server of the Model Context Protocol?",
        ),
    ] {
        let url = format!("http://{}/mcp", raw(answer).await);
        assert_eq!(refused(&url).await.to_string(), expected);
    }
}
