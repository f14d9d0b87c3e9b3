//! `search_in_files` under patterns, files and trees that are made to hurt.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use crate::reexec;
use crate::support::{Searched, call_of, findings};
use serde_json::json;
use toolkit::{Limits, Stop};

/// F10
#[test]
fn nested_counted_repeats_are_refused_soon() {
    let tree = Searched::new(&[("a.txt", "aaaa\n")]);
    for pattern in [
        "((a{100}){100}){100}",
        "(((((a{10}){10}){10}){10}){10}){10}",
        r"(\pL{1000}){1000}",
        r"\w{5000}",
        "(?:a{0,1000}){0,1000}",
    ] {
        let start = Instant::now();
        let outcome = tree.call(json!({"pattern": pattern}));
        let error = outcome.error().unwrap_or_default();
        assert!(
            error.starts_with("the pattern is too complex: "),
            "{pattern}: {error}"
        );
        assert!(
            error.ends_with("; use fewer or smaller repeats such as `{1,100}`"),
            "{error}"
        );
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{pattern}: {:?}",
            start.elapsed()
        );
    }
    let deep = format!("{}a{}", "(".repeat(490), ")".repeat(490));
    let outcome = tree.call(json!({"pattern": deep}));
    let error = outcome.error().unwrap_or_default();
    assert!(error.contains("nested parentheses"), "{error}");
}

/// F10
#[test]
fn patterns_that_make_others_backtrack_take_time_in_proportion_to_the_text() {
    let tree = Searched::new(&[("a.txt", &format!("{}\n", "a".repeat(50_000)))]);
    let start = Instant::now();
    for pattern in [
        "(a|a)*$",
        "(a*)*b",
        "(a|aa)+$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(.*)(.*)(.*)(.*)x",
        "(a?){50}a{50}$",
    ] {
        let found = tree.find(json!({"pattern": pattern}));
        assert_eq!(found.files_searched, 1, "{pattern}");
        assert_eq!(
            found.hits.len(),
            usize::from(
                pattern.ends_with("*$")
                    || pattern.ends_with("+$") && pattern.starts_with("(a|")
                    || pattern.ends_with("}$")
            ),
            "{pattern}"
        );
    }
    assert!(
        start.elapsed() < Duration::from_secs(120),
        "{:?}",
        start.elapsed()
    );
}

/// F10
#[test]
fn memory_stays_flat_for_long_lines_and_sparse_files() {
    if reexec::input_of(memory_stays_flat_for_long_lines_and_sparse_files).is_none() {
        let mut child = reexec::command(memory_stays_flat_for_long_lines_and_sparse_files, "");
        let printed = reexec::run(&mut child);
        let figure = printed.lines().find(|line| line.contains("peak"));
        eprintln!("{}", figure.expect("a figure"));
        return;
    }
    let tree = Searched::new(&[("head.txt", "needle\n")]).limits(Limits {
        search_file_bytes: u64::MAX,
        search_time: Duration::from_secs(100),
        ..Limits::default()
    });
    for name in ["sparse", "head.txt"] {
        let file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(tree.folder().join(name))
            .expect("a file");
        file.set_len(16 << 30).expect("a sparse file");
    }
    let mut line = fs::File::create(tree.folder().join("line")).expect("a file");
    for _ in 0..64 {
        std::io::Write::write_all(&mut line, &vec![b'a'; 1 << 20]).expect("space");
    }
    let before = peak();
    let found = tree.find(json!({"pattern": "[a-z]+ needle"}));
    let grown = peak().saturating_sub(before);
    assert_eq!(
        (
            found.skipped.binary,
            found.skipped.long_lines,
            found.files_searched
        ),
        (2, 1, 0),
        "{found:?}"
    );
    eprintln!("a line of 64 MiB and two sparse files of 16 GiB: the peak grew by {grown} KiB");
    assert!(grown < 64 << 10, "{grown} KiB");
}

/// KiB
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("the state of this process");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("its peak");
    line.split_whitespace()
        .nth(1)
        .expect("a number")
        .parse()
        .expect("a number")
}

/// F10
#[test]
fn a_file_that_is_too_large_is_counted() {
    let tree = Searched::new(&[("a.txt", "needle 1\n"), ("b.txt", "needle")]).limits(Limits {
        search_file_bytes: 8,
        ..Limits::default()
    });
    let found = tree.find(json!({"pattern": "needle"}));
    assert_eq!(
        (
            found.hits.len(),
            found.skipped.too_large,
            found.files_searched
        ),
        (1, 1, 1)
    );
    assert_eq!(
        tree.find(json!({"pattern": "needle", "path": "a.txt"}))
            .skipped
            .too_large,
        1
    );
}

