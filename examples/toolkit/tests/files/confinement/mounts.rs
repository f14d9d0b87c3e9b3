//! Other file systems below a root, and the links of /proc.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use contract_runtime::Status;
use serde_json::json;
use toolkit::Workspace;

use super::{CANARY, Ground, assert_confined, call, registry};
use crate::reexec;

/// F4: /proc, /sys and /dev are other mounts, and no part of a root that holds them.
#[test]
fn a_root_does_not_hold_what_is_mounted_in_it() {
    let registry = registry(Workspace::new("/").unwrap());
    let open = fs::File::open("/etc/passwd").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    let paths = [
        "proc/version",
        "/proc/version",
        "proc/self/environ",
        "proc/self/root/etc/passwd",
        "proc/self/cwd/Cargo.toml",
        "proc/self/exe",
        &format!("proc/self/fd/{number}"),
        "proc/../proc/version",
        "/proc",
        "sys/kernel/notes",
        "/sys",
        "dev/null",
    ];
    for path in paths {
        for tool in ["read_file", "read_folder"] {
            let outcome = call(&registry, tool, &json!({"path": path}));
            assert_eq!(
                outcome.status(),
                Status::Failed,
                "{tool} {path}: {outcome:?}"
            );
        }
    }
    let outcome = call(&registry, "read_file", &json!({"path": "proc/version"}));
    assert_eq!(
        outcome.error().unwrap(),
        "`proc/version` is on another file system than the workspace and does not belong to it; choose another path"
    );
}

/// F4: links of /proc lead anywhere, so none is followed, not even where /proc is granted.
#[test]
fn no_magic_link_is_followed() {
    let everything = Workspace::builder()
        .root("/")
        .cross_mounts(true)
        .build()
        .unwrap();
    let everything = registry(everything);
    let own = registry(Workspace::new("/proc/self").unwrap());
    let open = fs::File::open("/etc/passwd").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    for path in [
        "root/etc/passwd",
        "cwd/Cargo.toml",
        "exe",
        &format!("fd/{number}"),
        "ns/mnt",
        "root",
        "cwd",
    ] {
        for (registry, path) in [
            (&everything, format!("proc/self/{path}")),
            (&own, path.to_owned()),
        ] {
            for tool in ["read_file", "read_folder"] {
                let outcome = call(registry, tool, &json!({"path": path}));
                assert_eq!(
                    outcome.status(),
                    Status::Failed,
                    "{tool} {path}: {outcome:?}"
                );
            }
        }
    }
    // Granted by name, it can be read: the refusals are for the links.
    let outcome = call(&everything, "read_file", &json!({"path": "proc/version"}));
    assert_eq!(outcome.status(), Status::Ok, "{outcome:?}");
}

/// F4: in a namespace of its own, where anybody may mount.
#[test]
fn what_is_mounted_below_a_root_does_not_belong_to_it() {
    const NAME: &str = "what_is_mounted_below_a_root_does_not_belong_to_it";
    if reexec::input_of(what_is_mounted_below_a_root_does_not_belong_to_it).is_none() {
        let probe = Command::new("unshare")
            .args(["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"])
            .output();
        match probe {
            Ok(answer) if answer.status.success() => {}
            answer => {
                let answer =
                    answer.map(|answer| String::from_utf8_lossy(&answer.stderr).into_owned());
                // `eprintln!` would be captured.
                let _ = writeln!(std::io::stderr(), "NOT RUN F4 {NAME}: {answer:?}");
                return;
            }
        }
        reexec::run(&mut reexec::command_under(
            &["unshare", "-Urm"],
            what_is_mounted_below_a_root_does_not_belong_to_it,
            "",
        ));
        return;
    }
    let ground = Ground::new();
    let at = |path: &str| PathBuf::from(ground.path(path));
    for made in ["ws/disk", "ws/bound", "ws/a/deep"] {
        fs::create_dir(at(made)).unwrap();
    }
    fs::write(at("ws/covered"), "inside").unwrap();
    let mount = |arguments: &[&Path]| {
        assert!(
            Command::new("mount")
                .args(arguments)
                .status()
                .unwrap()
                .success(),
            "{arguments:?}"
        );
    };
    mount(&[
        "-t".as_ref(),
        "tmpfs".as_ref(),
        "none".as_ref(),
        &at("ws/disk"),
    ]);
    mount(&["--bind".as_ref(), &at("outside"), &at("ws/bound")]);
    mount(&["--bind".as_ref(), &at("outside"), &at("ws/a/deep")]);
    mount(&["--bind".as_ref(), &at("outside/canary"), &at("ws/covered")]);
    fs::write(at("ws/disk/canary"), CANARY).unwrap();

    let before = ground.outside();
    for path in [
        "disk",
        "disk/canary",
        "bound",
        "bound/canary",
        "bound/inner/canary",
        "a/deep/canary",
        "covered",
        "bound/../bound",
        "bound/new/file",
    ] {
        assert_confined(&ground.registry, path).unwrap();
        let outcome = call(&ground.registry, "read_file", &json!({"path": path}));
        assert_eq!(outcome.status(), Status::Failed, "{path}: {outcome:?}");
    }
    for path in [".", "a"] {
        let outcome = call(
            &ground.registry,
            "read_folder",
            &json!({"path": path, "depth": 4}),
        );
        assert_eq!(outcome.status(), Status::Ok, "{outcome:?}");
        let listing = outcome.output().unwrap();
        assert!(
            !listing.contains("canary\",\"kind\":\"file") && listing.contains(r#""partial":true"#),
            "{listing}"
        );
        assert_confined(&ground.registry, path).unwrap();
    }
    assert_eq!(ground.outside(), before);

    // The operator may grant them.
    let granted = registry(
        Workspace::builder()
            .root(at("ws"))
            .cross_mounts(true)
            .build()
            .unwrap(),
    );
    for path in ["disk/canary", "bound/canary", "covered"] {
        let outcome = call(&granted, "read_file", &json!({"path": path}));
        assert!(
            outcome
                .output()
                .is_some_and(|output| output.contains(CANARY)),
            "{path}: {outcome:?}"
        );
    }
}
