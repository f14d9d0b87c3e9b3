//! Symbolic links: those that stay inside are followed, and no other; a small model says which.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::os::unix::fs::symlink;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolkit::Workspace;

/// What no result may ever hold.
const CANARY: &str = "the canary sings at midnight";

/// What stands at a path of the workspace.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Folder,
    /// With its own path as its text.
    File,
    Link(String),
}

/// A tree by path, each below a folder.
type Forest = BTreeMap<Vec<String>, Node>;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq)]
enum End {
    File(String),
    Folder,
    Outside,
    NotFound,
    ThroughAFile,
    /// Links that are not followed, or lead to each other.
    Link,
}

/// As `path_resolution(7)` has it, beneath a root.
fn resolve(forest: &Forest, path: &str) -> End {
    if path.starts_with('/') {
        return End::Outside;
    }
    let mut ahead: VecDeque<String> = path.split('/').map(str::to_owned).collect();
    let mut at: Vec<String> = Vec::new();
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        match name.as_str() {
            "" | "." => {}
            ".." => {
                if at.pop().is_none() {
                    return End::Outside;
                }
            }
            _ => {
                at.push(name);
                match forest.get(&at) {
                    None => return End::NotFound,
                    Some(Node::Folder) => {}
                    Some(Node::File) if ahead.is_empty() => return End::File(at.join("/")),
                    Some(Node::File) => return End::ThroughAFile,
                    Some(Node::Link(target)) => {
                        links += 1;
                        if links > 40 {
                            return End::Link;
                        }
                        at.pop();
                        // The whole path of the root, as `plant` writes it.
                        let within = target.strip_prefix("/ROOT");
                        if within.is_some() {
                            at.clear();
                        } else if target.starts_with('/') {
                            return End::Outside;
                        }
                        for name in within.unwrap_or(target).rsplit('/') {
                            ahead.push_front(name.to_owned());
                        }
                    }
                }
            }
        }
    }
    End::Folder
}

/// Without links: `..` is taken out of the text first, and a link anywhere ends it.
fn resolve_without_links(forest: &Forest, path: &str) -> End {
    let mut at: Vec<String> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                if at.pop().is_none() {
                    return End::Outside;
                }
            }
            name => at.push(name.to_owned()),
        }
    }
    for length in 1..=at.len() {
        match forest.get(&at[..length]) {
            None => return End::NotFound,
            Some(Node::Folder) => {}
            Some(Node::Link(_)) => return End::Link,
            Some(Node::File) if length == at.len() && !path.ends_with('/') => {
                return End::File(at.join("/"));
            }
            Some(Node::File) => return End::ThroughAFile,
        }
    }
    End::Folder
}

/// The forest on disk, with a canary beside it.
struct Ground {
    _folder: TempDir,
    follows: Registry,
    stays: Registry,
}

impl Ground {
    fn plant(forest: &Forest) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &[String]| folder.path().join("ws").join(path.join("/"));
        fs::create_dir(folder.path().join("ws")).unwrap();
        for outside in ["a", "b", "canary"] {
            fs::write(folder.path().join(outside), CANARY).unwrap();
        }
        for (path, node) in forest {
            match node {
                Node::Folder => fs::create_dir(at(path)).unwrap(),
                Node::File => fs::write(at(path), path.join("/")).unwrap(),
                Node::Link(target) => {
                    let whole = folder.path().canonicalize().unwrap();
                    let (canary, root) = (whole.join("canary"), whole.join("ws"));
                    let target = target
                        .replace("/CANARY", canary.to_str().unwrap())
                        .replace("/ROOT", root.to_str().unwrap());
                    symlink(target, at(path)).unwrap();
                }
            }
        }
        let registry = |follow| {
            let root = folder.path().join("ws");
            let workspace = Workspace::builder()
                .root(root)
                .follow_links(follow)
                .build()
                .unwrap();
            Registry::builder()
                .tool(toolkit::read_file)
                .tool(toolkit::read_folder)
                .context(workspace)
                .build()
                .unwrap()
        };
        Self {
            follows: registry(true),
            stays: registry(false),
            _folder: folder,
        }
    }
}