/// F10
#[test]
fn a_long_line_is_shown_in_part() {
    let line = format!("{}needle{}\n", "ä".repeat(40_000), "ö".repeat(40_000));
    let tree = Searched::new(&[("a.txt", &line)]);
    let found = tree.find(json!({"pattern": "needle"}));
    let text = &found.hits[0].text;
    assert!(
        text.starts_with("..ä") && text.ends_with("ö..") && text.contains("äneedleö"),
        "{text}"
    );
    assert_eq!(text.chars().count(), 504);
}

/// F10
#[test]
fn an_answer_never_outgrows_what_the_registry_gives() {
    let tree = Searched::new(&[(
        "a.txt",
        &format!("{}\n", "\"\u{1}".repeat(250)).repeat(1_000),
    )]);
    let outcome = tree.call(json!({"pattern": "\"", "max_results": 1000}));
    let found = findings(&outcome);
    assert_eq!(found.stopped, Some(Stop::Characters));
    assert!(found.hits.len() > 40, "{}", found.hits.len());
    assert!(outcome.output().unwrap_or_default().chars().count() < 100_000);
}

/// F10
#[test]
fn a_search_that_is_cut_short_gives_the_same_each_time() {
    let tree = Searched::new(&[]);
    for file in 0..600 {
        tree.write(
            &format!("{:02}/{}/f{file}.txt", file % 23, file % 7),
            "needle\nneedle\n".repeat(file % 3),
        );
    }
    symlink("00", tree.folder().join("11/link")).expect("a link");
    let registry = tree.registry();
    let all = findings(&call_of(
        &registry,
        &json!({"pattern": "needle", "max_results": 1_000}),
    ))
    .hits;
    assert!(all.len() > 900);
    for max in [1, 2, 17, 100, 501] {
        let arguments = json!({"pattern": "needle", "max_results": max});
        let first = findings(&call_of(&registry, &arguments));
        assert_eq!(first.hits, all[..max]);
        assert_eq!(first.stopped, Some(Stop::Results));
        for _ in 0..10 {
            assert_eq!(findings(&call_of(&registry, &arguments)), first);
        }
    }
}

/// F10, F12
#[test]
fn a_tree_with_too_many_files_is_searched_in_part() {
    let files: Vec<String> = (0..500)
        .map(|file| format!("{}/{file:03}.txt", file / 100))
        .collect();
    let tree = Searched::new(&[]).limits(Limits {
        search_files: 120,
        ..Limits::default()
    });
    for file in &files {
        tree.write(file, "needle\n");
    }
    let found = tree.find(json!({"pattern": "needle", "max_results": 1_000}));
    assert_eq!(
        (found.stopped, found.files_searched),
        (Some(Stop::Files), 120)
    );
    assert!(
        found
            .hits
            .iter()
            .map(|hit| hit.path.to_string_lossy().into_owned())
            .eq(files[..120].iter().cloned())
    );

    let folders = Searched::new(&[("z.txt", "needle\n")]).limits(Limits {
        search_files: 120,
        ..Limits::default()
    });
    for folder in 0..200 {
        fs::create_dir(folders.folder().join(folder.to_string())).expect("a folder");
    }
    assert_eq!(
        folders.find(json!({"pattern": "needle"})).stopped,
        Some(Stop::Files)
    );
}

/// F12
#[test]
fn a_tree_that_is_too_deep_is_searched_in_part() {
    let tree = Searched::new(&[("z.txt", "needle\n")]);
    let path = "d/".repeat(300) + "x.txt";
    tree.write(&path, "needle\n");
    let found = tree.find(json!({"pattern": "needle"}));
    assert_eq!((found.hits.len(), found.skipped.too_deep), (1, 1));
}

/// F10: ignore files are patterns too.
#[test]
fn an_ignore_file_made_to_hurt_costs_little() {
    let tree = Searched::new(&[("a.txt", "needle\n")]);
    let mut rules = String::new();
    while rules.len() < 60_000 {
        rules.push_str("*a*b*c*[d-z]*{x,y,z}\n");
    }
    for folder in 0..20 {
        tree.write(
            &format!("{folder}/.gitignore"),
            format!("{rules}# {folder}"),
        );
    }
    let start = Instant::now();
    let found = tree.find(json!({"pattern": "needle"}));
    // An optimised build reads all of them; the time of a search holds in any case.
    assert!(
        found.hits.len() == 1 || found.stopped == Some(Stop::Time),
        "{found:?}"
    );
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}
