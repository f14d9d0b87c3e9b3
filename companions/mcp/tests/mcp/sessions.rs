use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::web::{Server, call};

#[tokio::test]
async fn a_flood_of_sessions_pushes_out_the_idle_ones() {
    let (server, _) = Server::with(|server| server.sessions(4));
    let first = server.session().await.ok().unwrap();
    let mut last = String::new();
    for _ in 0..50 {
        last = server.session().await.ok().unwrap();
        let answer = server.november(&last, &call(1, "point")).await;
        assert_eq!(answer.status, 200);
    }
    // Its client is told to begin again.
    assert_eq!(server.november(&first, &call(1, "point")).await.status, 404);
    assert_eq!(server.november(&last, &call(1, "point")).await.status, 200);
}

#[tokio::test]
async fn a_session_that_is_busy_stays() {
    let (server, seen) = Server::with(|server| server.sessions(2));
    let mut busy = Vec::new();
    for _ in 0..2 {
        let session = server.session().await.ok().unwrap();
        let mut stream = server.connect().await;
        let headers = format!("Mcp-Session-Id: {session}\r\n");
        let text = server.post(&headers, &call(1, "wait").to_string());
        stream.write_all(text.as_bytes()).await.unwrap();
        seen.begun().await;
        busy.push((session, stream));
    }
    let refused = server.session().await.err().unwrap();
    assert_eq!(refused.status, 503, "{}", refused.head);
    let seconds = refused.header("retry-after").unwrap();
    assert!(seconds.parse::<u32>().is_ok(), "{seconds}");
    assert!(refused.body.contains("try again later"), "{}", refused.body);
    for (session, _) in &busy {
        let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
        assert_eq!(server.november(session, &ping).await.status, 200);
    }
    // Those without a session have nothing to do with it.
    server.lives().await;
}

#[tokio::test]
async fn an_id_that_is_in_use_takes_nobodys_answer() {
    let (server, seen) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let mut stream = server.connect().await;
    let headers = format!("Mcp-Session-Id: {session}\r\n");
    let text = server.post(&headers, &call(1, "wait").to_string());
    stream.write_all(text.as_bytes()).await.unwrap();
    seen.begun().await;
    let refused = server.november(&session, &call(1, "point")).await;
    assert_eq!(refused.status, 400, "{}", refused.head);
    assert!(
        refused.body.contains("the id 1 belongs"),
        "{}",
        refused.body
    );
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(server.november(&session, &cancel).await.status, 202);
    seen.dropped().await;
    assert_eq!(
        server.november(&session, &call(2, "point")).await.status,
        200
    );
}

#[tokio::test]
async fn a_session_that_is_deleted_ends_its_calls_at_once() {
    let (server, seen) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let mut stream = server.connect().await;
    let headers = format!("Mcp-Session-Id: {session}\r\n");
    let text = server.post(&headers, &call(1, "wait").to_string());
    stream.write_all(text.as_bytes()).await.unwrap();
    seen.begun().await;
    let delete = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nMcp-Session-Id: {session}\r\n\r\n",
        server.address
    );
    let answer = server.raw(delete.as_bytes()).await;
    assert!((200..300).contains(&answer.status), "{}", answer.head);
    // From now on the clock moves only when nobody has anything left to do, and then to the next timer.
    tokio::time::pause();
    let deleted = tokio::time::Instant::now();
    seen.dropped().await;
    assert!(
        deleted.elapsed() < Duration::from_secs(1),
        "{:?}",
        deleted.elapsed()
    );
}

#[tokio::test]
async fn a_session_or_a_revision_named_twice_is_refused() {
    let (server, _) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    for twice in [
        format!("Mcp-Session-Id: {session}\r\nMcp-Session-Id: other\r\n"),
        format!(
            "Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\nMCP-Protocol-Version: 2026-07-28\r\n"
        ),
    ] {
        let text = server.post(&twice, &call(1, "point").to_string());
        assert_eq!(server.raw(text.as_bytes()).await.status, 400, "{twice}");
    }
}
