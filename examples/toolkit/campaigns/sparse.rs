//! Files and patterns that are made to hurt, at full size: prints how long a search takes and how its memory grows.
//!
//! ```sh
//! cargo run --release -p toolkit --example sparse
//! ```
//!
//! Needs 1 GiB of space where temporary files go.

use std::fs::File;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::{Limits, Workspace};

/// What a search may grow by, in KiB.
const MOST: usize = 64 << 10;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    File::create(at("sparse"))
        .and_then(|file| file.set_len(16 << 30))
        .expect("a sparse file");
    let mut tail = File::create(at("tail")).expect("a file");
    tail.write_all("a line of text\n".repeat(10_000).as_bytes())
        .expect("space");
    tail.set_len(16 << 30).expect("a sparse file");
    let mut line = File::create(at("line")).expect("a file");
    for _ in 0..1_024 {
        line.write_all(&vec![b'a'; 1 << 20]).expect("space");
    }
    let mut seed = 1_u64;
    let mut digits = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        b'0' + u8::from(seed >> 63 == 1)
    };
    for (name, bytes) in [
        ("digits-16k", (16 << 10) - 1),
        ("digits-64k", (64 << 10) - 1),
        ("digits-256k", (256 << 10) - 1),
        ("digits-1m", (1 << 20) - 1),
        ("digits-4m", (4 << 20) - 1),
    ] {
        let text: Vec<u8> = (0..bytes).map(|_| digits()).collect();
        std::fs::write(at(name), text).expect("space");
    }

    let workspace = Workspace::builder()
        .root(folder.path())
        .limits(Limits {
            search_file_bytes: u64::MAX,
            search_time: Duration::from_secs(100),
            ..Limits::default()
        })
        .build()
        .expect("a workspace");
    let registry = Registry::builder()
        .tool(toolkit::search_in_files)
        .context(workspace)
        .build()
        .expect("a registry");
    let mut is_flat = true;
    for (path, pattern) in [
        ("sparse", "needle"),
        ("tail", "needle"),
        ("tail", r"\w+ needle"),
        ("line", "needle"),
        ("line", r"[a-z]+ needle"),
        ("line", "(a|a)*b"),
        ("digits-4m", r"[01]*1[01]{20}x"),
        ("digits-1m", r"[01]*1[01]{80}x"),
        ("digits-256k", r"[01]*1[01]{320}x"),
        ("digits-64k", r"[01]*1[01]{1300}x"),
        ("digits-16k", r"[01]*1[01]{5200}x"),
        ("digits-16k", r"[01]*1[01]{20000}x"),
        ("digits-4m", r"[01]*1[01]{20000}x"),
        ("digits-16k", r"[01]*1[01]{100000}x"),
    ] {
        let before = peak();
        let start = Instant::now();
        let call = json!({"pattern": pattern, "path": path}).to_string();
        let outcome = registry
            .call(ToolCall::new("1", "search_in_files", call))
            .blocking();
        let grown = peak().saturating_sub(before);
        is_flat &= grown < MOST;
        let said = outcome
            .output()
            .map_or_else(|| format!("{:?}", outcome.error()), str::to_owned);
        println!(
            "{path:12} {pattern:20} {:>8.2?}, peak memory grew by {grown} KiB: {said}",
            start.elapsed()
        );
    }
    println!("peak memory: {} KiB", peak());
    if is_flat {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The most memory that this process has had, in KiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}
