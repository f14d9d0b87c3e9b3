use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::line::SHORT;
use super::tools::within;
use super::web::Server;

#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let (server, _) = Server::with(|server| {
        server
            .allow_host("tools.example.com")
            .allow_origin("https://app.example.com/")
    });
    let port = server.address.port();
    let text = server.july_text("tools/call", json!({"name": "point"}), "");
    let at = format!("Host: {}\r\n", server.address);
    for (headers, status) in [
        ("Host: localhost\r\n".to_owned(), 200),
        ("Host: LOCALHOST:1\r\n".to_owned(), 200),
        ("Host: [::1]:80\r\n".to_owned(), 200),
        ("Host: tools.example.com:8443\r\n".to_owned(), 200),
        ("Host: evil.example.com\r\n".to_owned(), 403),
        ("Host: localhost.evil.example.com\r\n".to_owned(), 403),
        ("Host: localhost@evil.example.com\r\n".to_owned(), 403),
        ("Host: evil.example.com@localhost\r\n".to_owned(), 403),
        ("Host: 127.0.0.1.nip.example\r\n".to_owned(), 403),
        ("Host: \r\n".to_owned(), 400),
        (String::new(), 400),
        (
            "Host: localhost\r\nHost: evil.example.com\r\n".to_owned(),
            400,
        ),
        (format!("{at}Origin: http://{}\r\n", server.address), 200),
        (format!("{at}Origin: https://app.example.com\r\n"), 200),
        (
            format!("{at}Origin: http://127.0.0.1:{}\r\n", port.wrapping_add(1)),
            403,
        ),
        (format!("{at}Origin: https://{}\r\n", server.address), 403),
        (format!("{at}Origin: null\r\n"), 403),
        (format!("{at}Origin: http://evil.example.com\r\n"), 403),
        (format!("{at}Origin: \r\n"), 403),
        (
            format!(
                "{at}Origin: http://{0}\r\nOrigin: http://evil.example.com\r\n",
                server.address
            ),
            403,
        ),
        (
            format!(
                "Host: tools.example.com\r\nOrigin: http://{}\r\n",
                server.address
            ),
            403,
        ),
    ] {
        let answer = server.raw(text.replace(&at, &headers).as_bytes()).await;
        assert_eq!(
            answer.status, status,
            "{headers:?} {} {}",
            answer.head, answer.body
        );
    }
}

#[tokio::test]
async fn a_host_in_the_target_is_judged_too() {
    let (server, _) = Server::with(|server| server);
    let text = server.july_text("tools/call", json!({"name": "point"}), "");
    for (target, status) in [
        ("http://localhost/mcp", 200),
        ("http://evil.example.com/mcp", 403),
    ] {
        let text = text.replacen(" /mcp ", &format!(" {target} "), 1);
        assert_eq!(server.raw(text.as_bytes()).await.status, status, "{target}");
    }
}

#[tokio::test]
async fn there_is_one_path_and_three_methods() {
    let (server, _) = Server::with(|server| server);
    for (line, status) in [
        ("GET / HTTP/1.1", 404),
        ("GET /mcp/ HTTP/1.1", 404),
        ("POST /MCP HTTP/1.1", 404),
        ("GET /mcp/../mcp HTTP/1.1", 404),
        ("PUT /mcp HTTP/1.1", 405),
        ("OPTIONS /mcp HTTP/1.1", 405),
        ("GET /mcp HTTP/1.1", 406),
        ("DELETE /mcp HTTP/1.1", 400),
        ("POST /mcp HTTP/1.1\r\nContent-Length: 0", 400),
        ("nonsense", 400),
    ] {
        let text = format!(
            "{line}\r\nHost: {}\r\nConnection: close\r\n\r\n",
            server.address
        );
        let answer = server.raw(text.as_bytes()).await;
        assert_eq!(
            answer.status, status,
            "{line}: {} {}",
            answer.head, answer.body
        );
    }
    server.lives().await;
}

#[tokio::test]
async fn what_is_no_message_is_refused() {
    let (server, _) = Server::with(|server| server);
    let session = server.session().await.ok().unwrap();
    let headers = format!("Mcp-Session-Id: {session}\r\n");
    for (body, code) in [
        ("garbage", -32700),
        (r#"{"jsonrpc":"2.0"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"point","arguments":[]}}"#,
            -32602,
        ),
    ] {
        let answer = server.raw(server.post(&headers, body).as_bytes()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert_eq!(answer.json()["error"]["code"], code, "{body}");
    }
    server.lives().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_whether_or_not_it_says_so() {
    let (server, _) = Server::with(|server| server.message_bytes(10_000));
    let large = server.post("", &"x".repeat(10_001));
    assert_eq!(server.raw(large.as_bytes()).await.status, 413);
    // It is refused by what it says, before anything of it has come.
    let says = large.replace("Content-Length: 10001", "Content-Length: 99999999999");
    let head = says.split_once("\r\n\r\n").unwrap().0;
    let answer = server.raw(format!("{head}\r\n\r\n").as_bytes()).await;
    assert_eq!(answer.status, 413);
    let head = head.replace("Content-Length: 99999999999", "Transfer-Encoding: chunked");
    let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1000));
    let chunks = format!("{head}\r\n\r\n{}", chunk.repeat(11));
    assert_eq!(server.raw(chunks.as_bytes()).await.status, 413);
    server.lives().await;
}

