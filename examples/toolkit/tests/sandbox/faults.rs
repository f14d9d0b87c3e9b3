//! What goes wrong around a command: processes that flee, a caller that is killed, limits, and layers that are missing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::confined::{
    Ground, KillOnDrop, alone, escape, forbid, is_full, kill_callers, mark, marked, none_survives,
    open, probe as probe_name, sandbox, until, wait_for_ever,
};
use crate::reexec;
use nix::libc;
use serde_json::json;
use toolkit::{Limits, Sandbox};

/// Not a test: what this binary does when it is the command in a sandbox.
#[test]
fn probe() {
    match probe_name().as_deref() {
        Some("memory") => {
            let mut kept = Vec::new();
            // Slow enough that it is not done before anybody looks.
            for number in 0..64_u8 {
                kept.push(vec![number | 1; 16 << 20]);
                thread::sleep(Duration::from_millis(5));
            }
            println!("\nfound memory = {}", kept.len());
        }
        Some("files") => {
            let mut open = Vec::new();
            while let Ok(file) = fs::File::open("/dev/null") {
                open.push(file);
            }
            println!("\nfound files = {}", open.len());
        }
        _ => {}
    }
}

/// S3
#[test]
fn no_process_survives_its_command() {
    escape(&Ground::new().shell(), 14);
}

/// S3: without namespaces the tree is stopped and ended by hand.
#[test]
fn no_process_survives_its_command_without_a_sandbox() {
    escape(&Ground::new().shell_with(open()), 14);
}

/// S3
#[test]
fn processes_that_are_being_made_while_all_are_ended_are_ended_too() {
    for sandbox in [sandbox(), open()] {
        let mark = mark();
        let ground = Ground::new();
        let shell = ground.shell_with(sandbox);
        let script = format!(
            "f() {{ sleep {mark} & setsid sleep {mark} & }}; while :; do f; sleep 0.01; done"
        );
        let ran = shell.value(&json!({ "script": script, "timeout_seconds": 1 }));
        assert!(
            ran.is_timeout() || ran.limit() == Some("processes"),
            "{ran:?}"
        );
        none_survives(&mark);
    }
}

/// S3, S8
#[test]
fn a_fork_bomb_ends_by_its_limit() {
    let mark = mark();
    let ground = Ground::new();
    let shell = ground.limited(Limits {
        shell_processes: 64,
        ..Limits::default()
    });
    // Not in the words by which it would be refused before.
    let script = format!("echo 'sh \"$0\" & sh \"$0\" & sleep {mark}' > bomb; sh ./bomb");
    let begun = Instant::now();
    let ran = shell.script(&script);
    assert_eq!(ran.limit(), Some("processes"), "{ran:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    none_survives(&mark);
}

/// S4
#[test]
fn a_child_that_holds_the_pipes_keeps_nobody_waiting() {
    let mark = mark();
    let begun = Instant::now();
    let ran = Ground::new()
        .shell()
        .script(&format!("echo before; sleep {mark} & echo after"));
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(ran.stdout(), "before\nafter\n");
    assert_eq!(ran.left_behind(), 1);
    none_survives(&mark);
}

/// S5
#[test]
fn a_caller_that_is_killed_takes_its_commands_along() {
    if let Some(text) = reexec::input_of(a_caller_that_is_killed_takes_its_commands_along) {
        return wait_for_ever(&text);
    }
    kill_callers(a_caller_that_is_killed_takes_its_commands_along, 12);
}

/// S5: a killed process closes what it had open before its children can see that it is gone. Here it stays in that state.
#[test]
fn a_caller_whose_channel_closes_without_a_word_is_taken_for_dead() {
    const COMMAND_RUNS: &str = "the command runs";
    let input = reexec::input_of(a_caller_whose_channel_closes_without_a_word_is_taken_for_dead);
    if let Some(text) = input {
        let mut parts = text.splitn(3, ' ').skip(1);
        let sleeping = format!("sleep\0{}", parts.next().unwrap());
        let told = Path::new(parts.next().unwrap()).join(COMMAND_RUNS);
        thread::spawn(move || wait_for_ever(&text));
        until("the command", || marked(&sleeping).len() >= 3);
        // In a file, because the command may be over before anybody outside has seen it.
        fs::write(told, "").unwrap();
        close_sockets();
        thread::sleep(Duration::from_secs(60));
        return;
    }
    for kind in ["confined", "open"] {
        let mark = mark();
        let ground = Ground::new();
        let given = format!("{kind} {mark} {}", ground.root().display());
        let mut caller = reexec::command(
            a_caller_whose_channel_closes_without_a_word_is_taken_for_dead,
            &given,
        );
        caller.env("TMPDIR", ground.outside());
        let mut caller = KillOnDrop(caller.spawn().unwrap());
        until("the command", || ground.root().join(COMMAND_RUNS).exists());
        until("the removal", || {
            fs::read_dir(ground.outside()).unwrap().count() == 0
        });
        none_survives(&format!("sleep\0{mark}"));
        assert!(caller.0.try_wait().unwrap().is_none(), "the caller lives");
    }
}

fn close_sockets() {
    for entry in fs::read_dir("/proc/self/fd").unwrap().flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        if target.to_string_lossy().starts_with("socket:") {
            let number: i32 = entry.file_name().to_str().unwrap().parse().unwrap();
            nix::unistd::close(number).unwrap();
        }
    }
}

