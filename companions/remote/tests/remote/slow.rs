//! Peers that take their time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, ConnectionLimits, Executor, Safeguards};
use contract_runtime::prelude::*;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::plain::{Doorway, exchange, lines, parts, status};
use crate::tools::{Tested, house, registry};

/// Longer than anything here is waited for.
const LATE: Duration = Duration::from_secs(30);

async fn doorway() -> Result<Doorway, Box<dyn std::error::Error>> {
    Doorway::of(Backend::new(registry(&Arc::default())?.manifest())).await
}

/// How long the backend kept the line, and what it said.
async fn kept(mut stream: TcpStream, begun: Instant) -> std::io::Result<(Duration, String)> {
    let mut answer = Vec::new();
    // What was sent after the end breaks the line rather than ending it.
    let _ = timeout(LATE, stream.read_to_end(&mut answer)).await?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    Ok((begun.elapsed(), answer))
}

#[tokio::test]
async fn a_header_has_five_seconds_however_it_comes() -> Tested {
    let door = doorway().await?;
    let beginnings = [
        "",
        "G",
        "GET / HTTP/1.1\r\nHost: x\r\n",
        "GET / HTTP/1.1\r\nX: ",
    ];
    for beginning in beginnings {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(&door.host).await?;
        stream.write_all(beginning.as_bytes()).await?;
        let (time, answer) = kept(stream, begun).await?;
        assert!(
            time >= Duration::from_millis(4_500),
            "{beginning:?}: {time:?}"
        );
        assert!([0, 408].contains(&status(&answer)), "{answer}");
    }
    // A byte now and then is no reason to wait.
    let begun = Instant::now();
    let (reading, mut writing) = TcpStream::connect(&door.host).await?.into_split();
    let drip = async {
        while writing.write_all(b"G").await.is_ok() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    let reading = async {
        let mut reading = reading;
        let mut rest = Vec::new();
        let _ = reading.read_to_end(&mut rest).await;
    };
    let ended = timeout(LATE, async {
        tokio::select! {
            () = drip => {}
            () = reading => {}
        }
    });
    ended.await?;
    assert!(begun.elapsed() >= Duration::from_millis(4_500));
    Ok(())
}

#[tokio::test]
async fn an_executor_that_says_nothing_has_ten_seconds() -> Tested {
    let door = doorway().await?;
    let begun = Instant::now();
    let mut stream = TcpStream::connect(&door.host).await?;
    let request = door.lines().join("\r\n") + "\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    // A message that begins and does not end is none.
    stream.write_all(&[0x01, 0xff, 0, 0, 0]).await?;
    let (time, answer) = kept(stream, begun).await?;
    assert_eq!(status(&answer), 101);
    assert!(time >= Duration::from_secs(9), "{time:?}");
    assert!(answer.contains("no handshake arrived"), "{answer}");
    Ok(())
}

#[tokio::test]
async fn a_thousand_half_open_sockets_hold_up_nobody() -> Tested {
    let house = house(registry(&Arc::default())?).await?;
    let (task, token) = house.backend.task().await?;
    let (host, path) = parts(task.address());
    let mut half = JoinSet::new();
    for _ in 0..1_000 {
        let host = host.clone();
        half.spawn(async move {
            let begun = Instant::now();
            let mut stream = TcpStream::connect(&host).await?;
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").await?;
            kept(stream, begun).await
        });
    }
    while house.backend.state().connections < 500 {
        sleep(Duration::from_millis(10)).await;
    }
    for n in 0..50 {
        let call = ToolCall::new("1", "halve", format!(r#"{{"number":{}}}"#, 2 * n));
        let outcome = timeout(LATE, house.session.registry().call(call)).await?;
        assert_eq!(outcome.output(), Some(&*n.to_string()));
    }
    let answer = exchange(&host, &lines(&path, token.reveal())).await?;
    assert_eq!(status(&answer), 101, "{answer}");
    let ended = timeout(LATE, half.join_all()).await?;
    assert_eq!(ended.len(), 1_000);
    assert!(ended.iter().all(Result::is_ok));
    let gone = async {
        while house.backend.state().connections > 1 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LATE, gone).await?;
    assert_eq!(house.backend.state().rejections.silent, 1_000);
    Ok(())
}

#[tokio::test]
async fn an_executor_that_stops_reading_is_dropped_and_slows_down_no_other() -> Tested {
    let mut limits = ConnectionLimits::default();
    limits.unread = Duration::from_secs(3);
    let backend = Backend::new(registry(&Arc::default())?.manifest())
        .connection_limits(limits)
        .safeguards(Safeguards::off())
        .grace(Duration::from_secs(1));
    let door = Doorway::of(backend).await?;
    let (task, token) = door.backend.task().await?;
    let good = Executor::new(registry(&Arc::default())?).connect(task.address(), token);
    let session = timeout(LATE, task.attached()).await??;

    let deaf = TcpSocket::new_v4()?;
    deaf.set_recv_buffer_size(8 << 10)?;
    let deaf = deaf.connect(door.host.parse()?).await?;
    let deaf = door.attach(deaf, &["echo"]).await?;
    let flooded = timeout(LATE, door.task.attached()).await??;
    // 15 MB: more than the system keeps for one socket (4 MiB on Linux), and more calls than the queue holds.
    let arguments = json!({ "text": "x".repeat(150_000) }).to_string();
    let mut calls = JoinSet::new();
    for _ in 0..100 {
        let tools = flooded.registry().clone();
        let call = ToolCall::new("1", "echo", arguments.clone());
        calls.spawn(async move { tools.call(call).await });
    }
    let dropped = async {
        while door.backend.state().connections > 1 {
            let call = ToolCall::new("1", "halve", r#"{"number":42}"#);
            let outcome = session.registry().call(call).await;
            assert_eq!(outcome.output(), Some("21"), "beside it");
        }
    };
    timeout(2 * LATE, dropped).await?;
    let ended = timeout(2 * LATE, calls.join_all()).await?;
    assert!(ended.iter().all(|outcome| !outcome.is_ok()));
    assert_eq!(door.backend.state().open_calls, 0);
    drop((deaf, good));
    Ok(())
}

#[tokio::test]
async fn a_peer_that_falls_silent_is_taken_for_lost() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend.keep_alive(Duration::from_millis(500))).await?;
    // One says nothing, the other begins a frame and does not end it.
    for last in ["", "half"] {
        let stream = TcpStream::connect(&door.host).await?;
        let mut stream = door.attach(stream, &["halve"]).await?;
        if last == "half" {
            stream
                .write_all(&[0x81, 0xfe, 0, 200, 0, 0, 0, 0, b'{'])
                .await?;
        }
        let begun = Instant::now();
        let (time, _) = kept(stream, begun).await?;
        assert!(time >= Duration::from_millis(900), "{time:?}");
    }
    Ok(())
}