fn call(registry: &Registry, tool: &str, path: &str) -> Outcome {
    registry
        .call(ToolCall::new("1", tool, json!({"path": path}).to_string()))
        .blocking()
}

/// Where a path leads, as the tools say it.
fn told(registry: &Registry, path: &str) -> End {
    let outcome = call(registry, "read_file", path);
    assert!(
        !format!("{outcome:?}").contains("midnight"),
        "{path}: {outcome:?}"
    );
    if let Some(output) = outcome.output() {
        let file: Value = serde_json::from_str(output).unwrap();
        return End::File(file["text"].as_str().unwrap().to_owned());
    }
    assert_eq!(outcome.status(), Status::Failed, "{path}");
    let message = outcome.error().unwrap();
    let listed = call(registry, "read_folder", path);
    assert!(
        !format!("{listed:?}").contains("midnight"),
        "{path}: {listed:?}"
    );
    let ends = [
        ("is a folder, not a file", End::Folder),
        ("is outside the workspace", End::Outside),
        ("a part of it is a file", End::ThroughAFile),
        ("does not exist", End::NotFound),
        ("leads through a symbolic link", End::Link),
    ];
    let (_, end) = ends
        .into_iter()
        .find(|(words, _)| message.contains(words))
        .unwrap_or_else(|| panic!("{message}"));
    assert_eq!(
        listed.status() == Status::Ok,
        end == End::Folder,
        "{path}: {listed:?}"
    );
    end
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b"), Just("c")]
}

/// Where a link may point, or a call may ask.
fn route() -> impl Strategy<Value = String> {
    let step = prop_oneof![5 => name(), 2 => Just(".."), 1 => Just(".")];
    let steps = prop::collection::vec(step, 1..5);
    (steps, prop_oneof![5 => Just(""), 1 => Just("/")])
        .prop_map(|(steps, end)| steps.join("/") + end)
}

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        3 => Just(Node::Folder),
        2 => Just(Node::File),
        4 => route().prop_map(Node::Link),
        2 => route().prop_map(|route| Node::Link(format!("/ROOT/{route}"))),
        1 => Just(Node::Link("/CANARY".to_owned())),
    ]
}

