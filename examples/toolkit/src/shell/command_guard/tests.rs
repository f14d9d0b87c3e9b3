//! Scripts that are refused, and scripts that only look like them.

use proptest::prelude::*;

use super::*;

fn judge_script(script: &str) -> Result<(), Refusal> {
    let argv = ["bash", "-c", script].map(str::to_owned);
    judge(&argv, Path::new("/srv/work"), &["/srv/work".into()])
}

#[test]
fn scripts_within_scripts_are_read_to_a_depth() {
    let nested = |depth: usize| format!("{}rm -rf /{}", "$(".repeat(depth), ")".repeat(depth));
    assert!(judge_script(&nested(7)).is_err());
    assert_eq!(judge_script(&nested(8)), Ok(()));
    assert_eq!(judge_script(&nested(40_000)), Ok(()));
}

#[test]
fn a_script_of_one_repeated_piece_is_read_to_its_end() {
    let pieces = [
        "(",
        "{ ",
        "a|",
        "a&&",
        "[[ ",
        "if ",
        "f(){ f|f&",
        "\\a",
        "*",
        "/",
        "../",
        "~",
        "!",
        "sudo ",
        "cd a;",
        "\n",
        "&",
        "é",
        "\u{1}",
        "''",
        "\"\" ",
        "$a",
        "${a}",
        "$(a)",
        "`a`",
        "<(a)",
        "<<E\nE\n",
        "<<<a ",
        ">a ",
    ];
    for piece in pieces {
        let script = format!("{}\nrm -rf /", piece.repeat(99_000 / piece.len()));
        assert!(judge_script(&script).is_err(), "{piece:?}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(script in r"[^\x00]{1,300}") {
        let _ = judge_script(&script);
    }

    #[test]
    fn no_nearly_right_script_makes_it_panic(pieces in prop::collection::vec(piece(), 1..60)) {
        let _ = judge_script(&pieces.concat());
    }
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "rm",
        " -rf",
        " /",
        "sh -c ",
        "'",
        "\"",
        "`",
        "$(",
        ")",
        "(",
        "{",
        "}",
        ";",
        "|",
        "&",
        "&&",
        "<<EOF\n",
        "EOF\n",
        "<<<",
        ">",
        "<(",
        "${",
        "$'",
        "\\",
        "\n",
        " ",
        "~",
        "*",
        "x=",
        "$x",
        "for x in ",
        "; do ",
        "f() { ",
        "esac",
        "[[ ",
        "((",
        "#",
        "eval ",
        "xargs ",
        "find / ",
        "-delete",
        "cd ",
        "..",
        "curl x",
        "sudo ",
        "timeout ",
        "é",
        "\u{202e}",
        "\u{1}",
        "\u{2}",
    ])
}