/// S8
#[test]
fn a_busy_loop_ends_by_its_limit() {
    let ground = Ground::new();
    let shell = ground.limited(Limits {
        shell_cpu: Duration::from_secs(1),
        ..Limits::default()
    });
    let ran = shell.script("(while :; do :; done); echo went on");
    assert_eq!(ran.limit(), Some("cpu"), "{ran:?}");
    assert_eq!(ran.stdout(), "");
}

/// S8
#[test]
fn memory_ends_by_its_limit() {
    let ground = Ground::new();
    let limits = |bytes| Limits {
        shell_memory: bytes,
        ..Limits::default()
    };
    let ran = ground
        .limited(limits(256 << 20))
        .probed(probe, "memory", &[]);
    assert_eq!(ran.limit(), Some("memory"), "{ran:?}");
    let found = ground.limited(limits(4 << 30)).probe(probe, "memory", &[]);
    assert_eq!(found["memory"], "64");
}

/// S8
#[test]
fn memory_that_processes_share_is_counted_once() {
    let ground = Ground::new();
    let shell = ground.limited(Limits {
        shell_memory: 400 << 20,
        ..Limits::default()
    });
    // Twelve processes of 60 MB each, which are the same 60 MB.
    let script = "x=$(head -c 60000000 /dev/zero | tr '\\0' a)
        for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (sleep 1; echo ${#x}) & done; wait";
    let ran = shell.argv(&["bash", "-c", script]);
    assert_eq!(ran.limit(), None, "{ran:?}");
    assert_eq!(ran.stdout(), "60000000\n".repeat(12));
}

/// S8: memory that belongs to no process would not be counted, so there is none.
#[test]
fn memory_without_a_process_is_not_to_be_had() {
    let ground = Ground::new();
    let ran = ground.shell().script("perl -e 'my $a = \"a\"; print syscall(319, $a, 0), syscall(29, 0, 4096, 01600)' || true; ls /dev/shm /run/user");
    assert!(
        ran.stdout() == "-1-1" || cfg!(not(target_arch = "x86_64")),
        "{ran:?}"
    );
}

/// S8
#[test]
fn a_large_file_ends_by_its_limit() {
    let ground = Ground::new();
    let shell = ground.limited(Limits {
        shell_file_bytes: 1 << 20,
        ..Limits::default()
    });
    let ran = shell.argv(&["dd", "if=/dev/zero", "of=large", "bs=64k", "count=64"]);
    assert_eq!(ran.limit(), Some("file_size"), "{ran:?}");
    assert_eq!(
        fs::metadata(ground.root().join("large")).unwrap().len(),
        1 << 20
    );
    let ran = shell.script("head -c 4M /dev/zero > large");
    assert_eq!(ran.limit(), Some("file_size"), "{ran:?}");
}

/// S8
#[test]
fn open_files_are_limited() {
    let ground = Ground::new();
    let shell = ground.limited(Limits {
        shell_open_files: 64,
        ..Limits::default()
    });
    let found: u32 = shell.probe(probe, "files", &[])["files"].parse().unwrap();
    assert!((32..64).contains(&found), "{found}");
}

/// S10
#[test]
fn a_signal_is_reported_by_its_name() {
    let ran = Ground::new().shell().argv(&["sh", "-c", "kill -SEGV $$"]);
    assert_eq!(
        ran.0["ended"],
        json!({"by": "signal", "number": 11, "name": "SIGSEGV"})
    );
    let ran = Ground::new().shell().argv(&["sh", "-c", "kill -40 $$"]);
    assert_eq!(
        ran.0["ended"],
        json!({"by": "signal", "number": 40, "name": "signal 40"})
    );
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let outcome = Ground::new()
        .shell()
        .call(&json!({ "argv": ["no-such-program", "-x"] }));
    assert_eq!(
        outcome.error(),
        Some(
            "`no-such-program` cannot be run: there is no such program; give a program that is installed, by its name or its whole path"
        )
    );
}

/// S9
#[test]
fn a_program_that_is_no_helper_runs_no_command() {
    let outcome = Ground::new()
        .shell_with(Sandbox::confined())
        .call(&json!({ "argv": ["true"] }));
    assert!(
        outcome.error().unwrap().contains("`toolkit::enter()`"),
        "{outcome:?}"
    );
    let outcome = Ground::new()
        .shell_with(Sandbox::confined().helper("/bin/true"))
        .call(&json!({ "argv": ["true"] }));
    assert!(!outcome.is_ok(), "{outcome:?}");
}

/// S9
#[test]
fn without_landlock_no_command_is_run() {
    alone(without_landlock_no_command_is_run, || {
        forbid(&[libc::SYS_landlock_create_ruleset], libc::ENOSYS);
        let ground = Ground::new();
        let outcome = ground.shell().call(&json!({ "argv": ["touch", "ran"] }));
        let error = outcome.error().unwrap();
        assert!(
            error.contains("the sandbox lacks landlock") && error.contains("operator"),
            "{error}"
        );
        assert!(!ground.root().join("ran").exists());

        let ran = ground.shell_with(open()).argv(&["touch", "ran"]);
        assert_eq!(ran.level(), "none");
        assert!(ran.layers().contains("unsandboxed"), "{}", ran.layers());
        assert!(ground.root().join("ran").exists());
    });
}

/// S9
#[test]
fn without_seccomp_no_command_is_run() {
    alone(without_seccomp_no_command_is_run, || {
        forbid(&[libc::SYS_seccomp], libc::ENOSYS);
        let ground = Ground::new();
        let outcome = ground.shell().call(&json!({ "argv": ["touch", "ran"] }));
        let error = outcome.error().unwrap();
        assert!(error.contains("the sandbox lacks seccomp"), "{error}");
        assert!(!ground.root().join("ran").exists());
    });
}

/// S9
#[test]
fn without_namespaces_the_rest_holds_and_the_record_says_so() {
    alone(
        without_namespaces_the_rest_holds_and_the_record_says_so,
        || {
            forbid(&[libc::SYS_unshare], libc::EPERM);
            let ground = Ground::new();
            let secret = ground.outside().join("secret");
            fs::write(&secret, "secret").unwrap();
            let shell = ground.shell();
            let ran = shell.script(&format!("cat {} /etc/shadow; grep -E 'CapEff' /proc/self/status; bash -c 'echo > /dev/tcp/127.0.0.1/1'; echo ran", secret.display()));
            assert_eq!(ran.stdout(), "ran\n", "{ran:?}");
            assert_eq!(ran.level(), "reduced");
            let layers = ran.layers();
            assert!(
                layers.contains("landlock") && layers.contains("namespaces: unshare"),
                "{layers}"
            );
            escape(&shell, 7);

            fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
            let ran = shell.script(&format!(
                "chmod 666 {0}; chmod o+w {0}; chown $(id -u) {0}; setfattr -n user.x -v y {0}; perl -e 'exit !chmod(0666, \"{0}\")' || echo kept",
                secret.display()
            ));
            assert_eq!(ran.stdout(), "kept\n", "{ran:?}");
            let mode = fs::metadata(&secret).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        },
    );
}

/// S9: a container may refuse handles of processes, which hold nothing back.
#[test]
fn without_handles_of_processes_commands_end_as_they_do_with_them() {
    alone(
        without_handles_of_processes_commands_end_as_they_do_with_them,
        || {
            let ground = Ground::new();
            let before = ground.shell().script("echo said; exit 3");
            for call in [libc::SYS_pidfd_send_signal, libc::SYS_pidfd_open] {
                forbid(&[call], libc::ENOSYS);
                for (shell, level) in [
                    (ground.shell(), before.level()),
                    (ground.shell_with(open()), "none"),
                ] {
                    let ran = shell.script("echo said; exit 3");
                    assert_eq!((ran.code(), ran.level()), (Some(3), level), "{ran:?}");
                    assert_eq!(ran.stdout(), "said\n", "{ran:?}");
                    escape(&shell, 7);
                }
            }
            forbid(&[libc::SYS_unshare], libc::EPERM);
            let shell = ground.shell();
            assert_eq!(shell.script("true").level(), "reduced");
            escape(&shell, 7);
        },
    );
}

/// S9: `is_full` tells the other tests what this machine has; here it is said once, in words.
#[test]
fn the_record_of_every_command_names_its_layers() {
    let ran = Ground::new().shell().argv(&["true"]);
    let layers = ran.layers();
    for layer in [
        "limits",
        "no new privileges",
        "landlock ",
        "no capabilities",
        "seccomp",
    ] {
        assert!(layers.contains(layer), "{layers}");
    }
    if is_full("S9", "the_record_of_every_command_names_its_layers") {
        assert!(layers.contains(r#""missing":[]"#), "{layers}");
    }
}
