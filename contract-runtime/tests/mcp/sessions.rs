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
    assert!(refused.status >= 500, "{}", refused.head);
    assert!(refused.body.contains("try again later"), "{}", refused.body);
    for (session, _) in &busy {
        let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
        assert_eq!(server.november(session, &ping).await.status, 200);
    }
    // Those without a session have nothing to do with it.
    server.lives().await;
}
