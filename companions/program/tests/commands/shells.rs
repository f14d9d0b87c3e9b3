use std::process::{Command, Stdio};

use super::started::{run, run_with};

tests![
    every_shell_gets_a_script,
    bash_reads_its_script_and_completes,
];

fn every_shell_gets_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let said = run(&["completions", shell]);
        assert_eq!((said.code, &*said.err), (0, ""), "{shell}");
        for word in ["tools", "manifest", "without-locations"] {
            assert!(said.out.contains(word), "{shell} does not know `{word}`");
        }
        // The others are given commands and options alone.
        let values = matches!(shell, "bash" | "fish" | "zsh");
        assert_eq!(said.out.contains("openai-responses"), values, "{shell}");
        for word in ["hostile", "milliseconds"] {
            assert!(said.out.contains(word), "{shell} does not know `{word}`");
        }
    }
    assert_eq!(
        run_with(b"", &["list", "--names"]).out.lines().next(),
        Some("divide")
    );
}

/// What bash would offer for the last of these words.
fn completed(script: &str, words: &[&str]) -> Vec<String> {
    let ask = format!(
        "{script}\nCOMP_WORDS=({})\nCOMP_CWORD={}\n_tools tools {:?} {:?}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let mut bash = Command::new("bash");
    let output = bash
        .args(["--norc", "-c", &ask])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn bash_reads_its_script_and_completes() {
    let script = run(&["completions", "bash"]).out;
    assert_eq!(completed(&script, &["tools", "man"]), ["manifest"]);
    assert_eq!(completed(&script, &["tools", "call", "div"]), ["divide"]);
    assert_eq!(
        completed(&script, &["tools", "call", "divide", "--di"]),
        ["--dividend", "--divisor"]
    );
    assert_eq!(
        completed(&script, &["tools", "show", "fa"]),
        ["fail", "fall"]
    );
    assert_eq!(
        completed(&script, &["tools", "schema", "--for", "gemini-j"]),
        ["gemini-json-schema"]
    );
}
