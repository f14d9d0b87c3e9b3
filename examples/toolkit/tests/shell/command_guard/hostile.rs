//! Scripts that are made to hurt whoever reads them.

use std::io::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::desk::Desk;

/// S2: a hostile script costs no more than an ordinary one may, in time and in depth.
#[test]
fn a_script_that_is_made_to_be_slow_is_judged_in_time() {
    let desk = Desk::new();
    let longest = 100_000;
    let pieces = [
        "(",
        "{ ",
        "$(",
        "`",
        "\"$(",
        "a|",
        "a&&",
        "((",
        "$((",
        "${",
        "${a:-",
        "[[ ",
        "if ",
        "case x in ",
        "<<E ",
        "<<E\n",
        "f(){ ",
        "f(){ f|f&",
        "{a,",
        "{,",
        "a=$a$a;",
        "$a",
        "'",
        "\"",
        "\\",
        "*",
        "/",
        "../",
        "~",
        "<(",
        "!",
        "for a in ",
        "rm -rf $x/ ",
        "eval ",
        "sh -c '",
        "sudo ",
        "cd a;",
        "\n",
        "&",
        "é",
        "\u{1}",
    ];
    let mut slowest = (Duration::ZERO, "");
    for piece in pieces {
        let mut script = piece.repeat((longest - 8) / piece.len());
        script.push_str("rm -rf /");
        let began = Instant::now();
        desk.script(&script);
        slowest = slowest.max((began.elapsed(), piece));
    }
    let _ = writeln!(
        std::io::stderr(),
        "S2: the slowest script was judged, and run, in {slowest:?}"
    );
    assert!(slowest.0 < Duration::from_secs(5), "{slowest:?}");
}

#[test]
fn scripts_within_scripts_end_somewhere() {
    let desk = Desk::new();
    let mut argv = vec!["true".to_owned()];
    for _ in 0..5 {
        let inner = argv.join(" ").replace('\\', "\\\\").replace('"', "\\\"");
        argv = vec!["sh".into(), "-c".into(), format!("\"{inner}\"")];
    }
    assert_eq!(desk.script(&argv.join(" ")), None);
    for _ in 0..5 {
        let inner = argv.join(" ").replace('\\', "\\\\").replace('"', "\\\"");
        argv = vec!["sh".into(), "-c".into(), format!("\"{inner}\"")];
    }
    let answer = desk.script(&argv.join(" ")).unwrap();
    assert!(answer.contains("nested too deeply"), "{answer}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// S2
    #[test]
    fn no_text_makes_it_panic(script in r"[^\x00]{1,300}") {
        judged(&script);
    }

    /// S2
    #[test]
    fn no_nearly_right_script_makes_it_panic(pieces in prop::collection::vec(piece(), 1..60)) {
        judged(&pieces.concat());
    }
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "rm", " -rf", " /", "sh -c ", "'", "\"", "`", "$(", ")", "(", "{", "}", ";", "|", "&", "&&", "<<EOF\n", "EOF\n",
            "<<<", ">", "<(", "${", "}", "$'", "\\", "\n", " ", "~", "*", "x=", "$x", "for x in ", "; do ", "; done",
            "f() { ", "case x in ", "esac", "[[ ", " ]]", "((", "))", "#", "eval ", "xargs ", "find / ", "-delete", "{a,b}",
            "cd ", "..", "cat ", "curl x", "sudo ", "env -S ", "timeout ", "é", "\u{202e}", "\u{f0000}", "\u{f0001}", "\u{f0002}",
        ]).prop_map(str::to_owned),
        1 => "[^\\x00]{0,4}",
    ]
}

fn judged(script: &str) {
    thread_local! {
        static DESK: Desk = Desk::new();
    }
    if script.trim().is_empty() {
        return;
    }
    DESK.with(|desk| desk.script(&script.replace("ROOT", "root")));
}
