//! A renamed dependency, a re-export of another crate, a re-export of a module.

use contract_runtime::{Registry, ToolCall};

mod facade {
    pub mod contracts {
        pub use contract_runtime::*;
    }
}

/// Add one.
#[facade::contracts::tool(crate = crate::facade::contracts)]
#[facade::contracts::pre(number > 0)]
fn add_one(number: u32) -> u32 {
    number + 1
}

#[facade::contracts::post(|sum| *sum > 0, crate = facade::contracts)]
fn add_two(number: u32) -> u32 {
    number + 2
}

fn main() {
    let registry = Registry::builder()
        .package("ui-reexport")
        .package("ui-downstream")
        .tool(add_one)
        .with(ui_reexport::Base(5))
        .build()
        .unwrap();
    let names: Vec<&str> = registry.tools().map(|tool| tool.name()).collect();
    assert_eq!(names, ["add", "add_one", "double", "half"]);
    let called = |name, text: &str| registry.call(ToolCall::new("1", name, text)).blocking();
    assert_eq!(called("half", r#"{"number":4}"#).output(), Some("2"));
    assert_eq!(
        called("half", r#"{"number":3}"#)
            .violation()
            .unwrap()
            .message
            .as_deref(),
        Some("3 is odd")
    );
    assert_eq!(called("add", r#"{"number":3}"#).output(), Some("8"));
    assert_eq!(called("add_one", r#"{"number":3}"#).output(), Some("4"));
    assert_eq!(add_two(1), 3);
    assert_eq!(ui_reexport::halved(4), 2);
    assert_eq!(ui_downstream::double(4), 8);
    assert_eq!(ui_downstream::called(r#"{"number":4}"#), "8");
}
