//! Where the history has no answer, the condition fails.

use contract_manifest::Inspect as _;
use contract_runtime::prelude::*;
use contract_runtime::{Blame, BuildProblem, Detection, DynamicSpec, History, Run, Status, catch};

use super::{find_order, in_run, order, refund_seen, registry, said};

const NO_RUN: &str = "`refund_seen` was not run, because it depends on the earlier calls of a run, and this call belongs to none; the program that serves the tool must make its calls with `Context::run`";

#[tokio::test]
async fn a_call_outside_of_a_run_is_a_violation() {
    let registry = registry();
    let outcome = registry.call(order("refund_seen", "W1")).await;
    assert_eq!(said(&outcome), NO_RUN);
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.blame, Blame::Caller);
    assert_eq!(violation.detection, Detection::Unanswered);
    assert_eq!(
        violation.masked().to_string().split("; ").next(),
        NO_RUN.split("; ").next()
    );
    let checked = registry.check(order("refund_seen", "W1")).await;
    assert_eq!(checked.status(), Status::Violation);
}

#[tokio::test]
async fn what_a_condition_makes_of_the_answer_changes_nothing() {
    /// Write, if nothing foreign was read.
    #[tool]
    #[pre(!history().ok(find_order), "a foreign page was read")]
    fn write() {}
    let registry = Registry::builder()
        .tool(find_order)
        .tool(write)
        .build()
        .unwrap();
    let write = || ToolCall::new("1", "write", "");
    assert_eq!(registry.call(write()).await.status(), Status::Violation);
    let run = Run::new();
    assert!(in_run(&registry, &run, write()).await.is_ok());
    assert!(
        in_run(&registry, &run, order("find_order", "W1"))
            .await
            .is_ok()
    );
    assert_eq!(
        said(&in_run(&registry, &run, write()).await),
        "a foreign page was read"
    );
}

#[tokio::test]
async fn a_policy_of_the_author_holds_where_there_is_no_answer() {
    /// Be observed.
    #[tool]
    #[pre(history().ok(find_order), policy = observe)]
    fn observed() {}
    let registry = Registry::builder()
        .tool(find_order)
        .tool(observed)
        .build()
        .unwrap();
    let outcome = registry.call(ToolCall::new("1", "observed", "")).await;
    assert!(outcome.is_ok());
    assert_eq!(outcome.observed()[0].detection, Detection::Unanswered);
}

#[test]
fn a_direct_call_has_no_history() {
    let violation = catch(|| refund_seen("W1".into())).unwrap_err();
    assert_eq!(
        violation.message.as_deref(),
        Some(
            "`refund_seen` depends on the earlier calls of a run, and a direct Rust call has none; call it by name, through a registry"
        )
    );
    assert_eq!(violation.blame, Blame::Caller);
}

#[tokio::test]
async fn a_direct_call_inside_a_run_has_none_either() {
    /// Go around the limit.
    #[tool]
    fn around() -> String {
        refund_seen("W1".into())
    }
    let builder = Registry::builder()
        .tool(find_order)
        .tool(refund_seen)
        .tool(around);
    let (registry, run) = (builder.build().unwrap(), Run::new());
    assert!(
        in_run(&registry, &run, order("find_order", "W1"))
            .await
            .is_ok()
    );
    let outcome = in_run(&registry, &run, ToolCall::new("1", "around", "")).await;
    assert_eq!(outcome.status(), Status::Violation);
}

fn once(history: &History, order_id: &str) -> Result<(), String> {
    match history.with_order(order_id).count(refund_by_helper) {
        0 => Ok(()),
        times => Err(format!("{order_id} was refunded {times} times")),
    }
}

trait WithOrder {
    fn with_order(&self, order_id: &str) -> History;
}

impl WithOrder for History {
    fn with_order(&self, order_id: &str) -> History {
        self.clone().with("order_id", order_id)
    }
}

/// Refund, by a condition that is a function.
#[tool]
#[pre(once(&history(), &order_id))]
fn refund_by_helper(order_id: String) {}

