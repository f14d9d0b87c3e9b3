//! First messages, message sizes, and executors that supersede each other.

use std::sync::Arc;

use contract_manifest::ToManifest as _;
use contract_remote::Backend;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::raw::{Next, Raw, handshake};
use crate::tools::{Tested, registry};

#[tokio::test]
async fn a_first_message_that_is_no_handshake_ends_the_connection() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let backend = backend.bind("127.0.0.1:0").await?;
    let (task, token) = backend.task().await?;
    let other_task = handshake(&backend.task().await?.0, &[], &json!([]));
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
        let mut raw = Raw::enter(&task, &token).await?;
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
    let (task, token) = backend.task().await?;
    let mut raw = Raw::enter(&task, &token).await?;
    raw.say(handshake(&task, &["halve"], &json!([])).to_string())
        .await?;
    assert!(matches!(raw.next().await, Next::Message(_)));
    for _ in 0..2 {
        raw.say(r#"{"type":"never_heard"}"#).await?;
    }
    raw.say(r#"{"type":"ping"}"#).await?;
    let fault = "`never_heard` is not a message of protocol 1";
    let fault = json!({"type": "fault", "payload": {"message": fault}});
    assert_eq!(raw.next().await, Next::Message(fault.clone()));
    assert_eq!(raw.next().await, Next::Message(fault));
    assert_eq!(raw.next().await, Next::Message(json!({"type": "pong"})));
    raw.say("{").await?;
    assert!(matches!(raw.next().await, Next::Closed(1002, _)));

    let mut raw = Raw::enter(&task, &token).await?;
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
    let (task, token) = backend.task().await?;
    let shake = |journal: u8, epoch: u64| {
        let mut shake = handshake(&task, &["halve"], &json!([]));
        shake["payload"]["epoch"] = json!(epoch);
        shake["payload"]["journal"] =
            json!(format!("00000000-0000-4000-8000-00000000000{journal}"));
        shake.to_string()
    };
    let epoch = |next: Next| match next {
        Next::Message(answer) => answer["payload"]["epoch"].as_u64(),
        _ => None,
    };
    let mut first = Raw::enter(&task, &token).await?;
    first.say(shake(1, 0)).await?;
    assert_eq!(epoch(first.next().await), Some(1));
    let mut second = Raw::enter(&task, &token).await?;
    second.say(shake(2, 0)).await?;
    assert_eq!(epoch(second.next().await), Some(2));
    let over = Next::Closed(1008, "another executor has taken over".to_owned());
    assert_eq!(first.next().await, over);
    let mut again = Raw::enter(&task, &token).await?;
    again.say(shake(1, 1)).await?;
    assert_eq!(again.next().await, over, "with the epoch it had");
    // The answer that told the second executor its epoch may have been lost.
    for (told, next) in [(2, 3), (2, 4), (0, 5)] {
        let mut resumed = Raw::enter(&task, &token).await?;
        resumed.say(shake(2, told)).await?;
        assert_eq!(epoch(resumed.next().await), Some(next), "told {told}");
    }
    assert!(task.attached().await.is_ok());
    Ok(())
}