/// A few nodes, each where its parent is a folder.
fn forest() -> impl Strategy<Value = Forest> {
    let path = prop::collection::vec(name().prop_map(str::to_owned), 1..4);
    prop::collection::vec((path, node()), 1..14).prop_map(|nodes| {
        let mut forest = Forest::new();
        for (path, node) in nodes {
            let parent = &path[..path.len() - 1];
            if parent.is_empty() || forest.get(parent) == Some(&Node::Folder) {
                forest.entry(path).or_insert(node);
            }
        }
        forest
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// F2
    #[test]
    fn paths_in_a_forest_of_links_lead_where_the_model_says(
        forest in forest(),
        paths in prop::collection::vec(route(), 8),
    ) {
        let ground = Ground::plant(&forest);
        for path in paths {
            prop_assert_eq!(told(&ground.follows, &path), resolve(&forest, &path), "{} in {:?}", path, forest);
            let stays = resolve_without_links(&forest, &path);
            prop_assert_eq!(told(&ground.stays, &path), stays, "{} without links in {:?}", path, forest);
        }
    }
}

fn planted(nodes: &[(&str, Node)]) -> (Forest, Ground) {
    let path = |path: &str| path.split('/').map(str::to_owned).collect();
    let forest: Forest = nodes
        .iter()
        .map(|(at, node)| (path(at), node.clone()))
        .collect();
    let ground = Ground::plant(&forest);
    (forest, ground)
}

fn link(target: &str) -> Node {
    Node::Link(target.to_owned())
}

/// F2: the cases of the row, by name.
#[test]
fn links_chains_loops_and_dead_ends() {
    let chain = |from: usize| link(&format!("chain{}", from + 1));
    let mut nodes = vec![
        ("folder".to_owned(), Node::Folder),
        ("folder/file".to_owned(), Node::File),
        ("to_file".to_owned(), link("folder/file")),
        ("to_folder".to_owned(), link("folder")),
        ("to_link".to_owned(), link("to_file")),
        ("dangling".to_owned(), link("nothing")),
        ("dangling_out".to_owned(), link("../nothing")),
        ("self".to_owned(), link("self")),
        ("ping".to_owned(), link("pong")),
        ("pong".to_owned(), link("ping")),
        ("out".to_owned(), link("../canary")),
        ("out_and_in".to_owned(), link("../ws/folder/file")),
        ("absolute".to_owned(), link("/CANARY")),
        ("whole".to_owned(), link("/ROOT/folder/file")),
        ("whole_folder".to_owned(), link("/ROOT/folder")),
        ("whole_root".to_owned(), link("/ROOT")),
        ("to_whole".to_owned(), link("whole_folder/../whole")),
        (
            "whole_file_as_folder".to_owned(),
            link("/ROOT/folder/file/"),
        ),
        ("whole_file_and_dot".to_owned(), link("/ROOT/folder/file/.")),
        ("whole_dangling".to_owned(), link("/ROOT/nothing")),
        ("whole_self".to_owned(), link("/ROOT/whole_self")),
        ("whole_out".to_owned(), link("/ROOT/../canary")),
        ("whole_then_out".to_owned(), link("/ROOT/absolute")),
        ("folder/up".to_owned(), link("..")),
        ("folder/up_and_out".to_owned(), link("../..")),
        ("chain41".to_owned(), link("folder/file")),
    ];
    nodes.extend((0..41).map(|index| (format!("chain{index}"), chain(index))));
    let nodes: Vec<(&str, Node)> = nodes
        .iter()
        .map(|(path, node)| (path.as_str(), node.clone()))
        .collect();
    let (forest, ground) = planted(&nodes);
    let file = || End::File("folder/file".to_owned());
    let cases = [
        ("to_file", file()),
        ("to_link", file()),
        ("to_folder", End::Folder),
        ("to_folder/file", file()),
        ("to_folder/../folder/file", file()),
        ("folder/up/folder/up/to_link", file()),
        ("to_file/", End::ThroughAFile),
        ("dangling", End::NotFound),
        ("dangling_out", End::Outside),
        ("self", End::Link),
        ("ping", End::Link),
        ("out", End::Outside),
        ("out/..", End::Outside),
        ("out_and_in", End::Outside),
        ("absolute", End::Outside),
        ("whole", file()),
        ("whole/", End::ThroughAFile),
        ("whole_folder", End::Folder),
        ("whole_folder/file", file()),
        ("whole_folder/../to_link", file()),
        ("whole_folder/up/whole_folder/file", file()),
        ("whole_root", End::Folder),
        ("whole_root/to_whole", file()),
        ("to_whole", file()),
        ("whole_folder/missing/../file", End::NotFound),
        ("whole_folder/file/../file", End::ThroughAFile),
        ("whole_file_as_folder", End::ThroughAFile),
        ("whole_file_and_dot", End::ThroughAFile),
        ("whole_dangling", End::NotFound),
        ("whole_self", End::Link),
        ("whole_out", End::Outside),
        ("whole_then_out", End::Outside),
        ("whole_root/..", End::Outside),
        ("folder/up_and_out", End::Outside),
        ("folder/up_and_out/canary", End::Outside),
        ("folder/up/..", End::Outside),
        ("to_folder/up/../canary", End::Outside),
        ("chain2", file()),
        ("chain1", End::Link),
    ];
    for (path, end) in cases {
        assert_eq!(resolve(&forest, path), end, "the model: {path}");
        assert_eq!(told(&ground.follows, path), end, "{path}");
        assert_eq!(
            told(&ground.stays, path),
            resolve_without_links(&forest, path),
            "{path} without links"
        );
    }
}

/// F2: the switch says nothing about what is no link.
#[test]
fn without_links_everything_else_is_read() {
    let (_, ground) = planted(&[
        ("folder", Node::Folder),
        ("folder/file", Node::File),
        ("folder/link", link("file")),
        ("link", link("folder")),
    ]);
    assert_eq!(
        told(&ground.stays, "folder/file"),
        End::File("folder/file".to_owned())
    );
    assert_eq!(
        told(&ground.stays, "folder/../folder/./file"),
        End::File("folder/file".to_owned())
    );
    for path in ["folder/link", "link/file", "link", "link/"] {
        assert_eq!(told(&ground.stays, path), End::Link, "{path}");
        let outcome = call(&ground.stays, "read_file", path);
        let message = outcome.error().unwrap();
        assert_eq!(
            message,
            format!(
                "`{path}` leads through a symbolic link, which is not followed here; give the path that it points to"
            )
        );
    }
}

/// F2
#[test]
fn a_link_with_a_whole_path_below_the_root_is_followed_by_every_tool() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("folder/deep")).unwrap();
    fs::write(root.join("folder/file"), "needle\n").unwrap();
    for (link, target) in [
        ("file", "folder/file"),
        ("down", "folder"),
        ("nothing", "gone"),
    ] {
        symlink(root.join(target), root.join(link)).unwrap();
    }
    let registry = Registry::builder()
        .package("toolkit")
        .context(Workspace::new(&root).unwrap())
        .build()
        .unwrap();
    let done = |tool: &str, arguments: Value| {
        let outcome = registry
            .call(ToolCall::new("1", tool, arguments.to_string()))
            .blocking();
        assert!(outcome.is_ok(), "{tool} {arguments}: {:?}", outcome.error());
        outcome.value().unwrap()
    };
    assert_eq!(
        done("read_file", json!({"path": "file"}))["text"],
        "needle\n"
    );
    let listed = done("read_folder", json!({"path": "down"}));
    assert_eq!(listed["entries"].as_array().unwrap().len(), 2);
    let found = done(
        "search_in_files",
        json!({"pattern": "needle", "path": "down"}),
    );
    assert_eq!(found["hits"], json!(["down/file:1: needle"]));
    done(
        "edit_file",
        json!({"path": "file", "old": "needle", "new": "pin"}),
    );
    assert_eq!(
        fs::read_to_string(root.join("folder/file")).unwrap(),
        "pin\n"
    );
    assert!(root.join("file").is_symlink());
    done("write_file", json!({"path": "down/deep/new", "text": "x"}));
    assert!(root.join("folder/deep/new").is_file());
    // As for every other link: what it points to is not made.
    let arguments = json!({"path": "nothing", "text": "x"}).to_string();
    let outcome = registry
        .call(ToolCall::new("1", "write_file", arguments))
        .blocking();
    assert_eq!(
        outcome.error(),
        Some("`nothing` is a symbolic link, not a file; it points to nothing; choose another path")
    );
    assert!(!root.join("gone").exists());
}

/// F2, P9
#[test]
fn a_link_with_a_whole_path_is_no_way_to_what_is_protected() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref").unwrap();
    symlink(root.join(".git"), root.join("down")).unwrap();
    symlink(root.join(".git/HEAD"), root.join("head")).unwrap();
    let workspace = Workspace::new(&root).unwrap();
    let registry = Registry::builder()
        .package("toolkit")
        .context(workspace)
        .build()
        .unwrap();
    for path in ["head", "down/HEAD", "down/new"] {
        let arguments = json!({"path": path, "text": "x"}).to_string();
        let outcome = registry
            .call(ToolCall::new("1", "write_file", arguments))
            .blocking();
        assert!(
            outcome.error().unwrap().contains("by the rule `.git`"),
            "{path}"
        );
    }
    assert_eq!(fs::read_to_string(root.join(".git/HEAD")).unwrap(), "ref");
    assert_eq!(fs::read_dir(root.join(".git")).unwrap().count(), 1);
}
