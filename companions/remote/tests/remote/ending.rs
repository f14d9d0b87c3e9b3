//! The end of a backend in good order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract_manifest::ToManifest as _;
use contract_remote::Backend;
use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use tokio::time::timeout;

use crate::plain::{Doorway, exchange, header, status};
use crate::raw::{Next, handshake};
use crate::tools::{Signals, Tested, house, registry};

const LATE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_shutdown_waits_for_calls_and_begins_none() -> Tested {
    let signals = Arc::new(Signals::default());
    let house = house(registry(&signals)?).await?;
    let tools = house.session.registry().clone();
    let (begin, end) = (tools.clone(), CancellationToken::new());
    let context = Context::new().cancellation(end.clone());
    let call = tokio::spawn(async move {
        begin
            .call(ToolCall::new("1", "wait", ""))
            .context(context)
            .await
    });
    timeout(LATE, signals.begun.notified()).await?;
    assert_eq!(house.backend.state().open_calls, 1);
    assert_eq!(house.backend.state().attached, 1);

    let mut shutdown = Box::pin(house.backend.shutdown(Duration::from_secs(3600)));
    tokio::select! {
        () = &mut shutdown => return Err("it did not wait for the call".into()),
        () = tokio::time::sleep(Duration::from_millis(200)) => {}
    }
    assert!(house.backend.state().shutting_down);
    let (task, token) = house.backend.task().await?;
    let (host, path) = crate::plain::parts(task.address());
    let answer = exchange(&host, &crate::plain::lines(&path, token.reveal())).await?;
    assert_eq!(status(&answer), 503, "{answer}");
    assert_eq!(header(&answer, "retry-after"), Some("5"));
    assert_eq!(house.backend.state().rejections.shutting_down, 1);
    let late = tools.call(ToolCall::new("2", "halve", r#"{"number":42}"#));
    let late = timeout(LATE, late).await?;
    assert!(!late.is_ok(), "{late:?}");
    assert!(
        late.error().unwrap_or_default().contains("shutting down"),
        "{late:?}"
    );
    assert!(!call.is_finished());
    end.cancel();
    let ended = timeout(LATE, call).await??;
    assert_eq!(ended.status(), Status::Cancelled, "{ended:?}");
    timeout(LATE, shutdown).await?;
    assert_eq!(house.backend.state().open_calls, 0);
    Ok(())
}

#[tokio::test]
async fn a_shutdown_waits_no_longer_than_it_was_told_and_says_goodbye() -> Tested {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend).await?;
    let mut raw = door.enter().await?;
    let shake = handshake(&door.task, &["halve", "wait"], &json!([]));
    raw.say(shake.to_string()).await?;
    assert!(matches!(raw.next().await, Next::Message(_)));
    let session = timeout(LATE, door.task.attached()).await??;
    let tools = session.registry().clone();
    let call = tokio::spawn(async move { tools.call(ToolCall::new("1", "wait", "")).await });
    assert!(
        matches!(raw.next().await, Next::Message(_)),
        "the call is sent"
    );

    let begun = Instant::now();
    let shutdown = timeout(LATE, door.backend.shutdown(Duration::from_millis(300)));
    let (ended, next) = tokio::join!(shutdown, raw.next());
    ended?;
    assert!(begun.elapsed() >= Duration::from_millis(300));
    match next {
        Next::Closed(1001, reason) => assert!(reason.contains("reconnect"), "{reason}"),
        next => return Err(format!("{next:?}").into()),
    }
    // Another shutdown has nothing to do.
    timeout(LATE, door.backend.shutdown(Duration::ZERO)).await?;
    drop(door);
    call.abort();
    Ok(())
}
