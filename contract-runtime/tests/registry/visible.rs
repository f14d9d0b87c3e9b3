//! Tools that only some callers see.

use std::sync::OnceLock;

use contract_runtime::prelude::*;
use contract_runtime::{Dialect, Run, Status};
use proptest::prelude::*;

static OWN: OnceLock<Registry> = OnceLock::new();

/// Read a record.
#[tool(read_only)]
fn record_read() {}

/// Write a record.
#[tool]
fn record_write() {}

/// Delete a record.
#[tool(confirm = "Delete it?")]
fn record_delete() {}

/// Delete a record through the registry.
#[tool]
fn record_purge() -> String {
    let registry = OWN.get().unwrap();
    let own = registry.call(("1", "record_write", "")).blocking();
    let context = Context::new().run(&Run::new());
    let of_run = registry.call(("1", "record_write", "")).context(context);
    format!("{} {}", own.status(), of_run.blocking().status())
}

const NAMES: [&str; 4] = [
    "record_delete",
    "record_purge",
    "record_read",
    "record_write",
];

fn tools() -> contract_runtime::Builder {
    Registry::builder()
        .tool(record_read)
        .tool(record_write)
        .tool(record_delete)
        .tool(record_purge)
}

fn caller(name: &str) -> Context {
    Context::new().identified_as(name)
}

fn names(registry: &Registry) -> Vec<&str> {
    registry.tools().map(|tool| tool.name()).collect()
}

proptest! {
    /// The letters of a caller's name are the places of the tools that it may see.
    #[test]
    fn a_caller_can_call_what_is_listed_and_learns_nothing_of_the_rest(seen in "a?b?c?d?") {
        let registry = tools().visible(|context, tool| {
            let place = NAMES.iter().position(|name| *name == tool.name()).unwrap();
            context.caller().is_some_and(|caller| caller.contains(&"abcd"[place..=place]))
        });
        let registry = registry.without_confirms().build().unwrap();
        let view = registry.visible_to(&caller(&seen));
        let listed = names(&view);
        prop_assert_eq!(listed.len(), seen.len());
        let exported = view.export(Dialect::OpenAiChat).as_array().unwrap();
        prop_assert_eq!(exported.len(), seen.len());
        for name in NAMES.into_iter().filter(|name| *name != "record_purge") {
            let call = || registry.call(("1", name, "")).context(caller(&seen));
            let check = registry.check(("1", name, "")).context(caller(&seen));
            let every = registry.check(("1", name, "")).context(caller(&seen)).every_condition();
            for outcome in [call().blocking(), check.blocking(), every.blocking()] {
                let is_listed = listed.contains(&name);
                prop_assert_eq!(outcome.is_ok(), is_listed, "{:?}", &outcome);
                prop_assert_eq!(view.tool(name).is_some(), is_listed);
                if !is_listed {
                    prop_assert_eq!(outcome.status(), Status::UnknownTool);
                    let text = outcome.error().unwrap();
                    for hidden in NAMES.into_iter().filter(|one| *one != name) {
                        prop_assert!(listed.contains(&hidden) || !text.contains(hidden), "{text}");
                    }
                }
            }
        }
        prop_assert_eq!(names(&registry), NAMES);
    }
}

#[test]
fn a_body_may_call_what_its_caller_does_not_see_and_a_run_of_it_may_not() {
    let registry = tools()
        .visible(|context, tool| context.caller() == Some("root") || tool.name() == "record_purge");
    let registry = OWN.get_or_init(|| registry.build().unwrap());
    let outcome = registry.call(("1", "record_purge", "")).blocking();
    assert_eq!(outcome.output(), Some("ok unknown_tool"));
}

#[test]
fn a_function_that_panics_hides_and_each_function_must_show() {
    let registry = tools()
        .visible(|_, tool| tool.name() != "record_read")
        .visible(|context, _| context.caller().unwrap() == "ada");
    let registry = registry.build().unwrap();
    assert!(names(&registry.visible_to(&Context::new())).is_empty());
    let view = registry.visible_to(&caller("ada"));
    assert_eq!(names(&view), [NAMES[0], NAMES[1], NAMES[3]]);
    let outcome = registry.call(("1", "record_write", "")).blocking();
    assert_eq!(outcome.status(), Status::UnknownTool);
}

#[tokio::test]
async fn a_hidden_tool_does_not_ask() {
    let registry = tools().visible(|context, _| context.caller().is_some());
    let registry = registry.build().unwrap();
    let call = || registry.call(("1", "record_delete", ""));
    assert_eq!(call().await.status(), Status::UnknownTool);
    assert_eq!(call().context(caller("ada")).await.status(), Status::Asked);
    let both = registry.call_all([("1", "record_write", ""), ("2", "record_read", "")]);
    for outcome in both.await {
        assert_eq!(outcome.status(), Status::UnknownTool);
    }
}

#[test]
fn a_function_that_asks_the_registry_comes_to_an_end() {
    static ASKED: OnceLock<Registry> = OnceLock::new();
    let registry = tools().visible(|context, tool| {
        let registry = ASKED.get().unwrap();
        let call = || registry.call(("1", "record_read", ""));
        match context.caller() {
            // What the function calls by itself is not asked about.
            Some("calls") => call().blocking().is_ok(),
            Some("runs") => {
                let context = caller("runs").run(&Run::new());
                call().context(context).blocking().is_ok()
            }
            _ => registry.visible_to(context).tool(tool.name()).is_some(),
        }
    });
    let registry = ASKED.get_or_init(|| registry.build().unwrap());
    for (name, status) in [
        ("calls", Status::Ok),
        ("runs", Status::UnknownTool),
        ("lists", Status::UnknownTool),
    ] {
        let outcome = registry
            .call(("1", "record_write", ""))
            .context(caller(name));
        assert_eq!(outcome.blocking().status(), status, "{name}");
    }
}
