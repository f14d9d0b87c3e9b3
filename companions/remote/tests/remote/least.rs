//! An executor of another hand says no more of an end than it must.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Safeguards};
use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::plain::Doorway;
use crate::raw::{Next, handshake};
use crate::tools::{Tested, registry};

const SOON: Duration = Duration::from_secs(30);

/// What comes of a call whose end is told with these fields and its `tool_id`, and whether one of them was a fault.
async fn ended(fields: Value) -> Result<(Outcome, bool), Box<dyn std::error::Error>> {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    let door = Doorway::of(backend.safeguards(Safeguards::off())).await?;
    let mut raw = door.enter().await?;
    raw.say(handshake(&door.task, &["echo"], &json!([])).to_string())
        .await?;
    let session = timeout(SOON, door.task.attached()).await??;
    let call = tokio::spawn({
        let tools = session.registry().clone();
        async move {
            let call = ToolCall::new("1", "echo", r#"{"text":"x"}"#);
            tools.call(call).await
        }
    });
    let mut has_fault = false;
    loop {
        match raw.next().await {
            Next::Message(message) if message["type"] == "run_tool" => {
                let mut payload = fields.clone();
                payload["tool_id"] = message["payload"]["tool_id"].clone();
                raw.say(json!({"type": "tool_result", "payload": payload}).to_string())
                    .await?;
            }
            Next::Message(message) if message["type"] == "ack" => {
                // It names the attempt that the result did not.
                assert_eq!(message["payload"]["attempt"], 1, "{message}");
                break;
            }
            Next::Message(message) => has_fault |= message["type"] == "fault",
            end => return Err(format!("{end:?}").into()),
        }
    }
    Ok((timeout(SOON, call).await??, has_fault))
}

#[tokio::test]
async fn a_call_a_status_and_a_text_are_enough_for_a_result() -> Tested {
    let (outcome, has_fault) = ended(json!({"status": "success", "result": "done"})).await?;
    assert_eq!(outcome.output(), Some("done"), "{outcome:?}");
    assert!(!has_fault);
    let fields = json!({"status": "success", "result": "done", "error": null});
    assert!(ended(fields).await?.0.is_ok());

    let (outcome, has_fault) = ended(json!({"status": "error", "error": "no disk"})).await?;
    assert_eq!(outcome.status(), Status::Failed, "{outcome:?}");
    assert_eq!(outcome.error(), Some("no disk"));
    assert!(!has_fault);
    let fields = json!({"status": "error", "result": null, "error": "no disk"});
    assert_eq!(ended(fields).await?.0.status(), Status::Failed);
    Ok(())
}

/// Without an attempt it is as clear whose end is told.
#[tokio::test]
async fn a_result_that_is_not_understood_ends_its_call_without_an_attempt_too() -> Tested {
    for (fields, why) in [
        (json!({"status": "fine"}), "not understood"),
        (
            json!({"status": "success", "result": {"not": "text"}}),
            "not understood",
        ),
        (
            json!({"status": "success", "outcome": "failed"}),
            "contradicts itself",
        ),
    ] {
        let (outcome, has_fault) = ended(fields).await?;
        assert_eq!(outcome.status(), Status::Failed, "{outcome:?}");
        let told = outcome.error().unwrap_or_default();
        assert!(
            told.starts_with("unknown outcome") && told.contains(why),
            "{told}"
        );
        assert!(has_fault);
    }
    Ok(())
}
