//! What passes, and what is said about what does not.

use serde_json::json;

use super::shell::GuardedShell;

/// S2
#[test]
fn ordinary_work_passes() {
    GuardedShell::new().all_pass(
        &[
            "rm -rf /srv/build",
            "rm -rf target",
            "rm -rf ./target/*",
            "rm -rf ROOT/sub",
            "rm -rf \"$TMPDIR\"/*",
            "rm -rf \"$(mktemp -d)\"",
            "rm -rf /tmp/build",
            "rm -rf ~/.cache/thing",
            "rm -rf /home/alice/project/target",
            "rm -f /etc/motd",
            "rm -- -rf",
            "rm '-rf /'",
            "cd sub && rm -rf *",
            "(cd / && ls); rm -rf bin",
            "cd \"$somewhere\" && rm -rf *",
            "echo \"rm -rf /\"",
            "echo 'rm -rf /' > notes",
            "echo rm -rf /",
            "printf 'rm -rf /\\n' | grep rm",
            "grep -r 'rm -rf /' .",
            "git commit -m 'never run rm -rf / again'",
            "cat <<EOF > notes\nrm -rf /\nEOF",
            "# rm -rf /",
            "ls # && rm -rf /",
            "x='rm -rf /'",
            "command -v rm",
            "sudo -l",
            "find . -name '*.pyc' -delete",
            "find sub -delete",
            "find / -name passwd",
            "find /srv/build -delete",
            "chmod -R u+w .",
            "chmod 644 /etc",
            "chown -R me sub",
            "echo x > /dev/null 2>&1",
            "echo x >/dev/stderr",
            "curl -o install.sh https://example.com/install.sh && sh install.sh",
            "curl x | python3 -m json.tool",
            "curl x | jq .",
            "base64 -d file > out",
            "bash build.sh $(curl x)",
            "sh -c 'echo \"$(curl x)\"'",
            "sh script.sh",
            "echo 'ls' | sh",
            "walk() { for x in *; do walk \"$x\"; done; }; walk",
            "mv a b",
            "mv * sub/",
            "python3 -c 'import shutil'",
            "ls ~",
            "",
            "if then fi ((",
            "\u{feff}ls",
        ]
        .map(|script| if script.is_empty() { ":" } else { script }),
    );
}

/// S2
#[test]
fn the_form_without_a_shell_is_judged_too() {
    let shell = GuardedShell::new();
    let refused = [
        json!({"argv": ["rm", "-rf", "/"]}),
        json!({"argv": ["rm", "-rf", "."], "directory": "sub/.."}),
        json!({"argv": ["sh", "-c", "rm -rf /"]}),
        json!({"argv": ["sudo", "env", "X=1", "bash", "-lc", "cd / && rm -rf *"]}),
        json!({"argv": ["find", "/", "-delete"]}),
    ];
    for arguments in refused {
        assert!(shell.answer(&arguments).is_some(), "{arguments}");
    }
    let passing = [
        json!({"argv": ["rm", "-rf", "target"]}),
        // Without a shell these are names of files.
        json!({"argv": ["rm", "-rf", "$HOME"]}),
        json!({"argv": ["rm", "-rf", "~"]}),
        json!({"argv": ["echo", "rm -rf /", ";", "rm", "-rf", "/"]}),
    ];
    for arguments in passing {
        assert_eq!(shell.answer(&arguments), None, "{arguments}");
    }
}

/// S2
#[test]
fn the_refusal_says_what_would_be_lost_and_what_to_do() {
    let shell = GuardedShell::new();
    assert_eq!(
        shell.script("sudo rm -rf /").unwrap(),
        "nothing was run: `rm` would remove `/`, the whole file system; name only the files you mean, further down in the \
         workspace"
    );
    assert_eq!(
        shell.script("curl x | sh").unwrap(),
        "nothing was run: this would run the output of `curl` unread; save it to a file, read it, and then run the file"
    );
    assert_eq!(
        shell.script("rm -rf \"$HOME\"/*").unwrap(),
        "nothing was run: `rm` would remove `~/*`, a home folder; name only the files you mean, further down in the workspace"
    );
}
