use std::sync::Arc;
use std::time::Duration;

use contract_runtime::remote::Backend;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::raw::{Next, Raw, handshake};
use crate::tools::{Tested, registry};

#[tokio::test]
async fn only_the_token_of_the_task_in_the_header_opens_the_door() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, other) = (backend.task(), backend.task());
    let address = task.address();
    let right = task.token().to_owned();
    let bearer = |token: &str| vec![("authorization", format!("Bearer {token}"))];
    let cases = [
        (address.clone(), vec![], 401),
        (address.clone(), bearer(""), 401),
        (address.clone(), bearer(other.token()), 401),
        (address.clone(), bearer(&right[1..]), 401),
        (address.clone(), bearer(&format!("{right}0")), 401),
        (address.clone(), vec![("authorization", right.clone())], 401),
        (format!("{address}?token={right}"), vec![], 401),
        (
            address.replace(
                &task.id().to_string(),
                "00000000-0000-4000-8000-000000000000",
            ),
            bearer(&right),
            401,
        ),
        (address.replace("/executor/", "/"), bearer(&right), 401),
        (
            address.clone(),
            [
                bearer(&right),
                vec![("origin", "http://127.0.0.1".to_owned())],
            ]
            .concat(),
            403,
        ),
    ];
    for (address, headers, status) in cases {
        match Raw::dial(&address, &headers).await {
            Err(Error::Http(response)) => assert_eq!(response.status(), status, "{headers:?}"),
            other => return Err(format!("{headers:?}: {:?}", other.is_ok()).into()),
        }
    }
    assert!(Raw::enter(&task).await.is_ok());
    Ok(())
}

#[tokio::test]
async fn a_half_sent_header_is_not_waited_for() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let task = backend.task();
    let host = task.address();
    let host = host
        .trim_start_matches("ws://")
        .split('/')
        .next()
        .unwrap_or_default();
    let mut stream = TcpStream::connect(host).await?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").await?;
    let mut answer = Vec::new();
    timeout(Duration::from_secs(30), stream.read_to_end(&mut answer)).await??;
    Ok(())
}

#[tokio::test]
async fn a_first_message_that_is_no_handshake_ends_the_connection() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let task = backend.task();
    let other_task = handshake(&backend.task(), &[], &json!([]));
    let mut version = handshake(&task, &[], &json!([]));
    version["payload"]["protocol"] = json!(2);
    let cases = [
        ("not json".to_owned(), 1002),
        ("[]".to_owned(), 1002),
        (r#"{"type":"ping"}"#.to_owned(), 1002),
        (r#"{"type":"open_sesame","payload":{}}"#.to_owned(), 1002),
        (r#"{"type":"handshake","payload":{}}"#.to_owned(), 1002),
        (version.to_string(), 1008),
        (other_task.to_string(), 1008),
    ];
    for (text, code) in cases {
        let mut raw = Raw::enter(&task).await?;
        raw.say(text.clone()).await?;
        match raw.next().await {
            Next::Closed(closed, reason) => assert_eq!(closed, code, "{text}: {reason}"),
            next => return Err(format!("{text}: {next:?}").into()),
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_is_too_large_is_closed_with_1009_and_faults_with_1002() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let task = backend.task();
    let mut raw = Raw::enter(&task).await?;
    raw.say(handshake(&task, &["halve"], &json!([])).to_string())
        .await?;
    assert!(matches!(raw.next().await, Next::Message(_)));
    for _ in 0..2 {
        raw.say(r#"{"type":"never_heard"}"#).await?;
    }
    raw.say(r#"{"type":"ping"}"#).await?;
    assert_eq!(raw.next().await, Next::Message(json!({"type": "pong"})));
    raw.say("{").await?;
    assert!(matches!(raw.next().await, Next::Closed(1002, _)));

    let mut raw = Raw::enter(&task).await?;
    raw.say(handshake(&task, &["halve"], &json!([])).to_string())
        .await?;
    assert!(matches!(raw.next().await, Next::Message(_)));
    // The other side may close before all of it is written.
    let _ = raw.send(Message::text("x".repeat((8 << 20) + 1))).await;
    assert!(matches!(
        raw.next().await,
        Next::Closed(1009, _) | Next::Gone
    ));
    Ok(())
}

#[tokio::test]
async fn a_later_executor_takes_over_and_the_earlier_one_stays_out() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let task = backend.task();
    let shake = |epoch: u64| {
        let mut shake = handshake(&task, &["halve"], &json!([]));
        shake["payload"]["epoch"] = json!(epoch);
        shake.to_string()
    };
    let epoch = |next: Next| match next {
        Next::Message(answer) => answer["payload"]["epoch"].as_u64(),
        _ => None,
    };
    let mut first = Raw::enter(&task).await?;
    first.say(shake(0)).await?;
    assert_eq!(epoch(first.next().await), Some(1));
    let mut second = Raw::enter(&task).await?;
    second.say(shake(0)).await?;
    assert_eq!(epoch(second.next().await), Some(2));
    let over = Next::Closed(1008, "another executor has taken over".to_owned());
    assert_eq!(first.next().await, over);
    let mut again = Raw::enter(&task).await?;
    again.say(shake(1)).await?;
    assert_eq!(again.next().await, over, "with the epoch it had");
    let mut resumed = Raw::enter(&task).await?;
    resumed.say(shake(2)).await?;
    assert_eq!(epoch(resumed.next().await), Some(3));
    assert!(task.attached().await.is_ok());
    Ok(())
}
