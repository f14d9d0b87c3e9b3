//! Tools of a state, and tools that no macro made.

use std::sync::Arc;

use contract_runtime::prelude::*;
use contract_runtime::{DynamicSpec, Hints, Status};
use serde_json::json;

use crate::common::{call, output};

struct Clock(u8);

fn names(registry: &Registry) -> Vec<&str> {
    registry.tools().map(|tool| tool.name()).collect()
}

struct Store(std::sync::Mutex<Vec<i64>>);

#[tool]
impl Store {
    /// Keep a number.
    #[tool(idempotent = false, destructive = false)]
    #[pre(number >= 0)]
    #[post(|length| *length > 0)]
    fn keep(&self, number: i64) -> usize {
        let mut numbers = self.0.lock().unwrap();
        numbers.push(number);
        numbers.len()
    }

    /// Sum the numbers.
    #[tool(read_only, name = "total")]
    async fn sum(&self, #[context] clock: Option<&Clock>) -> i64 {
        tokio::task::yield_now().await;
        let clock = clock.map_or(0, |clock| i64::from(clock.0));
        self.0.lock().unwrap().iter().sum::<i64>() + clock
    }

    /// Never there.
    #[cfg(any())]
    #[tool]
    fn never(&self) {}

    fn plain(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

#[test]
fn the_tools_of_a_state_come_by_value_or_shared() {
    let by_value = Registry::builder()
        .with(Store(std::sync::Mutex::default()))
        .build()
        .unwrap();
    assert_eq!(names(&by_value), ["keep", "total"]);
    assert_eq!(output(&by_value, "keep", r#"{"number":5}"#), "1");
    assert_eq!(output(&by_value, "total", ""), "5");
    let shared = Arc::new(Store(std::sync::Mutex::default()));
    let one = Registry::builder()
        .with(Arc::clone(&shared))
        .build()
        .unwrap();
    let two = Registry::builder()
        .with(Arc::clone(&shared))
        .prefix("two_")
        .with(Store(std::sync::Mutex::default()))
        .context(Clock(100))
        .build()
        .unwrap();
    assert_eq!(output(&one, "keep", r#"{"number":5}"#), "1");
    assert_eq!(output(&two, "two_keep", r#"{"number":6}"#), "2");
    assert_eq!(output(&two, "two_total", ""), "111");
    assert_eq!(output(&two, "total", ""), "100");
    assert_eq!(shared.plain(), 2);
    assert_eq!(
        call(&one, "keep", r#"{"number":-1}"#).status(),
        Status::Violation
    );
    assert_eq!(one.tool("keep").unwrap().hints().destructive, Some(false));
    assert_eq!(one.tool("total").unwrap().hints().read_only, Some(true));
}

#[test]
fn a_dynamic_tool_is_judged_by_its_schema_and_otherwise_like_any_other() {
    let echo = Tool::dynamic(
        DynamicSpec::new("echo", "Repeat a text.")
            .title("Echo")
            .input_schema(json!({
                "type": "object",
                "properties": {
                    "text": {"type": "string", "maxLength": 3},
                    "times": {"type": "integer", "minimum": 1},
                },
                "required": ["text"],
                "additionalProperties": false,
            }))
            .output_schema(json!({"type": "string"}))
            .hints(Hints::default())
            .timeout(std::time::Duration::from_millis(20)),
        |arguments| async move {
            match arguments["text"].as_str() {
                Some("bad") => Err("a bad word"),
                Some("die") => panic!("as asked"),
                Some("...") => std::future::pending().await,
                text => Ok(Content::text(format!(
                    "{} {:?}",
                    text.unwrap_or_default(),
                    arguments.get("times")
                ))),
            }
        },
    );
    let registry = Registry::builder().with(echo).prefix("x_").build().unwrap();
    let ended = |arguments: &str| {
        let outcome = call(&registry, "x_echo", arguments);
        (
            outcome.status(),
            outcome.output().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(
        ended(r#"{"text":"hi","times":2.0}"#),
        (Status::Ok, "hi Some(Number(2))".to_owned())
    );
    assert_eq!(
        ended(r#"{"text":"hi"}"#),
        (Status::Ok, "hi None".to_owned())
    );
    for wrong in [
        r#"{"text":"long"}"#,
        r#"{"text":"a","times":0}"#,
        "{}",
        r#"{"text":"a","b":1}"#,
    ] {
        assert_eq!(ended(wrong).0, Status::InvalidArguments, "{wrong}");
    }
    assert_eq!(ended(r#"{"text":"bad"}"#).0, Status::Failed);
    assert_eq!(ended(r#"{"text":"die"}"#).0, Status::Panicked);
    assert_eq!(ended(r#"{"text":"..."}"#).0, Status::TimedOut);
    let tool = registry.tool("x_echo").unwrap();
    assert_eq!(tool.title(), Some("Echo"));
    assert!(tool.location().contains("kinds.rs:"));
    assert_eq!(tool.output_schema(), Some(&json!({"type": "string"})));
}