/// Slow clients hold the places of a server for as long as it is patient, and no longer.
#[tokio::test]
async fn slow_clients_do_not_hold_the_server() {
    let (server, _) = Server::with(|server| server.patience(SHORT).connections(4));
    let post = server.post("", "{}");
    let half = post.len() / 2;
    let mut slow = Vec::new();
    for sent in ["", "POST", &post[..half], &post[..post.len() - 1]] {
        let mut stream = server.connect().await;
        stream.write_all(sent.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    server.lives().await;
    for mut stream in slow {
        let mut rest = Vec::new();
        // Closed, or answered with a timeout and closed.
        let _ = within(stream.read_to_end(&mut rest)).await;
        let rest = String::from_utf8_lossy(&rest);
        assert!(
            rest.is_empty() || rest.contains(" 408 ") || rest.contains(" 400 "),
            "{rest}"
        );
    }
}

#[tokio::test]
async fn a_connection_that_asks_nothing_more_is_closed() {
    let (server, _) = Server::with(|server| server.patience(SHORT));
    let mut stream = server.connect().await;
    let text = server
        .july_text("tools/call", json!({"name": "point"}), "")
        .replace("Connection: close", "Connection: keep-alive");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut all = String::new();
    within(stream.read_to_string(&mut all)).await.unwrap();
    assert!(all.contains(" 200 OK"), "{all}");
}

#[tokio::test]
async fn a_client_that_does_not_read_loses_its_connection() {
    let (server, seen) = Server::with(|server| server.patience(SHORT).connections(1));
    let mut stream = server.connect().await;
    let call = server
        .july_text(
            "tools/call",
            json!({"name": "long", "arguments": {"letters": 90_000}}),
            "",
        )
        .replace("Connection: close", "Connection: keep-alive");
    // Far more than the buffers of the system hold, and nothing of it is read.
    let asking = async {
        loop {
            if stream.write_all(call.as_bytes()).await.is_err() {
                break;
            }
        }
    };
    within(asking).await;
    drop(stream);
    server.lives().await;
    drop(seen);
}

#[tokio::test]
async fn a_client_that_has_closed_its_half_has_left() {
    let (server, seen) = Server::with(|server| server);
    let mut stream = server.connect().await;
    let text = server.july_text("tools/call", json!({"name": "wait"}), "");
    stream.write_all(text.as_bytes()).await.unwrap();
    seen.begun().await;
    stream.shutdown().await.unwrap();
    seen.dropped().await;
    server.lives().await;
}

#[tokio::test]
async fn a_thousand_connections_are_served_in_their_turn() {
    let (server, _) = Server::with(|server| server.connections(16));
    let mut answers = tokio::task::JoinSet::new();
    let text = server.july_text("tools/call", json!({"name": "point"}), "");
    for _ in 0..1000 {
        let (address, text) = (server.address, text.clone());
        answers.spawn(async move {
            let mut all = String::new();
            // A machine that is short of ports or places for connections may refuse; it is tried again.
            for _ in 0..100 {
                let Ok(mut stream) = tokio::net::TcpStream::connect(address).await else {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                };
                let sent = stream.write_all(text.as_bytes()).await;
                if sent.is_ok() && stream.read_to_string(&mut all).await.is_ok() && !all.is_empty()
                {
                    break;
                }
                all.clear();
            }
            all
        });
    }
    let mut whole = 0;
    while let Some(all) = within(answers.join_next()).await {
        whole += usize::from(all.unwrap().contains("\"x\":1"));
    }
    assert_eq!(whole, 1000);
}

#[tokio::test]
async fn a_long_answer_arrives_whole() {
    let (server, _) = Server::with(|server| server);
    let answer = server
        .july("tools/call", json!({"name": "hoard"}), "")
        .await;
    assert_eq!(answer.status, 200);
    let answer = server
        .july(
            "tools/call",
            json!({"name": "long", "arguments": {"letters": 99_000}}),
            "",
        )
        .await;
    let text: Value = answer.json()["result"]["content"][0]["text"].clone();
    assert_eq!(text.as_str().unwrap().len(), 99_000);
}
