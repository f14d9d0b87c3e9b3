//! A client that was away fetches what it has missed.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::line::SHORT;
use super::tools::{Seen, within};
use super::web::{Answer, Server, call};

/// Reads until something is there.
pub(crate) async fn until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut heard = String::new();
    let mut piece = [0; 4096];
    within(async {
        while !heard.contains(wanted) {
            let read = stream.read(&mut piece).await.unwrap();
            assert_ne!(read, 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    })
    .await;
    heard
}

/// Whether something is heard before it is quiet.
pub(crate) async fn quiet(stream: &mut TcpStream, request: &str, wanted: &str) -> bool {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut heard = until(stream, "id: 0").await;
    let mut piece = [0; 4096];
    while let Ok(Ok(read)) = tokio::time::timeout(SHORT, stream.read(&mut piece)).await
        && read > 0
    {
        heard.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    heard.contains(wanted)
}

/// Begins a call and goes away as soon as its stream has begun; returns the id of its first event.
async fn left(server: &Server, seen: &Seen, session: &str, id: u32) -> String {
    let mut stream = server.connect().await;
    let headers = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
    let text = server.post(&headers, &call(id, "wait").to_string());
    stream.write_all(text.as_bytes()).await.unwrap();
    seen.begun().await;
    let heard = until(&mut stream, "\nid: ").await;
    let (_, id) = heard.split_once("\nid: ").unwrap();
    id.lines().next().unwrap().trim().to_owned()
}

fn get(server: &Server, session: &str, last: &str) -> String {
    format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: text/event-stream\r\n\
         MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\nLast-Event-ID: {last}\r\n\r\n",
        server.address
    )
}

/// Everything of a stream that ends.
async fn fetch(server: &Server, session: &str, last: &str) -> Answer {
    server.raw(get(server, session, last).as_bytes()).await
}

#[tokio::test]
async fn an_answer_that_came_while_its_client_was_away_can_be_fetched() {
    let (server, seen) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let last = left(&server, &seen, &session, 5).await;
    seen.0.go.notify_one();
    seen.dropped().await;
    // Several times, because a client may be unlucky several times.
    for away in [300, 2_000, 5_000, 50_000] {
        tokio::time::pause();
        tokio::time::advance(Duration::from_millis(away)).await;
        tokio::time::resume();
        let answer = fetch(&server, &session, &last).await;
        assert_eq!(answer.status, 200);
        let answer = answer.json();
        assert_eq!(answer["id"], 5, "{answer}");
        assert_eq!(answer["result"]["content"][0]["text"], "gone");
    }
}

#[tokio::test]
async fn an_answer_that_is_still_to_come_is_waited_for() {
    let (server, seen) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let last = left(&server, &seen, &session, 5).await;
    let mut stream = server.connect().await;
    stream
        .write_all(get(&server, &session, &last).as_bytes())
        .await
        .unwrap();
    until(&mut stream, "200 OK").await;
    seen.0.go.notify_one();
    let heard = until(&mut stream, "gone").await;
    assert!(heard.contains(r#""id":5"#), "{heard}");
    // What has been read to its end has nothing more.
    let (_, end) = heard.rsplit_once("id: ").unwrap();
    let end = end.lines().next().unwrap().trim();
    let nothing = fetch(&server, &session, end).await;
    assert_eq!((nothing.status, &*nothing.body), (200, ""));
}

#[tokio::test]
async fn nobody_fetches_the_answers_of_another_session() {
    let (server, seen) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let other = server.session().await.ok().unwrap();
    let last = left(&server, &seen, &session, 5).await;
    seen.0.go.notify_one();
    seen.dropped().await;
    for last in [&*last, "1000000", "-1", "x", "1/0"] {
        let answer = fetch(&server, &other, last).await;
        assert_eq!((answer.status, &*answer.body), (200, ""), "{last}");
    }
    assert!(fetch(&server, &session, &last).await.body.contains("gone"));
    let delete = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nMcp-Session-Id: {session}\r\n\r\n",
        server.address
    );
    assert_eq!(server.raw(delete.as_bytes()).await.status, 204);
    assert_eq!(fetch(&server, &session, &last).await.status, 404);
}

#[tokio::test]
async fn what_is_kept_is_bounded() {
    let (server, seen) = Server::with(|server| server.kept_bytes(20_000));
    let session = server.session().await.ok().unwrap();
    let last = left(&server, &seen, &session, 5).await;
    seen.0.go.notify_one();
    seen.dropped().await;
    let long = json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call",
        "params": {"name": "long", "arguments": {"letters": 30_000}}});
    // The answer itself arrives, however long it is.
    let answer = server.november(&session, &long).await;
    assert!(answer.body.len() > 30_000);
    let answer = fetch(&server, &session, &last).await;
    assert_eq!((answer.status, &*answer.body), (200, ""));
}

/// Reads until the server ends the stream.
async fn ended(mut stream: TcpStream) {
    let mut rest = Vec::new();
    within(stream.read_to_end(&mut rest)).await.unwrap();
}

#[tokio::test]
async fn a_stream_that_is_opened_again_ends_the_earlier_one() {
    let (server, _) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let resumed = get(&server, &session, "0");
    let plain = resumed.replace("Last-Event-ID: 0\r\n", "");
    let mut before: Option<TcpStream> = None;
    for request in [&resumed, &resumed, &plain, &plain, &resumed] {
        let mut stream = server.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        until(&mut stream, "200 OK").await;
        if let Some(earlier) = before.replace(stream) {
            ended(earlier).await;
        }
    }
}

#[tokio::test]
async fn the_streams_of_one_session_are_few() {
    let (server, seen) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let mut open = Vec::new();
    for id in 1..=17 {
        let last = left(&server, &seen, &session, id).await;
        let mut stream = server.connect().await;
        let request = get(&server, &session, &last);
        stream.write_all(request.as_bytes()).await.unwrap();
        until(&mut stream, "200 OK").await;
        open.push(stream);
    }
    ended(open.remove(0)).await;
    // The others still hear of their answers.
    seen.0.go.notify_waiters();
    for mut stream in open {
        until(&mut stream, "gone").await;
    }
}
