//! Nothing outside of the roots is read, listed, changed or found, whatever the path says.

mod fuzz;
mod mounts;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolkit::Workspace;

/// What no result may ever hold.
const CANARY: &str = "the canary sings at midnight";

/// A workspace `ws`, with a folder beside it that it must not reach.
struct Ground {
    folder: TempDir,
    registry: Registry,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["ws/a/b", "ws/~", "ws-evil", "outside/inner"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        for path in [
            "ws-evil/canary",
            "outside/canary",
            "outside/inner/canary",
            "canary",
        ] {
            fs::write(at(path), CANARY).unwrap();
        }
        for path in ["ws/file", "ws/a/file", "ws/~/file", "ws/...", "ws/a/b/ .. "] {
            fs::write(at(path), "inside").unwrap();
        }
        symlink("../outside", at("ws/out")).unwrap();
        symlink(at("outside"), at("ws/absolute")).unwrap();
        symlink("../../outside/canary", at("ws/a/canary")).unwrap();
        symlink("../..", at("ws/a/up")).unwrap();
        symlink("/proc/self/root", at("ws/magic")).unwrap();
        let registry = registry(Workspace::new(at("ws")).unwrap());
        Self { folder, registry }
    }

    fn path(&self, path: &str) -> String {
        self.folder
            .path()
            .canonicalize()
            .unwrap()
            .join(path)
            .to_str()
            .unwrap()
            .to_owned()
    }

    /// Everything outside, by name and content.
    fn outside(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && path != self.folder.path().join("ws") {
                    folders.push(path.clone());
                }
                found.push((path.clone(), fs::read(&path).ok()));
            }
        }
        found.sort();
        found
    }
}

fn registry(workspace: Workspace) -> Registry {
    Registry::builder()
        .package("toolkit")
        .context(workspace)
        .build()
        .unwrap()
}

/// Every tool that takes a path, with that path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("read_file", json!({"path": path, "escape": true})),
        ("read_folder", json!({"path": path, "depth": 3})),
        (
            "search_in_files",
            json!({"path": path, "pattern": "canary", "hidden": true}),
        ),
        (
            "edit_file",
            json!({"path": path, "old": CANARY, "new": "silence"}),
        ),
        ("write_file", json!({"path": path, "text": "silence"})),
    ]
}

fn call(registry: &Registry, tool: &str, arguments: &Value) -> Outcome {
    registry
        .call(ToolCall::new("1", tool, arguments.to_string()))
        .blocking()
}

/// No tool shows the canary, and all give one of the ends that a hostile path may have.
fn assert_confined(registry: &Registry, path: &str) -> Result<(), TestCaseError> {
    for (tool, arguments) in calls(path) {
        let outcome = call(registry, tool, &arguments);
        let shown = format!("{outcome:?}");
        prop_assert!(
            !shown.contains("sings at midnight"),
            "{tool} {arguments}: {shown}"
        );
        let status = outcome.status();
        let may_end = [Status::Ok, Status::Failed, Status::Violation].contains(&status);
        prop_assert!(may_end, "{tool} {arguments}: {shown}");
    }
    Ok(())
}

