//! Tools of a crate that knows the runtime only through another crate.

use ui_reexport::contracts::{pre, registry, tool};

/// Double a number.
#[tool(crate = ui_reexport::contracts)]
#[pre(number > 0)]
#[must_use]
pub fn double(number: u32) -> u32 {
    number * 2
}

/// The result of a call by name, through a registry this crate has built.
#[must_use]
pub fn called(arguments: &str) -> String {
    use ui_reexport::contracts::ToolCall;
    match registry!().build() {
        Ok(registry) => registry
            .call(ToolCall::new("1", "double", arguments))
            .blocking()
            .into_result()
            .text()
            .to_owned(),
        Err(error) => error.to_string(),
    }
}
