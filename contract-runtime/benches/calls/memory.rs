//! How much memory a registry keeps for each of its tools.

use contract_runtime::prelude::*;

use crate::registries::{built, fillers};

const TOOLS: usize = 10_000;
/// Of every page of this system.
const PAGE: usize = 4_096;

/// The growth of the process by a registry of many tools, before any is shown, in words.
pub(crate) fn per_tool() -> String {
    let before = resident();
    let registry = built(Registry::builder().with(fillers(TOOLS)));
    let after = resident();
    drop(registry);
    match (before, after) {
        (Some(before), Some(after)) => {
            let bytes = after.saturating_sub(before) * PAGE / TOOLS;
            format!("memory per tool of {TOOLS}, nothing shown yet: {bytes} bytes")
        }
        _ => String::from("memory per tool: this system does not say"),
    }
}

/// Pages of this process that are in memory (Linux, `proc_pid_statm(5)`).
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split(' ').nth(1)?.parse().ok()
}
