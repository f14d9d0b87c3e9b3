//! What a command can reach: of files, other processes and the program that started it.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::{fs, thread};

use crate::confined::{
    Ground, argument, is_full, probe as probe_name, probing, read, sandbox, tell,
};
use crate::reexec;

/// Not a test: what this binary does when it is the command in a sandbox.
#[test]
fn probe() {
    if probe_name().is_some() {
        change_attributes(Path::new(&argument(0)));
    }
}

fn change_attributes(path: &Path) {
    tell(
        "mode",
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)),
    );
    let (owner, group) = rustix::fs::stat(path)
        .map(|stat| (stat.st_uid, stat.st_gid))
        .unwrap();
    let owner = rustix::fs::Uid::from_raw(owner);
    let group = rustix::fs::Gid::from_raw(group);
    tell(
        "owner",
        system(rustix::fs::chown(path, Some(owner), Some(group))),
    );
    let times = rustix::fs::Timestamps {
        last_access: rustix::fs::Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        },
        last_modification: rustix::fs::Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        },
    };
    tell(
        "times",
        system(rustix::fs::utimensat(
            rustix::fs::CWD,
            path,
            &times,
            rustix::fs::AtFlags::empty(),
        )),
    );
    tell(
        "attribute",
        system(rustix::fs::setxattr(
            path,
            "user.toolkit",
            b"x",
            rustix::fs::XattrFlags::empty(),
        )),
    );
}

fn system<T>(result: rustix::io::Result<T>) -> io::Result<T> {
    result.map_err(io::Error::from)
}

