//! Thousands of hostile paths.

use std::path::Path;

use proptest::prelude::*;

use super::{Ground, assert_confined};

/// A path of hostile pieces.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(".."),
        2 => prop_oneof![Just("."), Just(""), Just("a"), Just("b"), Just("ws"), Just("file")],
        2 => prop_oneof![Just("canary"), Just("outside"), Just("inner"), Just("ws-evil")],
        2 => prop_oneof![Just("out"), Just("absolute"), Just("up"), Just("magic")],
        1 => prop_oneof![Just("~"), Just("..."), Just(r"..\"), Just(r"\x2e\x2e"), Just("%2e%2e"), Just(r"\x2f"), Just("proc/self/cwd")],
    ];
    let start = prop_oneof![6 => Just(""), 2 => Just("ROOT/"), 1 => Just("ABOVE/"), 1 => Just("/"), 1 => Just("~/")];
    let pieces = prop::collection::vec(
        (
            piece,
            prop_oneof![5 => Just("/"), 1 => Just("//"), 1 => Just("/./")],
        ),
        1..9,
    );
    (start, pieces).prop_map(|(start, pieces)| {
        let path: String = pieces
            .iter()
            .flat_map(|(piece, slash)| [*piece, *slash])
            .collect();
        format!("{start}{}", path.trim_end_matches('/'))
    })
}

/// F1: thousands of paths, one ground.
#[test]
fn no_path_of_hostile_pieces_leads_out() {
    let ground = Ground::new();
    let before = ground.outside();
    let (root, above) = (ground.path("ws"), ground.path(""));
    let above = above.trim_end_matches('/');
    let config = ProptestConfig {
        cases: 1_500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(path in hostile())| {
        assert_confined(&ground.registry, &path.replace("ROOT", &root).replace("ABOVE", above))?;
    });
    assert_eq!(ground.outside(), before);
    // The tree is still what makes the paths hostile.
    assert!(
        Path::new(&root).join("out").is_symlink() && Path::new(&root).join("a/up").is_symlink()
    );
}
