//! How much is read, how deep, and what it costs.

use std::collections::BTreeMap;
use std::thread;

use contract_runtime::Status;

use crate::common::{Ground, check, ended, peak_memory, reexec, samples, tell};

/// D3
#[test]
fn one_mebibyte_of_arguments_is_read_and_one_byte_more_is_not() {
    let ground = Ground::new();
    let registry = ground.registry();
    for tool in registry.tools() {
        let arguments = samples(tool.name())[0].to_string();
        let padded = |bytes: usize| arguments.clone() + &" ".repeat(bytes - arguments.len());
        let outcome = check(&registry, tool.name(), &padded(1 << 20));
        assert!(outcome.is_ok(), "{}: {}", tool.name(), ended(&outcome));
        let outcome = check(&registry, tool.name(), &padded((1 << 20) + 1));
        assert_eq!(
            outcome.status(),
            Status::InvalidArguments,
            "{}",
            tool.name()
        );
        assert!(
            outcome.error().unwrap().contains("1048577"),
            "{}",
            ended(&outcome)
        );
    }
}

/// Arguments of one mebibyte that are as costly as can be.
fn costly() -> BTreeMap<&'static str, String> {
    let filled = |open: &str, part: &str, close: &str| {
        let room = (1 << 20) - open.len() - close.len();
        format!("{open}{}{close}", part.repeat(room / part.len()))
    };
    BTreeMap::from([
        ("numbers", filled("{\"path\":[", "0,", "0]}")),
        ("lists", filled("{\"path\":[", "[],", "0]}")),
        ("texts", filled("{\"path\":[", "\"\",", "0]}")),
        ("one text", filled("{\"path\":\"", "a", "\"}")),
        ("escapes", filled("{\"path\":\"", "\\u0061", "\"}")),
        ("digits", filled("{\"path\":", "9", "}")),
        ("keys", {
            let keys = (0..90_000).map(|number| format!("\"{number:x}\":0,"));
            let keys = keys.collect::<Vec<_>>().concat();
            format!("{{{keys}\"path\":0}}")
        }),
    ])
}

/// D3
#[test]
fn the_largest_arguments_cost_little_memory() {
    if reexec::input_of(the_largest_arguments_cost_little_memory).is_none() {
        let mut child = reexec::command(the_largest_arguments_cost_little_memory, "");
        let printed = reexec::run(&mut child);
        for line in printed.lines().filter(|line| line.contains("peak")) {
            tell(line);
        }
        return;
    }
    if peak_memory().is_none() {
        tell(format_args!(
            "NOT RUN D3 the_largest_arguments_cost_little_memory: there is no /proc/self/status"
        ));
        return;
    }
    let ground = Ground::new();
    let registry = ground.registry();
    let costly = costly();
    for tool in registry.tools() {
        let _ = check(&registry, tool.name(), "{}");
    }
    let mut before = peak_memory().unwrap();
    for (what, text) in costly {
        assert!(text.len() <= 1 << 20, "{what}");
        for tool in registry.tools() {
            let _ = check(&registry, tool.name(), &text);
        }
        let now = peak_memory().unwrap();
        // The system counts in steps, and may count less than before.
        let grown = now.saturating_sub(before) >> 20;
        tell(format_args!("{what}: the peak grew by {grown} MiB"));
        assert!(grown < 24, "{what}: {grown} MiB");
        before = before.max(now);
    }
}

/// D4
#[test]
fn arguments_of_any_depth_are_refused_on_a_small_stack() {
    let ground = Ground::new();
    let registry = ground.registry();
    let work = move || {
        for tool in registry.tools() {
            for depth in [
                1, 10, 127, 128, 129, 1_000, 10_000, 100_000, 500_000, 1_000_000,
            ] {
                for (open, close) in [("[", "]"), ("{\"path\":", "}")] {
                    // Closed as far as a mebibyte allows, and then not at all.
                    let opened = format!("{{\"path\":{}", open.repeat(depth));
                    let closed = format!("{opened}0{}}}", close.repeat(depth));
                    let text = if closed.len() > 1 << 20 {
                        opened
                    } else {
                        closed
                    };
                    let outcome = check(&registry, tool.name(), &text);
                    assert_eq!(
                        outcome.status(),
                        Status::InvalidArguments,
                        "{} {depth}",
                        tool.name()
                    );
                    assert!(outcome.error().unwrap().chars().count() <= 2_000);
                }
            }
        }
    };
    thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}
