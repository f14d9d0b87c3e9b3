//! What `run_shell` keeps of this process: memory under a flood, files and processes when nobody waits any more.
//!
//! Those that measure the whole process run in one of their own.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::reexec;
use crate::test_shell::{TestShell, mark, note, running, until};
use serde_json::{Value, json};

/// Runs a test in a process of its own and shows what it notes, unless this is that process.
#[track_caller]
fn is_run_apart<T: Fn() + Copy>(test: T) -> bool {
    if reexec::input_of(test).is_some() {
        return false;
    }
    let printed = reexec::run(&mut reexec::command(test, ""));
    let is_note = |line: &&str| line.starts_with("D1") || line.starts_with("NOT RUN");
    printed.lines().filter(is_note).for_each(note);
    true
}

/// D12: 64 MiB on each stream, or what `TOOLKIT_FLOOD_BYTES` says.
#[tokio::test]
async fn a_flood_takes_no_memory() {
    if is_run_apart(a_flood_takes_no_memory) {
        return;
    }
    let Some(shell) = TestShell::new("D12", "a_flood_takes_no_memory").await else {
        return;
    };
    let bytes = std::env::var("TOOLKIT_FLOOD_BYTES").map_or(64 << 20, |text| text.parse().unwrap());
    let flood = async |bytes: u64| {
        let script = format!("yes out | head -c {bytes} & yes problem | head -c {bytes} >&2; wait");
        shell
            .report(json!({"script": script, "timeout_seconds": 600}))
            .await
    };
    // What a first command takes is not what a flood takes.
    flood(1 << 20).await;
    // Linux takes the peak back to the present (proc(5), `clear_refs`).
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = peak();
    let began = Instant::now();
    let report = flood(bytes).await;
    let (took, grown) = (began.elapsed(), peak().saturating_sub(before));
    note(&format!(
        "D12: 2 x {bytes} bytes in {took:?}, peak {before} KiB before, {grown} KiB more"
    ));
    let limit = 50_000;
    for (stream, word) in [("stdout", "out\n"), ("stderr", "problem\n")] {
        let stream = &report[stream];
        assert_eq!(stream["bytes"], bytes);
        assert_eq!(stream["complete"], true);
        let text = stream["text"].as_str().unwrap();
        assert!(text.starts_with(word) && text.contains(" characters left out ..]\n"));
        assert!(text.len() < limit + 60, "{}", text.len());
        assert_eq!(kept(stream) + stream["left_out"].as_u64().unwrap(), bytes);
    }
    // Two buffers, two kept texts of four bytes for each character, and some slack.
    assert!(grown < 8 << 10, "{grown} KiB");
}

/// D12
#[tokio::test]
async fn a_flood_splits_no_character() {
    let Some(shell) = TestShell::new("D12", "a_flood_splits_no_character").await else {
        return;
    };
    // Seven bytes, so that every place in it meets the end of a buffer.
    let bytes = 7 * 300_000;
    let report = shell.script(&format!("yes 'é😀' | head -c {bytes}")).await;
    let stream = &report["stdout"];
    assert_eq!(stream["bytes"], bytes);
    assert_eq!(stream["replaced"], 0);
    let text = stream["text"].as_str().unwrap();
    let (head, rest) = text.split_once("\n[.. ").unwrap();
    let (_, tail) = rest.split_once(" ..]\n").unwrap();
    assert!(head.starts_with("é😀\n") && tail.ends_with("é😀\n"));
    assert!(
        head.chars()
            .chain(tail.chars())
            .all(|one| "é😀\n".contains(one))
    );
    assert_eq!(
        kept(stream) + stream["left_out"].as_u64().unwrap(),
        3 * 300_000
    );
}

/// D12
#[tokio::test]
async fn what_is_no_text_is_counted() {
    let Some(shell) = TestShell::new("D12", "what_is_no_text_is_counted").await else {
        return;
    };
    let report = shell
        .script(r"printf 'a\377b\303'; printf '\0\033[31m' >&2")
        .await;
    assert_eq!(report["stdout"]["text"], "a\u{fffd}b\u{fffd}");
    assert_eq!(report["stdout"]["replaced"], 2);
    assert_eq!(report["stdout"]["bytes"], 4);
    assert_eq!(report["stderr"]["text"], "\0\u{1b}[31m");
    assert_eq!(report["stderr"]["replaced"], 0);
}

/// D11: the future is dropped after so many polls, each time further on.
#[tokio::test]
async fn a_call_dropped_at_any_poll_leaves_nothing() {
    if is_run_apart(a_call_dropped_at_any_poll_leaves_nothing) {
        return;
    }
    let Some(shell) = TestShell::new("D11", "a_call_dropped_at_any_poll_leaves_nothing").await
    else {
        return;
    };
    let mark = mark();
    let script = format!("sleep {mark} & setsid sleep {mark} & echo x; sleep {mark}");
    let files = open_files();
    let mut longest = 0;
    for polls in 1..=24 {
        let mut call = pin!(shell.call(json!({"script": script})));
        let mut count = 0;
        let patience = Duration::from_millis(600);
        let dropped = tokio::time::timeout(
            patience,
            std::future::poll_fn(|context| {
                count += 1;
                if count > polls {
                    return Poll::Ready(());
                }
                assert!(call.as_mut().poll(context).is_pending());
                Poll::Pending
            }),
        )
        .await;
        longest = longest.max(count);
        // It waits for the command now, and there will be no further poll.
        if dropped.is_err() && polls > count {
            break;
        }
    }
    note(&format!("D11: dropped after 1 to {longest} polls"));
    assert!(longest > 3, "{longest}");
    until("a process was left", || running(&mark) == 0).await;
    until("a file was left open", || open_files() <= files).await;
}

/// D11: the future is dropped after a time, each time a little later.
#[tokio::test]
async fn a_call_dropped_at_any_time_leaves_nothing() {
    if is_run_apart(a_call_dropped_at_any_time_leaves_nothing) {
        return;
    }
    let Some(shell) = TestShell::new("D11", "a_call_dropped_at_any_time_leaves_nothing").await
    else {
        return;
    };
    let mark = mark();
    let script = format!("sleep {mark} & setsid sleep {mark} & sleep {mark}");
    let files = open_files();
    for millis in (0..20).map(|step| step * step) {
        let call = shell.call(json!({"script": script}));
        assert!(
            tokio::time::timeout(Duration::from_millis(millis), call)
                .await
                .is_err()
        );
    }
    until("a process was left", || running(&mark) == 0).await;
    until("a file was left open", || open_files() <= files).await;
    assert_eq!(
        shell.script("echo still here").await["stdout"]["text"],
        "still here\n"
    );
}

/// Of this process.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// The most memory that this process ever had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or_default()
}

/// The characters of a text without the line about what is missing.
fn kept(stream: &Value) -> u64 {
    let text = stream["text"].as_str().unwrap();
    let Some((head, rest)) = text.split_once("\n[.. ") else {
        return text.chars().count() as u64;
    };
    let (_, tail) = rest.split_once(" ..]\n").unwrap();
    (head.chars().count() + tail.chars().count()) as u64
}
