//! `search_in_files` beside a clock, and beside others who change the tree.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Searched, call_of, findings};
use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::{Limits, Stop};

/// F10
#[test]
fn a_search_ends_when_its_time_is_over() {
    let tree = Searched::new(&[]).limits(Limits {
        search_time: Duration::ZERO,
        ..Limits::default()
    });
    for file in 0..100 {
        tree.write(&format!("{file}.txt"), "needle\n");
    }
    let found = tree.find(json!({"pattern": "needle"}));
    assert_eq!(
        (found.stopped, found.files_searched, found.hits.len()),
        (Some(Stop::Time), 0, 0)
    );

    // The caller's own time counts as well, and what was found until then is not lost. However fast a machine is, after enough
    // doublings a search takes longer than its call may; however busy it is, one of many calls gets to its first file and has
    // its answer written in time.
    let tree = Searched::new(&[("a.txt", &"needle\n".repeat(10))]).limits(Limits {
        search_files: usize::MAX,
        ..Limits::default()
    });
    let registry = tree.registry();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (mut files, mut calls) = (0, 0);
    let found = loop {
        let arguments = json!({"pattern": "needle"}).to_string();
        let call = ToolCall::new("1", "search_in_files", arguments);
        let context = Context::new().timeout(Duration::from_millis(500));
        let outcome = runtime.block_on(registry.call(call).context(context));
        calls += 1;
        let is_late = outcome.status() == Status::TimedOut || findings(&outcome).hits.is_empty();
        if is_late && calls < 100 {
            continue;
        }
        let found = findings(&outcome);
        if found.stopped.is_some() {
            break found;
        }
        assert_eq!(found.files_searched, 1 + files);
        let more = files.max(1_000);
        for file in files..files + more {
            tree.write(&format!("b/{}/{file}.txt", file / 1_000), "nothing\n");
        }
        files += more;
    };
    assert_eq!(
        (found.stopped, found.hits.len()),
        (Some(Stop::Time), 10),
        "{found:?}"
    );
    assert!((1..=files).contains(&found.files_searched), "{found:?}");
}

/// D11
#[test]
fn a_search_whose_call_is_dropped_stops() {
    let tree = Searched::new(&[]);
    for file in 0..300 {
        tree.write(
            &format!("{file}.txt"),
            format!("{}\n", "01101".repeat(10_000)),
        );
    }
    let call = ToolCall::new(
        "1",
        "search_in_files",
        json!({"pattern": "[01]*1[01]{200}x"}).to_string(),
    );
    let start = Instant::now();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let registry = tree.registry();
    let ended = runtime.block_on(async {
        tokio::time::timeout(Duration::from_millis(100), registry.call(call))
            .await
            .is_ok()
    });
    assert!(!ended, "the search was over in {:?}", start.elapsed());
    // A runtime waits for its blocking threads.
    drop(runtime);
    let stopped = start.elapsed();
    let whole = 300 * one_file(&tree);
    assert!(stopped < whole / 2, "{stopped:?} of {whole:?}");
}

fn one_file(tree: &Searched) -> Duration {
    let start = Instant::now();
    let found = tree.find(json!({"pattern": "[01]*1[01]{200}x", "path": "0.txt"}));
    assert_eq!(found.files_searched, 1);
    start.elapsed()
}

/// F3
#[test]
fn a_swapped_folder_never_shows_what_is_outside() {
    const SEARCHES: usize = 400;
    let outside = Searched::new(&[]);
    let tree = Searched::new(&[
        ("sub/deep/inside.txt", "inside canary\n"),
        ("spare/deep/inside.txt", "inside canary\n"),
    ]);
    // Much to do between reading the names of a folder and opening the last ones, so that there is time for a swap.
    for folder in ["", "sub/", "sub/deep/"] {
        for number in 0..40 {
            tree.write(&format!("{folder}a/{number}/x.txt"), "nothing\n");
        }
    }
    for name in ["inside.txt", "other.txt"] {
        outside.write(&format!("deep/{name}"), "outside canary\n");
        outside.write(name, "outside canary\n");
    }
    let done = AtomicBool::new(false);
    let swaps = AtomicUsize::new(0);
    let at = |name: &str| tree.folder().join(name);
    symlink(outside.folder(), at("link")).expect("a link");
    symlink(outside.folder().join("inside.txt"), at("link.txt")).expect("a link");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for (path, link) in [
                    ("sub", "link"),
                    ("sub/deep", "link"),
                    ("sub/deep/inside.txt", "link.txt"),
                ] {
                    let _ = fs::rename(at(path), at("kept"));
                    let _ = fs::rename(at(link), at(path));
                    let _ = fs::rename(at(path), at(link));
                    let _ = fs::rename(at("kept"), at(path));
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let registry = tree.registry();
        let (mut found, mut escaped) = (0, 0);
        for search in 0..SEARCHES {
            let path = [".", "sub", "sub/deep", "sub/deep/inside.txt"][search % 4];
            let outcome = call_of(&registry, &json!({"pattern": "canary", "path": path}));
            let text = outcome.output().unwrap_or_default();
            escaped += usize::from(text.contains("outside canary"));
            found += usize::from(text.contains("inside canary"));
        }
        done.store(true, Ordering::Relaxed);
        assert!(found > 0, "nothing was found at all");
        assert_eq!(escaped, 0);
    });
    eprintln!("{SEARCHES} searches beside {} swaps", swaps.into_inner());
}

/// F12
#[test]
fn files_that_vanish_are_no_mistake() {
    let tree = Searched::new(&[]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for file in 0..20 {
                    tree.write(&format!("a/{}/{file}.txt", file % 3), "needle\n");
                }
                let _ = fs::remove_dir_all(tree.folder().join("a"));
            }
        });
        let registry = tree.registry();
        let outcomes: Vec<_> = (0..200)
            .map(|_| call_of(&registry, &json!({"pattern": "needle"})))
            .collect();
        done.store(true, Ordering::Relaxed);
        for found in outcomes.iter().map(findings) {
            assert!(
                found.skipped.is_empty() && found.stopped.is_none(),
                "{found:?}"
            );
        }
    });
}
