//! What a run keeps of its calls: counts without end, and the last 1,000 records of each tool.

use contract_runtime::prelude::*;
use contract_runtime::{Detection, DynamicSpec, Run};
use serde_json::json;

use super::{find_order, in_run, order, refund_seen, said};

#[tokio::test]
async fn a_question_about_records_that_were_dropped_fails() {
    let registry = Registry::builder()
        .tool(find_order)
        .tool(refund_seen)
        .build()
        .unwrap();
    let run = Run::new();
    for id in 0..1_000 {
        assert!(
            in_run(&registry, &run, order("find_order", &format!("W{id}")))
                .await
                .is_ok()
        );
    }
    let unknown = in_run(&registry, &run, order("refund_seen", "W1000")).await;
    assert_eq!(said(&unknown), "look W1000 up first");
    assert!(
        in_run(&registry, &run, order("refund_seen", "W0"))
            .await
            .is_ok()
    );
    assert!(
        in_run(&registry, &run, order("find_order", "W1000"))
            .await
            .is_ok()
    );
    // What is kept still answers.
    assert!(
        in_run(&registry, &run, order("refund_seen", "W1000"))
            .await
            .is_ok()
    );
    let dropped = in_run(&registry, &run, order("refund_seen", "W0")).await;
    assert_eq!(
        said(&dropped),
        "the run no longer knows all its calls of `find_order`, of which it keeps 1000; begin a new run"
    );
    assert_eq!(
        dropped.violation().unwrap().detection,
        Detection::Unanswered
    );
}

/// Count what was found.
#[tool]
#[given(times = history().count(find_order))]
#[given(any = history().ok(find_order))]
#[given(seen = history().seen(find_order))]
fn found() -> String {
    format!("{times} {any} {seen}")
}

#[tokio::test]
async fn a_question_that_nothing_narrows_counts_every_call() {
    let registry = Registry::builder()
        .tool(find_order)
        .tool(found)
        .build()
        .unwrap();
    let run = Run::new();
    for _ in 0..3_000 {
        assert!(
            in_run(&registry, &run, order("find_order", "W1"))
                .await
                .is_ok()
        );
    }
    let found = in_run(&registry, &run, ToolCall::new("1", "found", "")).await;
    assert_eq!(found.output(), Some("3000 true true"));
}

/// Search.
#[tool]
fn search(
    text: String,
    #[arg(default = 10)] limit: u32,
    in_folder: Option<String>,
) -> Result<usize, String> {
    let _ = (limit, in_folder);
    Ok(text.len())
}

#[tokio::test]
async fn arguments_are_compared_as_the_body_had_them() {
    let asks = |name: &'static str, value: serde_json::Value| {
        Tool::dynamic(DynamicSpec::new("asks", "Ask."), |_| async {
            Ok::<_, String>(Content::text("yes"))
        })
        .pre_over_history("there was such a search", move |_, history| {
            history.clone().with(name, &value).ok_named("search")
        })
    };
    let cases = [
        ("text", json!("lamp"), true),
        ("text", json!("lam"), false),
        ("limit", json!(10), true),
        ("limit", json!(10.0), true),
        ("limit", json!("10"), false),
        ("in_folder", json!(null), true),
        ("in_folder", json!("a"), false),
    ];
    for (name, value, holds) in cases {
        let text = format!("{name} = {value}");
        let registry = Registry::builder()
            .tool(search)
            .with(vec![asks(name, value)]);
        let (registry, run) = (registry.build().unwrap(), Run::new());
        let search = ToolCall::new("1", "search", r#"{"text":"lamp"}"#);
        assert!(in_run(&registry, &run, search).await.is_ok());
        let asked = in_run(&registry, &run, ToolCall::new("2", "asks", "")).await;
        assert_eq!(asked.is_ok(), holds, "{text}");
    }
}

#[tokio::test]
async fn a_tool_that_is_no_function_is_asked_about_by_name() {
    let page = DynamicSpec::new("read_page", "Read a page.");
    let page = Tool::dynamic(page, |_| async { Ok::<_, String>(Content::text("hello")) });
    /// Write, before a page was read.
    #[tool]
    #[pre(history().count_named("web_read_page") == 0, "a page was read")]
    fn write() {}
    let registry = Registry::builder().with(page).prefix("web_").tool(write);
    let (registry, run) = (registry.build().unwrap(), Run::new());
    assert!(
        in_run(&registry, &run, ToolCall::new("1", "write", ""))
            .await
            .is_ok()
    );
    assert!(
        in_run(&registry, &run, ToolCall::new("1", "web_read_page", ""))
            .await
            .is_ok()
    );
    assert!(
        !in_run(&registry, &run, ToolCall::new("1", "write", ""))
            .await
            .is_ok()
    );
}

/// Read a page.
#[tool(read_only)]
fn read_number(number: u32) -> u32 {
    number
}

/// Erase a page that was read.
#[tool(destructive)]
#[pre(history().with("number", &number).seen(read_number), "read it first")]
fn erase(number: u32) -> u32 {
    number
}

#[test]
fn what_was_corrected_is_remembered_as_it_was_read() {
    let builder = Registry::builder().tool(read_number).tool(erase);
    let registry = builder.coerce(true).build().unwrap();
    let run = Run::new();
    let call = |tool: &str, number: &str| {
        let call = ToolCall::new("1", tool, format!(r#"{{"number":{number}}}"#));
        registry
            .call(call)
            .context(Context::new().run(&run.turn()))
            .blocking()
    };
    assert!(call("read_number", r#""7""#).is_ok());
    assert!(!call("erase", "8").is_ok());
    let erased = call("erase", "7");
    assert!(erased.is_ok(), "{:?}", erased.error());
}