/// S7
#[test]
fn nothing_of_the_program_that_calls_is_seen() {
    let Some(canary) = reexec::input_of(nothing_of_the_program_that_calls_is_seen) else {
        let canary = format!("canary-{:x}", std::process::id());
        let mut child = reexec::command(nothing_of_the_program_that_calls_is_seen, &canary);
        reexec::run(child.env("TOOLKIT_CANARY", &canary));
        return;
    };
    let ground = Ground::new();
    // Open for every program that is executed, as a library of the host might leave it.
    let secret = ground.outside().join("secret");
    fs::write(&secret, &canary).unwrap();
    let file = fs::File::open(&secret).unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let script = "for i in 3 4 5 6 7 8 9; do cat /proc/self/fd/$i /proc/1/fd/$i 2>/dev/null; done | grep -a canary-; \
        cat /proc/*/environ 2>/dev/null | grep -a canary- ; env | grep canary-; echo looked";

    let output = std::process::Command::new("sh")
        .args(["-c", "ls -l /proc/self/fd; env"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("/secret") && text.contains(&canary),
        "the canary sings: {text}"
    );

    let ran = ground.shell().script(script);
    assert_eq!(ran.stdout(), "looked\n", "{ran:?}");
    let listed = ground.shell().script("ls -l /proc/self/fd/");
    assert!(!listed.stdout().contains("secret"), "{listed:?}");
}

/// S7
#[test]
fn a_command_is_not_root_and_can_nothing_that_root_can() {
    if !is_full("S7", "a_command_is_not_root_and_can_nothing_that_root_can") {
        return;
    }
    let ran = Ground::new()
        .shell()
        .script("id -u; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
    let text = ran.stdout();
    let mut lines = text.lines();
    assert_ne!(lines.next(), Some("0"));
    let mut seen = 0;
    for line in lines {
        let (name, value) = line.split_once(":\t").unwrap();
        match name {
            "NoNewPrivs" => assert_eq!(value, "1"),
            "Seccomp" => assert_eq!(value, "2"),
            _ => assert_eq!(value, "0000000000000000", "{name}"),
        }
        seen += 1;
    }
    assert_eq!(seen, 7, "{text}");
}

/// S7
#[test]
fn only_the_processes_of_the_command_are_seen() {
    if !is_full("S7", "only_the_processes_of_the_command_are_seen") {
        return;
    }
    let ran = Ground::new().shell().script("ls -d /proc/[0-9]* | wc -l; cat /proc/1/environ; ls /proc/1/root; readlink /proc/1/fd/*; kill -9 1; echo $?");
    let text = ran.stdout();
    let lines: Vec<&str> = text.lines().collect();
    let seen: u32 = lines[0].parse().unwrap();
    assert!(seen <= 6, "{text}");
    assert_eq!(lines.len(), 2, "the first process shows nothing: {text}");
    assert_eq!(ran.code(), Some(0), "and is not ended: {ran:?}");
}

/// S2
#[test]
fn the_environment_is_what_the_workspace_says_and_nothing_else() {
    let ground = Ground::new();
    let ran = ground
        .shell_with(
            sandbox()
                .environment("EXTRA", "1")
                .pass_environment("CARGO_MANIFEST_DIR"),
        )
        .argv(&["env"]);
    let text = ran.stdout();
    let mut names: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    names.sort_unstable();
    // Cargo gives it to tests; it is passed on where it is there.
    let is_given = std::env::var_os("CARGO_MANIFEST_DIR").is_some();
    assert_eq!(names.contains(&"CARGO_MANIFEST_DIR"), is_given);
    names.retain(|name| *name != "CARGO_MANIFEST_DIR");
    assert_eq!(names, ["EXTRA", "HOME", "LANG", "PATH", "TERM", "TMPDIR"]);
}

/// S2: what a poisoned environment could do, a command may do to itself, and it gains nothing by it.
#[test]
fn a_poisoned_environment_opens_no_door() {
    let ground = Ground::new();
    let secret = ground.outside().join("secret");
    fs::write(&secret, "secret").unwrap();
    let secret = secret.display();
    let ran = ground.shell().script(&format!(
        "export LD_PRELOAD=$PWD/x.so GIT_SSH_COMMAND='cat {secret}' GIT_PAGER='cat {secret}' BASH_ENV={secret} ENV={secret}
         printf '#!/bin/sh\\ncat {secret}\\n' > ls; chmod +x ls; PATH=$PWD:$PATH ls
         bash -c 'cat {secret}'; true"
    ));
    assert!(!ran.stdout().contains("secret"), "{ran:?}");
}

/// F5
#[test]
fn no_file_outside_is_read_linked_or_changed() {
    let ground = Ground::new();
    let secret = ground.outside().join("secret");
    fs::write(&secret, "secret").unwrap();
    let path = secret.display();
    let ran = ground.shell().script(&format!(
        "cat {path}; cat /proc/self/root{path}; ln {path} linked; ln -s {path} soft; cat soft; cp {path} copy
         echo x > {path}; : > {path}; rm {path}; mv {path} moved; ls {}; touch {}/new; cat /etc/shadow; true",
        ground.outside().display(),
        ground.outside().display(),
    ));
    assert_eq!(ran.stdout(), "", "{ran:?}");
    assert_eq!(read(&secret), "secret");
    assert!(!ground.root().join("linked").exists());
    assert!(!ground.root().join("moved").exists());
    assert_eq!(fs::read_dir(ground.outside()).unwrap().count(), 1);
}

/// P9: Landlock knows nothing of these; the read-only mounts refuse them.
#[test]
fn modes_owners_times_and_attributes_outside_stay_as_they_are() {
    if !is_full(
        "P9",
        "modes_owners_times_and_attributes_outside_stay_as_they_are",
    ) {
        return;
    }
    let ground = Ground::new();
    let path = ground.outside().join("file");
    fs::write(&path, "x").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(&path).unwrap();
    // Where it may be read; else there is nothing to be changed.
    let found = ground.shell_with(probing().readable(&path)).probe(
        probe,
        "attributes",
        &[path.to_str().unwrap()],
    );
    assert_eq!(found.len(), 4);
    for (what, how) in &found {
        assert_ne!(how, "reached", "{what}");
    }
    let after = fs::metadata(&path).unwrap();
    assert_eq!(
        (before.mode(), before.mtime(), before.ctime_nsec()),
        (after.mode(), after.mtime(), after.ctime_nsec())
    );

    // The probe can: within the root it does.
    let own = ground.root().join("file");
    fs::write(&own, "x").unwrap();
    let found = ground
        .shell_with(probing())
        .probe(probe, "attributes", &[own.to_str().unwrap()]);
    for what in ["mode", "owner", "times"] {
        assert_eq!(found[what], "reached", "{what}");
    }
}

#[test]
fn devices_mounts_and_namespaces_are_out_of_reach() {
    let ground = Ground::new();
    let look = "ls /dev; echo x > /dev/kmsg; echo x > /dev/shm/x; head -c 1 /dev/mem; mknod node c 1 3
        mount -t tmpfs none .; unshare -Ur true && echo in; unshare -n true && echo in; nsenter -t 1 -m true && echo in
        chroot . true && echo in; cat /dev/tty; echo x > /dev/null && head -c 4 /dev/urandom | wc -c";
    fs::write(ground.root().join("look"), look).unwrap();
    let ran = ground.shell().argv(&["sh", "look"]);
    assert_eq!(ran.stdout(), "4\n", "{ran:?}");
}

/// A program of the caller's user, left where others can run it, would lend them that user: root, if it is root.
#[test]
fn no_program_is_made_that_others_run_as_the_user() {
    let ground = Ground::new();
    let ran = ground.shell().script(
        "cp /bin/true a && chmod u+s a; cp /bin/true b && chmod 2755 b; install -m 4755 /bin/true c
         perl -e 'umask 0; sysopen F, \"d\", 0101, 04755; mkdir \"e\", 02755'; chmod 755 a && echo done",
    );
    assert_eq!(ran.stdout(), "done\n", "{ran:?}");
    for entry in fs::read_dir(ground.root()).unwrap().flatten() {
        let mode = entry.metadata().unwrap().mode();
        assert!(
            entry.path().is_dir() || mode & 0o6000 == 0,
            "{mode:o} {entry:?}"
        );
    }
}

#[test]
fn a_command_has_a_folder_for_its_files_which_goes_with_it() {
    let ground = Ground::new();
    let ran = ground.shell().script("echo x > $TMPDIR/a && mkdir $HOME/b && mktemp > /dev/null && echo $TMPDIR; touch /tmp/x || echo kept");
    let text = ran.stdout();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{ran:?}");
    assert_eq!(lines[1], "kept");
    assert!(!Path::new(lines[0]).exists());
}

#[test]
fn commands_in_one_folder_at_the_same_time_do_their_work() {
    let ground = Ground::new();
    let shell = ground.shell();
    let alone = shell.argv(&["true"]);
    let level = alone.level();
    thread::scope(|scope| {
        for number in 0..4 {
            let shell = &shell;
            let root = ground.root();
            scope.spawn(move || {
                let ran = shell.script(&format!("pwd && mkdir -p {number}/deep && echo text > {number}/deep/file && cat {number}/deep/file"));
                assert_eq!(ran.stdout(), format!("{}\ntext\n", root.display()), "{ran:?}");
                assert_eq!(ran.code(), Some(0));
                assert_eq!(ran.level(), level, "{ran:?}");
            });
        }
    });
}
