//! Large folders and long names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use toolkit::Limits;

use super::{limited, list, names, over};

/// F12
#[test]
fn an_answer_is_never_cut_by_the_registry() {
    let folder = tempfile::tempdir().unwrap();
    for index in 0..400 {
        let mut name = format!("{index:03}").into_bytes();
        name.resize(255, 0xff);
        fs::write(folder.path().join(OsStr::from_bytes(&name)), "").unwrap();
    }
    let listing = list(&over(&folder), &json!({}));
    let given = names(&listing).len();
    assert!((50..400).contains(&given), "{given}");
    assert_eq!(listing["left_out"], 400 - given);
    assert!(
        names(&listing)[given - 1].starts_with(&format!("{:03}", given - 1)),
        "the first of them, in one piece"
    );
}

/// F12
#[test]
fn a_large_folder_gives_its_first_names_while_others_remove_some() {
    const ENTRIES: usize = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let at = |index: usize| folder.path().join(format!("{index:05}"));
    for index in 0..ENTRIES {
        fs::write(at(index), "").unwrap();
    }
    let registry = over(&folder);
    let listing = list(&registry, &json!({}));
    assert_eq!(
        names(&listing),
        (0..1_000)
            .map(|index| format!("{index:05}"))
            .collect::<Vec<_>>()
    );
    assert_eq!(
        (&listing["left_out"], listing.get("partial")),
        (&json!(19_000), None)
    );

    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // What is listed first goes first.
            for index in 0..ENTRIES - 10 {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                fs::remove_file(at(index)).unwrap();
            }
        });
        for _ in 0..40 {
            let listing = list(&registry, &json!({"depth": 2}));
            assert!(names(&listing).is_sorted());
            for entry in listing["entries"].as_array().unwrap() {
                assert_eq!(
                    (&entry["kind"], &entry["size"]),
                    (&json!("file"), &json!(0))
                );
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// F12
#[test]
fn a_folder_is_looked_at_no_further_than_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    for index in 0..200 {
        fs::write(folder.path().join(format!("{index:05}")), "").unwrap();
    }
    let limits = |folder_scan| Limits {
        folder_scan,
        folder_entries: 50,
        ..Limits::default()
    };
    let listing = list(&limited(&folder, limits(100)), &json!({}));
    assert_eq!(
        (
            names(&listing).len(),
            &listing["left_out"],
            &listing["partial"]
        ),
        (50, &json!(50), &json!(true))
    );
    let listing = list(&limited(&folder, limits(200)), &json!({}));
    assert_eq!(
        (
            names(&listing).len(),
            &listing["left_out"],
            listing.get("partial")
        ),
        (50, &json!(150), None)
    );
}
