use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::line::SHORT;
use super::tools::within;
use super::web::Server;

#[tokio::test]
async fn a_server_that_is_stopped_answers_what_it_has_taken() {
    let (server, seen) = Server::with(|server| server);
    // One that is only open, and a stream that says nothing: neither is waited for.
    let _idle = server.connect().await;
    let session = server.session().await.ok().unwrap();
    let mut stream = server.connect().await;
    let listen = format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n",
        server.address
    );
    stream.write_all(listen.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    within(stream.read_exact(&mut first)).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut asking = server.connect().await;
    let text = server.july_text("tools/call", json!({"name": "wait"}), "");
    asking.write_all(text.as_bytes()).await.unwrap();
    seen.begun().await;
    server.stop.cancel();
    // It takes nobody any more.
    within(async {
        while tokio::net::TcpStream::connect(server.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    seen.0.go.notify_one();
    let mut answer = String::new();
    within(asking.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.contains("gone"), "{answer}");
    within(server.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_server_that_is_stopped_cancels_what_goes_on_for_too_long() {
    for name in ["wait", "block"] {
        let (server, seen) = Server::with(|server| server.grace(SHORT));
        let mut asking = server.connect().await;
        let text = server.july_text("tools/call", json!({"name": name}), "");
        asking.write_all(text.as_bytes()).await.unwrap();
        seen.begun().await;
        server.stop.cancel();
        seen.dropped().await;
        let mut answer = String::new();
        within(asking.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.contains("\"cancelled\""), "{answer}");
        within(server.served).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_dropped_stops_at_once() {
    let (server, seen) = Server::with(|server| server);
    let mut asking = server.connect().await;
    let text = server.july_text("tools/call", json!({"name": "wait"}), "");
    asking.write_all(text.as_bytes()).await.unwrap();
    seen.begun().await;
    server.served.abort();
    seen.dropped().await;
}
