//! Limits that a command tries to escape, and ends that come too late.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::confined::{
    Ground, Ran, Shell, argument, is_full, mark, marked, none_survives, probe as probe_name, tell,
    until,
};
use crate::reexec;
use serde_json::json;
use toolkit::Limits;

/// Not a test: what this binary does when it is the command in a sandbox.
#[test]
fn probe() {
    if probe_name().as_deref() != Some("deep") {
        return;
    }
    let depth: u32 = argument(0).parse().unwrap();
    std::env::set_current_dir(std::env::var("TMPDIR").unwrap()).unwrap();
    for _ in 0..depth {
        fs::create_dir("d").unwrap();
        std::env::set_current_dir("d").unwrap();
    }
    tell("deep", Ok(()));
    thread::sleep(Duration::from_secs(60));
}

/// Makes the system calls of a list; the first process of the namespace has the number 1.
const PERL: &str = r#"
    my $calls = "$ENV{CALLS}";
    for my $line (split /;/, $calls) {
        my ($name, @arguments) = split / /, $line;
        my @given = map { $_ eq "LIMIT" ? pack("QQ", 5, 5) : $_ eq "ONE" ? pack("Q", 1) : $_ eq "NULL" ? 0 : $_ + 0 } @arguments;
        my $result = syscall($given[0], @given[1..$#given]);
        print "$name ", ($result == -1 ? "refused" : "done"), "\n";
    }
"#;

/// S8: the process that holds the limits has the same user, so it must be out of reach.
#[test]
#[cfg(target_arch = "x86_64")]
fn nothing_takes_from_the_helper_what_it_counts_with() {
    let test = "nothing_takes_from_the_helper_what_it_counts_with";
    if !is_full("S8", test) {
        return;
    }
    let ground = Ground::new();
    let calls = "nofile 302 1 7 LIMIT NULL;nice 141 0 1 19;everyone 141 2 0 19;batch 144 1 3 ONE;affinity 203 1 8 ONE;io 251 1 1 16385;own 302 0 7 NULL NULL;self 141 0 0 19";
    let ran = ground
        .shell()
        .argv(&["sh", "-c", &format!("CALLS='{calls}' perl -e '{PERL}'")]);
    assert_eq!(
        ran.stdout(),
        "nofile refused\nnice refused\neveryone refused\nbatch refused\naffinity refused\nio refused\nown done\nself done\n",
        "{ran:?}"
    );
}

/// S8: and if it were taken all the same, not to see anything is no reason to go on.
#[test]
fn a_command_whose_processes_cannot_be_counted_is_ended() {
    let test = "a_command_whose_processes_cannot_be_counted_is_ended";
    if !is_full("S8", test) {
        return;
    }
    let ground = Ground::new();
    let shell = ground.shell();
    let mark = mark();
    let script = format!("echo before; sleep {mark}; true");
    let running = thread::spawn(move || shell.script(&script));
    until("the command", || {
        !marked(&format!("sleep\0{mark}")).is_empty()
    });
    let [_, second] = helpers(&mark);
    // From outside, with the rights that a command has not.
    let limit = rlimit(second, 5);
    assert!(limit, "the limit could not be set");
    let ran = running.join().unwrap();
    assert_eq!(ran.limit(), Some("uncounted"), "{ran:?}");
    assert_eq!(ran.stdout(), "before\n");
    none_survives(&mark);
}

/// S8
#[test]
fn what_a_command_said_remains_when_its_helper_is_lost() {
    // A helper that is killed before it could say that the command runs is lost at the start; then once more.
    let ran = (0..10).find_map(|_| lose_helper());
    let ran = ran.expect("one that was lost later");
    assert_eq!(ran.0["ended"], json!({"by": "lost"}), "{ran:?}");
    assert_eq!(ran.stdout(), "before\n");
    assert_eq!(ran.0["stdout"]["complete"], false, "{ran:?}");
}

/// Kills the helper of a command that runs; gives its report, if there is one.
fn lose_helper() -> Option<Ran> {
    let ground = Ground::new();
    let shell = ground.shell();
    let mark = mark();
    let script = format!("echo before; sleep {mark}; true");
    let running = thread::spawn(move || shell.call(&json!({ "script": script })));
    until("the command", || {
        !marked(&format!("sleep\0{mark}")).is_empty()
    });
    let [first, _] = helpers(&mark);
    kill(first);
    let outcome = running.join().unwrap();
    none_survives(&mark);
    let error = outcome.error().unwrap_or_default();
    assert!(
        error.is_empty() || error.contains("was ended from outside"),
        "{error}"
    );
    outcome.is_ok().then(|| Ran(outcome.value().unwrap()))
}

/// The stages of the helper above a process with a mark.
fn helpers(mark: &str) -> [u32; 2] {
    let mut at = *marked(&format!("sleep\0{mark}")).first().unwrap();
    let mut above = Vec::new();
    while at != std::process::id() {
        at = parent(at);
        above.push(at);
    }
    above.pop();
    let first = above.pop().unwrap();
    [first, above.pop().unwrap_or(first)]
}

fn parent(pid: u32) -> u32 {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = line.rsplit_once(") ").unwrap().1;
    rest.split(' ').nth(1).unwrap().parse().unwrap()
}

fn kill(pid: u32) {
    let pid = nix::unistd::Pid::from_raw(pid.try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}

fn rlimit(pid: u32, most: u32) -> bool {
    let mut command = std::process::Command::new("prlimit");
    command
        .arg(format!("--pid={pid}"))
        .arg(format!("--nofile={most}:{most}"));
    command.status().is_ok_and(|status| status.success())
}

/// Memory that was filled and then left by all pages of the process.
const SHARED: &str = "import mmap, time
kept = []
for part in range(8):
    m = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    m.write(b'x' * (64 << 20))
    m.madvise(mmap.MADV_DONTNEED)
    kept.append(m)
    time.sleep(0.15)
print('kept', len(kept))";

/// S8
#[test]
fn shared_memory_that_left_the_process_is_counted() {
    let has_python = std::process::Command::new("python3").arg("-V").output();
    if has_python.is_err() {
        note("NOT RUN S8 shared_memory_that_left_the_process_is_counted: no python3");
        return;
    }
    let ground = Ground::new();
    let limits = |bytes| Limits {
        shell_memory: bytes,
        ..Limits::default()
    };
    let shell = ground.limited(limits(256 << 20));
    let ran = shell.argv(&["python3", "-c", SHARED]);
    assert_eq!(ran.limit(), Some("memory"), "{ran:?}");
    let shell = ground.limited(limits(2 << 30));
    let ran = shell.argv(&["python3", "-c", SHARED]);
    assert_eq!(ran.stdout(), "kept 8\n", "{ran:?}");
}

/// S8: shared by many processes, it is counted once.
#[test]
fn shared_memory_of_many_processes_is_counted_once() {
    let script = "import mmap, os, time
m = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
m.write(b'x' * (64 << 20))
for _ in range(12):
    if os.fork() == 0:
        m[0:64 << 20]
        time.sleep(1)
        os._exit(0)
while True:
    try: os.wait()
    except ChildProcessError: break
print('done')";
    if std::process::Command::new("python3")
        .arg("-V")
        .output()
        .is_err()
    {
        note("NOT RUN S8 shared_memory_of_many_processes_is_counted_once: no python3");
        return;
    }
    let ground = Ground::new();
    let shell = ground.limited(Limits {
        // Each copies what it reads, for a moment.
        shell_memory: 1200 << 20,
        ..Limits::default()
    });
    let ran = shell.argv(&["python3", "-c", script]);
    assert_eq!(ran.stdout(), "done\n", "{ran:?}");
}

fn note(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn left(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Runs the rest of a test in a process whose temporary files lie in a folder of their own, with a user that modes hold back
/// where there is one.
fn with_own_temporary<T: Fn() + Copy>(test: T, rest: impl FnOnce(&Path)) {
    if let Some(given) = reexec::input_of(test) {
        return rest(Path::new(&given));
    }
    let own = tempfile::tempdir().unwrap();
    let path = own.path().canonicalize().unwrap();
    let mut command = reexec::command(test, path.to_str().unwrap());
    reexec::run(command.env("TMPDIR", &path));
}

/// S8: for an ordinary user, a mode of zero is an obstacle.
#[test]
fn temporary_files_go_whatever_their_modes_are() {
    with_own_temporary(temporary_files_go_whatever_their_modes_are, |own| {
        let ground = Ground::new();
        let ran = ground.shell().script(
            "mkdir -p $TMPDIR/x/y/z; echo text > $TMPDIR/x/y/z/file; chmod 0 $TMPDIR/x/y/z $TMPDIR/x/y $TMPDIR/x $TMPDIR; echo done",
        );
        assert_eq!(ran.stdout(), "done\n", "{ran:?}");
        until("the removal", || commands(own).is_empty());
    });
}

/// S8: a helper that is killed with its program leaves everything; the next program takes it away.
#[test]
fn what_a_killed_program_left_goes_with_the_next_and_what_the_living_have_stays() {
    with_own_temporary(
        what_a_killed_program_left_goes_with_the_next_and_what_the_living_have_stays,
        |own| {
            // A living program, whose command has files.
            let ground = Ground::new();
            let shell = ground.shell();
            let mark = mark();
            let script = format!("echo x > $TMPDIR/kept; chmod 0 $TMPDIR; sleep {mark}; true");
            let running = thread::spawn(move || shell.script(&script));
            until("the command", || {
                !marked(&format!("sleep\0{mark}")).is_empty()
            });
            let living = commands(own);
            assert_eq!(living.len(), 1);
            // What the dead leave, and what is none.
            let name = |digits: &str| own.join(format!("toolkit-command-{digits}"));
            let dead = ["0".repeat(32), "f".repeat(32)].map(|digits| name(&digits));
            let others = [name("0"), name(&"x".repeat(32))];
            for folder in dead.iter().chain(&others) {
                fs::create_dir_all(folder.join("deep")).unwrap();
                fs::write(folder.join("deep/file"), "x").unwrap();
            }
            let closed = std::os::unix::fs::PermissionsExt::from_mode(0o000);
            fs::set_permissions(&dead[0], closed).unwrap();
            let linked = name(&"a".repeat(32));
            std::os::unix::fs::symlink(&others[0], &linked).unwrap();
            // The next program.
            let mut next = std::process::Command::new(env!("CARGO_BIN_EXE_toolkit"));
            next.args(["--root", ground.root().to_str().unwrap(), "call"]);
            let script = "test -e a || sleep 1";
            next.args(["run_shell", &json!({ "script": script }).to_string()]);
            let output = next.env("TMPDIR", own).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            for folder in &dead {
                assert!(!folder.exists(), "{folder:?}");
            }
            assert!(living[0].join("kept").exists());
            assert!(others.iter().all(|other| other.join("deep/file").exists()));
            assert!(linked.is_symlink());
            kill(*marked(&format!("sleep\0{mark}")).first().unwrap());
            running.join().unwrap();
            until("the removal", || !living[0].exists());
        },
    );
}

/// The folders of commands in a folder.
fn commands(folder: &Path) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("toolkit-command-")
    };
    left(folder).into_iter().filter(is_one).collect()
}

/// S8: the call ends in time, and nothing of it stays.
#[test]
fn temporary_files_of_any_depth_keep_nobody_waiting() {
    with_own_temporary(temporary_files_of_any_depth_keep_nobody_waiting, |own| {
        let ground = Ground::new();
        let shell = Shell::new(ground.workspace_with(crate::confined::probing()));
        let script = format!(
            "TOOLKIT_TEST_PROBE=deep TOOLKIT_TEST_PROBE_0=2000 {}",
            reexec::argv(probe).join(" ")
        );
        // On a busy machine the folders are not made within the first limits, and a single end may be late.
        let ended_in_time = [3, 6, 12, 24, 48].into_iter().any(|seconds| {
            let begun = Instant::now();
            let ran = shell.value(&json!({ "script": script, "timeout_seconds": seconds }));
            let late = begun.elapsed().saturating_sub(Duration::from_secs(seconds));
            assert!(ran.is_timeout(), "{ran:?}");
            let is_deep = ran.stdout().contains("found deep");
            note(&format!(
                "S8: a timeout of {seconds} s ended the call {late:?} late (deep folders: {is_deep})"
            ));
            is_deep && late < Duration::from_millis(2_500)
        });
        assert!(ended_in_time);
        until("the removal", || commands(own).is_empty());
    });
}

/// S8
#[test]
fn a_stream_that_a_timeout_cut_off_is_not_complete() {
    let ground = Ground::new();
    let shell = ground.shell();
    let script = "echo begun; exec 2>&-; sleep 60";
    let ran = shell.value(&json!({ "script": script, "timeout_seconds": 1 }));
    assert!(ran.is_timeout(), "{ran:?}");
    assert_eq!(ran.0["stdout"]["complete"], false, "{ran:?}");
    let ran = shell.script("echo begun");
    assert_eq!(ran.0["stdout"]["complete"], true, "{ran:?}");
}
