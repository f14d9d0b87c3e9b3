//! What `read_file` costs, and what it does while others are at work.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::Workspace;

use super::{hash, over, refusal, text};
use crate::reexec;

/// F6, F10: in a process of its own, whose memory is nobody else's.
#[test]
fn a_sparse_file_and_a_file_of_one_line_take_no_memory() {
    if reexec::input_of(a_sparse_file_and_a_file_of_one_line_take_no_memory).is_none() {
        let mut child = reexec::command(a_sparse_file_and_a_file_of_one_line_take_no_memory, "");
        let printed = reexec::run(&mut child);
        let figures = printed.lines().find(|line| line.starts_with("16 GiB"));
        // `eprintln!` would be captured.
        let _ = writeln!(std::io::stderr(), "{}", figures.unwrap());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sparse = fs::File::create(folder.path().join("sparse")).unwrap();
    sparse.set_len(16 << 30).unwrap();
    let zeros = fs::File::create(folder.path().join("zeros")).unwrap();
    zeros.set_len(1 << 30).unwrap();
    let mut line = fs::File::create(folder.path().join("line")).unwrap();
    let piece = "0123456789abcdef".repeat(4 << 10);
    for _ in 0..1 << 10 {
        line.write_all(piece.as_bytes()).unwrap();
    }
    let registry = over(&folder);
    // The first call starts threads and fills tables.
    text(&registry, &json!({"path": "line", "first_column": 100}));
    let before = resident();
    let began = Instant::now();
    let message = refusal(&registry, &json!({"path": "sparse"}));
    assert!(
        message
            .starts_with("`sparse` has 17179869184 bytes, and at most 1073741824 are allowed here"),
        "{message}"
    );
    assert!(
        refusal(&registry, &json!({"path": "zeros"})).contains("binary (a zero byte at offset 0)")
    );
    let part = text(
        &registry,
        &json!({"path": "line", "first_column": 60_000_001}),
    );
    assert_eq!(part["text"].as_str().unwrap().len(), 99_400);
    assert_eq!(part["total_characters"], 64 << 20);
    let (elapsed, grown) = (began.elapsed(), resident().saturating_sub(before));
    eprintln!(
        "16 GiB sparse, 1 GiB of zeros, a line of 64 MiB: {elapsed:?}, {grown} KiB more memory"
    );
    assert!(elapsed < Duration::from_secs(20), "{elapsed:?}");
    assert!(grown < 8 << 10, "{grown} KiB");
}

/// The most memory that was ever resident, in KiB (proc(5), `VmHWM`).
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// F8: text and hash are of the same bytes, also when the file changes meanwhile.
#[test]
fn text_and_hash_belong_together_while_the_file_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "0\n".repeat(40_000)).unwrap();
    let registry = over(&folder);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut digit = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                digit = (digit + 1) % 10;
                // In place, so that a reader can see a mixture.
                let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
                std::io::Write::write_all(
                    &mut &file,
                    format!("{digit}\n").repeat(40_000).as_bytes(),
                )
                .unwrap();
            }
        });
        for _ in 0..100 {
            let first = text(
                &registry,
                &json!({"path": "file", "first_line": 1, "last_line": 40_000}),
            );
            if first.get("next").is_none() {
                assert_eq!(
                    first["hash"],
                    hash(first["text"].as_str().unwrap().as_bytes())
                );
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        writer.join().unwrap();
    });
}

#[test]
fn a_body_that_nobody_waits_for_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "one").unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    let token = CancellationToken::new();
    token.cancel();
    let ended = toolkit::read_file("file", None, None, None, false, &workspace, &token);
    assert!(ended.is_err());
}
