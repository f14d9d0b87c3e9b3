use std::process::{Command, Stdio};

use super::started::{run, run_with};

tests![
    every_shell_gets_a_script,
    bash_reads_its_script_and_completes,
    each_command_has_a_manual_page
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
        assert_eq!(
            said.out.contains("hostile"),
            matches!(shell, "bash" | "zsh"),
            "{shell}"
        );
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
    assert_eq!(completed(&script, &["tools", "man"]), ["manifest", "man"]);
    assert_eq!(completed(&script, &["tools", "call", "div"]), ["divide"]);
    assert_eq!(
        completed(&script, &["tools", "show", "fa"]),
        ["fail", "fall"]
    );
    assert_eq!(
        completed(&script, &["tools", "schema", "--for", "gemini-j"]),
        ["gemini-json-schema"]
    );
}

fn each_command_has_a_manual_page() {
    let page = run(&["man"]);
    assert_eq!((page.code, &*page.err), (0, ""));
    assert!(
        page.out.contains(".TH tools 1") && page.out.contains("tools\\-serve(1)"),
        "{}",
        page.out
    );
    let folder = std::env::temp_dir().join(format!("manual-pages-{}", std::process::id()));
    let said = run(&["man", "--out", folder.to_str().unwrap()]);
    assert_eq!((said.code, &*said.out, &*said.err), (0, "", ""));
    let call = std::fs::read_to_string(folder.join("tools-call.1")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(
        call.contains("ARGUMENTS...") && call.contains("\\-\\-timeout"),
        "{call}"
    );
    assert!(!call.contains("word\\-1"), "{call}");
    let said = run(&["man", "--out", "/dev/null/pages"]);
    assert_eq!(said.code, 1, "{said:?}");
}