/// F1: the shapes of published path traversals, each of them refused.
#[test]
fn no_spelling_of_a_path_leads_out() {
    let ground = Ground::new();
    let before = ground.outside();
    let root = ground.path("ws");
    let mut shapes: Vec<String> = [
        "..",
        "../",
        "../canary",
        "./../canary",
        "../../canary",
        "a/../../canary",
        "a/b/../../../canary",
        "../ws-evil/canary",
        "../ws/../canary",
        "out/canary",
        "out/inner/canary",
        "out/../canary",
        "out",
        "out/",
        "absolute/canary",
        "absolute",
        "a/canary",
        "a/up/canary",
        "a/up/ws/file",
        "a/up/ws/../canary",
        "magic/etc/passwd",
        "magic/",
        "~",
        "~/canary",
        "~root/x",
        "~+/..",
        "/",
        "//",
        "/.",
        "/..",
        "/etc/passwd",
        "//etc/passwd",
        "///etc//passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd/../canary",
        "/proc/self/environ",
        "/proc/1/root/etc/passwd",
        "/dev/fd/0",
        "/dev/stdin",
        "/dev/null",
        "/sys/kernel/notes",
        "/tmp",
        "....//canary",
        "..././canary",
        "..;/canary",
        "../%00canary",
        "%2e%2e/canary",
        "%2e%2e%2fcanary",
        "..%2fcanary",
        "%252e%252e%252fcanary",
        "..%c0%afcanary",
        "%c0%ae%c0%ae/canary",
        "%u002e%u002e/canary",
        r"..\canary",
        r"..\..\canary",
        r"..\/canary",
        r"\..\canary",
        r"C:\Windows\win.ini",
        r"\\server\share\canary",
        r"\\?\C:\canary",
        r"\x2e\x2e/canary",
        r"\u{2e}\u{2e}\x2fcanary",
        r"\x2fetc\x2fpasswd",
        r"\x7e/canary",
        "file:///etc/passwd",
        "file://../canary",
        "\u{ff0e}\u{ff0e}/canary",
        "\u{2025}/canary",
        "..\u{2215}canary",
        "..\u{ff0f}canary",
        "..\u{200b}/canary",
        ". ./canary",
        ".. /canary",
        " ../canary",
        "../canary ",
        "../canary.",
        "../canary::$DATA",
        "..\n/canary",
        "..\t/canary",
        "$HOME/canary",
        "${PWD}/../canary",
        "$(pwd)/../canary",
        "`pwd`/../canary",
        "{..,a}/canary",
        "*/canary",
        "../*",
        "-",
        "--",
        "-/../../canary",
        "|cat ../canary",
        "< ../canary",
    ]
    .map(str::to_owned)
    .into();
    shapes.extend([
        ground.path("ws-evil"),
        ground.path("ws-evil/canary"),
        ground.path("canary"),
        format!("{root}/../canary"),
        format!("{root}/a/../../ws-evil/canary"),
        format!("{root}//..//canary"),
        format!("{root}-evil/canary"),
        format!("{root}/.."),
        format!("{root} /../canary"),
        format!("/{root}/../canary"),
        format!("/proc/self/root{root}/../canary"),
        format!("{root}/../ws/../canary"),
        format!("{}canary", "../".repeat(1_000)),
        format!("{}{}canary", "a/../".repeat(400), "../".repeat(20)),
    ]);
    for shape in &shapes {
        for tool in ["read_file", "read_folder"] {
            let outcome = call(&ground.registry, tool, &json!({"path": shape}));
            assert_eq!(
                outcome.status(),
                Status::Failed,
                "{tool} `{shape}`: {outcome:?}"
            );
        }
    }
    // Some are names like any other to whoever writes, such as `....//canary`.
    for shape in &shapes {
        assert_confined(&ground.registry, shape).unwrap();
    }
    assert_eq!(ground.outside(), before);
}

/// F1: what looks like the shapes above, and lies inside, is still to be had.
#[test]
fn what_only_looks_hostile_is_read() {
    let ground = Ground::new();
    let root = ground.path("ws");
    let inside = [
        "file",
        "./file",
        ".//file",
        "a/../file",
        "a/b/../../file",
        "./~/file",
        "...",
        "a/b/ .. ",
        "a//file",
        r"fil\x65",
        r"\u{66}ile",
    ];
    let absolute = [
        format!("{root}/file"),
        format!("/{root}/./file"),
        format!("{root}//a/../file"),
    ];
    for path in inside.map(str::to_owned).iter().chain(&absolute) {
        let outcome = call(&ground.registry, "read_file", &json!({"path": path}));
        assert!(
            outcome
                .output()
                .unwrap_or_default()
                .contains(r#""text":"inside""#),
            "{path}: {outcome:?}"
        );
    }
}

#[test]
fn a_path_that_leads_out_is_refused_with_where_to_stay() {
    let ground = Ground::new();
    let root = ground.path("ws");
    for path in [
        "../canary",
        "out/canary",
        "absolute/canary",
        "a/canary",
        "/etc/passwd",
        "~/canary",
    ] {
        let outcome = call(&ground.registry, "read_file", &json!({"path": path}));
        assert_eq!(
            outcome.error().unwrap(),
            format!(
                "`{path}` is outside the workspace; give a path below `{root}`, or relative to it"
            )
        );
    }
}

/// F1
#[test]
fn a_file_is_reached_through_its_own_root_and_no_other() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(other.path().join("file"), "inside").unwrap();
    let workspace = Workspace::builder()
        .root(one.path())
        .root(other.path())
        .build()
        .unwrap();
    let registry = registry(workspace);
    let other = other.path().canonicalize().unwrap();
    let outcome = call(&registry, "read_file", &json!({"path": other.join("file")}));
    assert_eq!(outcome.status(), Status::Ok);
    let detour = format!("../{}/file", other.file_name().unwrap().to_str().unwrap());
    let outcome = call(&registry, "read_file", &json!({"path": detour}));
    assert_eq!(
        outcome.status(),
        Status::Failed,
        "relative paths lie in the first root"
    );
}