#[tokio::test]
async fn a_helper_takes_the_history() {
    let registry = Registry::builder().tool(refund_by_helper).build().unwrap();
    assert!(registry.tool("refund_by_helper").unwrap().asks_history());
    let run = Run::new();
    let refund = || in_run(&registry, &run, order("refund_by_helper", "W1"));
    assert!(refund().await.is_ok());
    assert_eq!(said(&refund().await), "W1 was refunded 1 times");
    assert!(!registry.call(order("refund_by_helper", "W1")).await.is_ok());
}

fn hidden() -> bool {
    history().ok(find_order)
}

/// Ask where nobody can tell.
#[tool]
#[pre(hidden())]
fn asks_inside() {}

#[tokio::test]
async fn a_helper_that_asks_by_itself_fails() {
    let registry = Registry::builder()
        .tool(find_order)
        .tool(asks_inside)
        .build()
        .unwrap();
    let run = Run::new();
    assert!(
        in_run(&registry, &run, order("find_order", "W1"))
            .await
            .is_ok()
    );
    let outcome = in_run(&registry, &run, ToolCall::new("1", "asks_inside", "")).await;
    assert_eq!(outcome.violation().unwrap().detection, Detection::Panicked);
}

/// Keep what was given.
#[tool]
#[given(found = history().with("order_id", &order_id).seen(find_order))]
#[given(times = history().count(given_history))]
fn given_history(order_id: String) -> String {
    format!("{order_id} {found} {times}")
}

#[tokio::test]
async fn a_given_may_ask() {
    let registry = Registry::builder()
        .tool(find_order)
        .tool(given_history)
        .build()
        .unwrap();
    let run = Run::new();
    assert!(
        in_run(&registry, &run, order("find_order", "W1"))
            .await
            .is_ok()
    );
    let outcome = in_run(&registry, &run, order("given_history", "W1")).await;
    assert_eq!(outcome.output(), Some("W1 true 0"));
    let outcome = in_run(&registry, &run, order("given_history", "W2")).await;
    assert_eq!(outcome.output(), Some("W2 false 1"));
    let outside = registry.call(order("given_history", "W2")).await;
    let violation = outside.violation().unwrap();
    assert_eq!(violation.contract, "given_history.given[0]");
    assert_eq!(violation.detection, Detection::Unanswered);
    assert!(catch(|| given_history("W1".into())).is_err());
}

fn no_tool() {}

/// Ask about what is none.
#[tool]
#[pre(history().ok(no_tool))]
#[pre(history().with("order", &id).count(find_order) < 1)]
fn asks_wrongly(id: String) {}

#[test]
fn a_registry_knows_what_is_asked() {
    let error = Registry::builder().tool(asks_wrongly).build().unwrap_err();
    let [no_tool, no_argument] = error.problems() else {
        panic!("{error}");
    };
    assert!(
        matches!(
            no_tool,
            BuildProblem::AsksNoTool {
                function: "no_tool",
                ..
            }
        ),
        "{no_tool}"
    );
    assert!(
        matches!(no_argument, BuildProblem::AsksNoArgument { argument: "order", nearest: Some(nearest), .. } if nearest == "order_id"),
        "{no_argument}"
    );
}

