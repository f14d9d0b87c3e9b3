//! Random replies.

use contract_runtime::{Artifact, Content};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{key, outcome};
use crate::protocol::{CallId, ToolReply, read, write};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,20}", "[\u{0}-\u{1f}\"\\\\]{0,20}"]
}

proptest! {
    #[test]
    fn any_result_arrives_as_it_was(
        content in any_text().prop_flat_map(|text| {
            let json = Content::json(&Value::from(text.clone()));
            prop_oneof![Just(Content::text(text)), Just(json)]
        }),
        files in prop::collection::vec(("[ -~é𝄞]{0,20}", prop::collection::vec(any::<u8>(), 0..50)), 0..4),
    ) {
        let artifacts = files.into_iter().map(|(kind, data)| Artifact::image(kind, data));
        let content = artifacts.fold(content, Content::with);
        let reply = ToolReply::of(key(), &outcome(Ok(content.clone())));
        let text = write(&reply);
        let came: ToolReply = read(&text, &[]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&came, &reply);
        let came = came.into_content().map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(came, content);
    }

    #[test]
    fn any_reply_is_taken_or_not(mut reply in any_reply()) {
        reply["tool_id"] = json!(CallId::next());
        if let Ok(reply) = serde_json::from_value::<ToolReply>(reply) {
            let contradicts = reply.contradiction().is_some();
            let came = reply.into_content();
            prop_assert!(!(contradicts && came.is_ok()));
        }
    }
}

fn any_reply() -> impl Strategy<Value = Value> {
    let status = prop::sample::select(vec![
        "ok",
        "invalid_arguments",
        "unknown_tool",
        "violation",
        "failed",
        "panicked",
        "timed_out",
        "cancelled",
        "overloaded",
        "other",
    ]);
    let data = prop_oneof![
        Just(json!(null)),
        Just(json!({})),
        Just(json!({"problems": [], "total": 9})),
        any_text().prop_map(Value::from)
    ];
    (status, any::<bool>(), data.clone(), data).prop_map(|(outcome, fine, violation, invalid)| {
        let status = if fine { "success" } else { "error" };
        json!({
            "attempt": 1, "status": status, "outcome": outcome, "violation": violation, "invalid_arguments": invalid,
            "artifacts": [{"type": "image", "media_type": "", "data": outcome}],
        })
    })
}
