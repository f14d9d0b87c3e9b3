use std::io::Write as _;
use std::process::Stdio;

use super::started::{Said, program, run, run_with};

tests![
    arguments_come_from_standard_input,
    input_that_is_not_utf8_is_refused_with_its_place,
    a_byte_order_mark_is_skipped,
    large_input_is_refused_by_the_registry,
    endless_input_is_read_up_to_the_limit,
    of_a_tool_that_is_not_there_no_input_is_read,
    an_endless_manifest_is_read_up_to_the_limit,
    a_large_argument_and_a_large_output_pass,
    arguments_that_are_not_utf8_are_a_mistake_of_usage,
    odd_words_are_names_of_no_tool,
    durations_are_numbers_with_a_unit,
];

fn arguments_come_from_standard_input() {
    let said = run_with(
        br#" {"dividend": 3, "divisor": 2} "#,
        &["call", "divide", "-"],
    );
    assert_eq!((said.code, &*said.out), (0, "1.5\n"));
    assert_eq!(run_with(b"", &["call", "nothing", "-"]).code, 0);
    assert_eq!(run_with(b"{", &["call", "nothing", "-"]).code, 3);
    assert_eq!(
        run(&["call", "fail", r#"{"why":"--json"}"#]).err,
        "failed: --json\n"
    );
}

fn input_that_is_not_utf8_is_refused_with_its_place() {
    let input = b"{\"why\":\"\xff\"}";
    let said = run_with(input, &["call", "fail", "-"]);
    assert_eq!(
        (said.code, &*said.err),
        (
            2,
            "error: standard input is not UTF-8, from byte 8 on; JSON text is UTF-8\n"
        )
    );
    let said = run_with(input, &["call", "fail", "-", "--json"]);
    assert_eq!(said.json_error()["error"]["kind"], "input");
}

fn a_byte_order_mark_is_skipped() {
    let marked = |text: &str| format!("\u{feff}{text}").into_bytes();
    let said = run_with(&marked(r#"{"why":"x"}"#), &["call", "fail", "-"]);
    assert_eq!((said.code, &*said.err), (6, "failed: x\n"));
    let path = std::env::temp_dir().join(format!("marked-{}.json", std::process::id()));
    std::fs::write(&path, marked(r#"{"why":"y"}"#)).unwrap();
    let said = run(&["call", "fail", &format!("@{}", path.display())]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!((said.code, &*said.err), (6, "failed: y\n"));
    let manifest = run(&["manifest"]).out;
    assert_eq!(run_with(&marked(&manifest), &["diff", "-"]).code, 0);
    // One, and at the beginning.
    for text in ["\u{feff}{}", "{}\u{feff}"] {
        assert_eq!(run_with(&marked(text), &["call", "nothing", "-"]).code, 3);
    }
}

fn large_input_is_refused_by_the_registry() {
    let input = format!(r#"{{"why":"{}"}}"#, "x".repeat(10 << 20));
    let said = run_with(input.as_bytes(), &["call", "fail", "-"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.len() < 200, "{}", said.err.len());
    // Just at the limit nothing is cut off.
    let why = "x".repeat((1 << 20) - r#"{"why":""}"#.len());
    let said = run_with(
        format!(r#"{{"why":"{why}"}}"#).as_bytes(),
        &["call", "fail", "-"],
    );
    assert_eq!((said.code, said.err), (6, format!("failed: {why}\n")));
}

/// What the program says while somebody writes to it without end.
fn run_endlessly(words: &[&str]) -> Said {
    let mut command = program(words);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Until the program has gone.
        scope.spawn(move || while stdin.write_all(&[b' '; 1 << 13]).is_ok() {});
        Said::new(child.wait_with_output().unwrap())
    })
}

fn endless_input_is_read_up_to_the_limit() {
    let refusal = "the arguments: expected at most 1048576 bytes, got more";
    for check in [&[][..], &["--check"]] {
        let said = run_endlessly(&[&["call", "fail", "-"], check].concat());
        assert_eq!((said.code, &*said.out), (3, ""));
        assert_eq!(said.err, format!("invalid_arguments: {refusal}\n"));
    }
    let said = run_endlessly(&["call", "fail", "-", "--json"]);
    assert_eq!(said.json()["error"], refusal);
}

fn of_a_tool_that_is_not_there_no_input_is_read() {
    let said = run_endlessly(&["call", "nobody", "-"]);
    assert_eq!(said.code, 4, "{said:?}");
}

fn an_endless_manifest_is_read_up_to_the_limit() {
    let said = run_endlessly(&["diff", "-"]);
    assert_eq!((said.code, &*said.out), (2, ""));
    assert!(said.err.contains("`-` is longer than"), "{}", said.err);
    #[cfg(unix)]
    {
        let said = run(&["diff", "/dev/zero"]);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(
            said.err.contains("`/dev/zero` is longer than"),
            "{}",
            said.err
        );
    }
}

fn a_large_argument_and_a_large_output_pass() {
    // Linux takes words of up to 128 KiB.
    let input = format!(r#"{{"why":"{}"}}"#, "x".repeat(100_000));
    let said = run(&["call", "fail", &input]);
    assert_eq!(
        (said.code, said.err.len()),
        (6, 100_000 + "failed: \n".len())
    );
    let said = run(&["call", "flood", r#"{"lines":600000}"#]);
    assert_eq!((said.code, said.out.len()), (0, 600_000 * 15));
}

fn arguments_that_are_not_utf8_are_a_mistake_of_usage() {
    #[cfg(unix)]
    {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        for words in [["call", "divide"], ["call", "--json"], ["show", "--json"]] {
            let output = program(&words)
                .arg(OsStr::from_bytes(b"\xff"))
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(2), "{output:?}");
        }
    }
    #[cfg(not(unix))]
    let _ = program;
}

fn odd_words_are_names_of_no_tool() {
    for name in [
        "",
        " ",
        "\u{1b}[2J",
        "../x",
        "ö",
        "divide\n",
        &"x".repeat(100_000),
    ] {
        assert_eq!(run(&["call", "--", name]).code, 4, "{name:?}");
        assert_eq!(run(&["show", name]).code, 4, "{name:?}");
    }
}

fn durations_are_numbers_with_a_unit() {
    for duration in ["30s", "1.5s", "900ms", "2m", "1h", ".5m"] {
        let said = run(&["call", "nothing", "--timeout", duration]);
        assert_eq!(said.code, 0, "{duration}: {said:?}");
    }
    for duration in [
        "30",
        "s",
        "",
        "-1s",
        "1e9s",
        "1 s",
        "1.2.3s",
        "1d",
        "nans",
        "9999999999999999999999h",
    ] {
        let said = run(&["call", "nothing", &format!("--timeout={duration}")]);
        assert_eq!(said.code, 2, "{duration}: {said:?}");
    }
}