#[tokio::test]
async fn a_name_means_the_tool_of_its_own_set_before_any_other() {
    let page = || {
        let spec = DynamicSpec::new("read_page", "Read a page.");
        Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("hello")) })
    };
    let send = || {
        let spec = DynamicSpec::new("send_files", "Send files.");
        let send = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("sent")) });
        send.pre_over_history("no page was read", |_, history| {
            !history.ok_named("read_page")
        })
    };
    let registry = Registry::builder()
        .with(vec![page(), send()])
        .prefix("web_")
        .with(vec![page(), send()])
        .prefix("")
        .build()
        .unwrap();
    let run = Run::new();
    let call = async |tool: &str| in_run(&registry, &run, ToolCall::new("1", tool, "")).await;
    assert!(call("web_send_files").await.is_ok());
    assert!(call("web_read_page").await.is_ok());
    assert!(!call("web_send_files").await.is_ok());
    assert!(call("send_files").await.is_ok());
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_the_fault_of_its_author() {
    let send = DynamicSpec::new("send", "Send.");
    let send = Tool::dynamic(send, |_| async { Ok::<_, String>(Content::text("sent")) });
    let send = send.pre_over_history("nothing was read", |_, history| {
        history.count_named("raed") == 0
    });
    let registry = Registry::builder().with(send).build().unwrap();
    let run = Run::new();
    let outcome = in_run(&registry, &run, ToolCall::new("1", "send", "")).await;
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.detection, Detection::Unanswered);
    assert_eq!(violation.blame, Blame::Callee);

    /// Ask by a name that nothing has.
    #[tool]
    #[pre(history().count_named("find_ordre") == 0)]
    fn asks_by_name() {}
    let builder = Registry::builder().tool(find_order).tool(asks_by_name);
    let error = builder.build().unwrap_err();
    assert!(
        matches!(error.problems(), [BuildProblem::AsksNoName { name: "find_ordre", nearest: Some(nearest), .. }] if nearest == "find_order"),
        "{error}"
    );
}

struct Crate;

#[tool]
impl Crate {
    /// Put a thing.
    #[tool]
    fn put(&self) {}

    /// Close it, once something was put.
    #[tool]
    #[pre(history().ok(Crate::put))]
    #[pre(history().count(Crate::put) == 1)]
    fn close(&self) {}
}

/// Count both.
#[tool]
#[pre(history().count(Crate::put) == 2)]
fn both() {}

/// Ask for one of two.
#[tool]
#[pre(history().ok(Crate::put))]
fn either() {}

#[tokio::test]
async fn a_method_asks_about_its_own_state() {
    let registry = Registry::builder()
        .with(Crate)
        .prefix("a_")
        .with(Crate)
        .prefix("b_")
        .tool(both)
        .tool(either)
        .build()
        .unwrap();
    let run = Run::new();
    let call = async |tool: &str| in_run(&registry, &run, ToolCall::new("1", tool, "")).await;
    assert!(call("a_put").await.is_ok());
    assert!(!call("b_close").await.is_ok());
    assert!(call("a_close").await.is_ok());
    assert!(call("b_put").await.is_ok());
    assert!(call("b_close").await.is_ok());
    assert!(call("both").await.is_ok());
    let unclear = call("either").await;
    assert_eq!(
        unclear.violation().unwrap().detection,
        Detection::Unanswered
    );
}

#[tokio::test]
async fn an_argument_that_is_misnamed_at_run_time_fails() {
    let name = || "order".to_owned();
    /// Ask by a computed name.
    #[tool]
    #[pre(!history().with(&misnamed(), &1).ok_named("find_order"))]
    fn asks_by_name() {}
    fn misnamed() -> String {
        "order".to_owned()
    }
    let _ = name;
    let registry = Registry::builder()
        .tool(find_order)
        .tool(asks_by_name)
        .build()
        .unwrap();
    let run = Run::new();
    let asks = || ToolCall::new("1", "asks_by_name", "");
    assert!(in_run(&registry, &run, asks()).await.is_ok());
    assert!(
        in_run(&registry, &run, order("find_order", "W1"))
            .await
            .is_ok()
    );
    assert_eq!(
        said(&in_run(&registry, &run, asks()).await),
        "a condition asks for calls of `find_order` by its argument `order`, which it does not have"
    );
}

#[test]
fn a_registry_says_which_tools_ask() {
    let registry = registry();
    assert!(registry.tool("refund_seen").unwrap().asks_history());
    assert!(!registry.tool("find_order").unwrap().asks_history());
    let text = registry.explain("refund_seen").unwrap();
    assert!(
        text.contains(", policy enforce, asks the history of the run"),
        "{text}"
    );
}
