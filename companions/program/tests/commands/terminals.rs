use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Command, Stdio};

use super::started::{program, run};

tests![
    a_pipe_gets_the_bytes_as_they_are,
    colours_can_be_asked_for_and_refused,
    a_terminal_gets_a_table_and_colours,
    a_terminal_is_moved_by_no_tool,
    whoever_has_read_enough_may_go,
    a_full_disk_is_an_error,
];

const ESCAPE: char = '\u{1b}';

fn a_pipe_gets_the_bytes_as_they_are() {
    let said = run(&["call", "hostile"]);
    assert_eq!(said.out, "\u{1b}[2J\u{1b}]0;owned\u{7}gone\u{202e}\n");
    for words in [
        &["list"][..],
        &["show", "divide"],
        &["check"],
        &["--help"],
        &["lst"],
        &["call", "fall"],
    ] {
        let said = run(words);
        assert!(
            !said.out.contains(ESCAPE) && !said.err.contains(ESCAPE),
            "{words:?}"
        );
    }
}

/// What it says with these settings.
fn with(settings: &[(&str, &str)], words: &[&str]) -> String {
    let output = program(words)
        .envs(settings.iter().copied())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

fn colours_can_be_asked_for_and_refused() {
    for words in [
        &["list"][..],
        &["show", "divide"],
        &["check"],
        &["call", "fail", r#"{"why":"x"}"#],
    ] {
        assert!(
            with(&[("CLICOLOR_FORCE", "1")], words).contains(ESCAPE),
            "{words:?}"
        );
        let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
        assert!(!with(&both, words).contains(ESCAPE), "{words:?}");
    }
    let json = with(&[("CLICOLOR_FORCE", "1")], &["list", "--json"]);
    assert!(!json.contains(ESCAPE));
}

/// What a terminal gets, both outputs together; nothing where no terminal can be had.
fn on_a_terminal(settings: &[(&str, &str)], words: &[&str]) -> Option<String> {
    typed_on_a_terminal(settings, words, None).map(|(said, _)| said)
}

/// The same where this is typed when the program asks, or nothing can be, with the exit code.
pub(crate) fn typed_on_a_terminal(
    settings: &[(&str, &str)],
    words: &[&str],
    typed: Option<&str>,
) -> Option<(String, i32)> {
    let this = program(&[]);
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let path = this.get_program().to_string_lossy().into_owned();
    let words_of_line = [&*path].into_iter().chain(words.iter().copied());
    let line: Vec<_> = words_of_line.map(quoted).collect();
    // A shell that stays in between would get Ctrl-C as well, and end with a code of its own.
    let line = format!("exec {}", line.join(" "));
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    script.stdin(Stdio::null()).stderr(Stdio::piped());
    if typed.is_some() {
        script.stdin(Stdio::piped());
    }
    for (name, value) in this.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    let child = script
        .envs(settings.iter().copied())
        .stdout(Stdio::piped())
        .spawn();
    let output = child.and_then(|mut child| {
        // Kept open, so that the terminal does not hang up.
        let mut stdin = child.stdin.take();
        let mut said = Vec::new();
        if let (Some(stdin), Some(typed)) = (&mut stdin, typed) {
            read_to_question(child.stdout.as_mut(), &mut said)?;
            stdin.write_all(typed.as_bytes())?;
        }
        let mut output = child.wait_with_output()?;
        output.stdout.splice(..0, said);
        Ok(output)
    });
    let Ok(output) = output else {
        let probe = "`script` of util-linux is not installed";
        let line = format!("NOT RUN terminals {words:?}: {probe}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
        return None;
    };
    let said = String::from_utf8(output.stdout).unwrap();
    Some((
        said.replace("\r\n", "\n"),
        output.status.code().unwrap_or(-1),
    ))
}

/// Reads up to the question or the last line of what `serve` says, or to the end.
fn read_to_question(out: Option<&mut impl Read>, said: &mut Vec<u8>) -> std::io::Result<()> {
    for byte in out.into_iter().flat_map(Read::bytes) {
        said.push(byte?);
        if said.ends_with(b"[y/N] ") || said.ends_with(b"localhost:8080`") {
            break;
        }
    }
    Ok(())
}

fn a_terminal_gets_a_table_and_colours() {
    let Some(table) = on_a_terminal(&[("NO_COLOR", "1")], &["list"]) else {
        return;
    };
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "NAME     HINTS                 DESCRIPTION");
    assert_eq!(
        lines[1],
        "divide   read_only,idempotent  Divide one number by another"
    );
    assert_eq!(lines.len(), 13);
    assert!(!table.contains(ESCAPE));
    for words in [
        &["list"][..],
        &["show", "divide"],
        &["call", "fail", r#"{"why":"x"}"#],
        &["check"],
    ] {
        let plain = on_a_terminal(&[("TERM", "dumb")], words).unwrap();
        assert!(!plain.contains(ESCAPE), "{words:?}: {plain}");
        let coloured = on_a_terminal(&[], words).unwrap();
        assert!(coloured.contains(ESCAPE), "{words:?}: {coloured}");
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
    }
}

fn a_terminal_is_moved_by_no_tool() {
    let safe = "\\u{1b}[2J\\u{1b}]0;owned\\u{7}gone\\u{202e}\n";
    let Some(said) = on_a_terminal(&[], &["call", "hostile"]) else {
        return;
    };
    assert_eq!(said, safe);
    let why = "{\"why\":\"a\\u001b[31m\\nb\"}";
    let said = on_a_terminal(&[("NO_COLOR", "1")], &["call", "fail", why]).unwrap();
    assert_eq!(said, "failed: a\\u{1b}[31m\nb\n");
    let json = on_a_terminal(&[], &["call", "hostile", "--json"]).unwrap();
    assert!(!json.contains([ESCAPE, '\u{202e}', '\u{7}']), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["output"], "\u{1b}[2J\u{1b}]0;owned\u{7}gone\u{202e}");
}

fn whoever_has_read_enough_may_go() {
    let words = ["call", "flood", r#"{"lines":600000}"#];
    let mut child = program(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "a line of text\n");
    // The reading end is closed by now.
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));

    // The exit code is still that of the outcome, also when nobody hears what is said.
    let mut child = program(&["call", "wait", r#"{"milliseconds":1}"#, "--timeout", "0s"]);
    let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(8));
}

fn a_full_disk_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN terminals a_full_disk_is_an_error: no /dev/full"
        );
        return;
    };
    let output = program(&["list"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.starts_with(b"error: "), "{output:?}");
}
