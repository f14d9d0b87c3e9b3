//! Protected paths, by every way that the files' tools have. What a command may do is in `sandbox/protected.rs`.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::writing::{call, done, everything, refused, registry, registry_of};
use serde_json::json;
use toolkit::{Sandbox, Workspace, WorkspaceBuilder};

/// What is in a repository, or stands in the way of one.
const REPOSITORY: [&str; 9] = [
    ".git/HEAD",
    ".git/index",
    ".git/description",
    ".git/objects/00/11",
    ".git/refs/heads/main",
    ".git/hooks2",
    "sub/.git/HEAD",
    "sub/module/.git/index",
    ".git/modules/part/HEAD",
];

/// What git runs or obeys, and what stands in the way of it.
const PROTECTED: [&str; 15] = [
    ".git",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/hooks",
    ".git/hooks/pre-commit",
    ".git/hooks/deep/er",
    ".git/modules/part/hooks/post-checkout",
    ".git/modules/part/config",
    ".git/worktrees/other/config.worktree",
    ".git/rebase-merge/git-rebase-todo",
    ".git/rebase-apply/0001",
    ".git/sequencer/todo",
    "sub/.git",
    "sub/module/.git/hooks/post-merge",
];

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join(".git");
    std::fs::create_dir_all(git.join("hooks")).unwrap();
    std::fs::create_dir_all(git.join("objects")).unwrap();
    std::fs::write(git.join("config"), "[core]\n").unwrap();
    std::fs::write(git.join("hooks/pre-commit"), "#!/bin/sh\n").unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    folder
}

/// Tries to write and to edit, and sees that nothing has changed.
fn all_refused<'p>(
    folder: &Path,
    registry: &contract_runtime::Registry,
    paths: impl IntoIterator<Item = &'p str>,
) {
    let before = everything(folder);
    for path in paths {
        for (tool, arguments) in [
            (
                "write_file",
                json!({"path": path, "text": "[core]\nsshCommand = evil\n"}),
            ),
            (
                "write_file",
                json!({"path": path, "text": "", "expected_hash": "absent"}),
            ),
            (
                "edit_file",
                json!({"path": path, "old": "\n", "new": "\nevil\n"}),
            ),
        ] {
            let outcome = call(registry, tool, &arguments);
            assert!(!outcome.is_ok(), "{tool} {path}");
        }
        assert_eq!(everything(folder), before, "{path}");
    }
}

/// P9
#[test]
fn what_git_obeys_is_written_neither_where_it_exists_nor_where_it_does_not() {
    let full = repository();
    all_refused(full.path(), &registry(full.path()), PROTECTED);
    // The folders are made first, or would be.
    let empty = tempfile::tempdir().unwrap();
    all_refused(empty.path(), &registry(empty.path()), PROTECTED);
    let message = refused(
        &registry(full.path()),
        "write_file",
        &json!({"path": ".git/hooks/x", "text": ""}),
    );
    assert_eq!(
        message,
        "`.git/hooks/x` is protected by the rule `.git` and cannot be written; leave it as it is"
    );
    // What git obeys stays protected where the rest of a repository is not.
    for folder in [&full, &empty] {
        all_refused(
            folder.path(),
            &registry_of(committing(folder.path())),
            PROTECTED,
        );
    }
}

/// Lets tools and commands write the rest of a repository.
fn committing(folder: &Path) -> WorkspaceBuilder {
    let sandbox = Sandbox::confined().writable_repository(true);
    Workspace::builder().root(folder).sandbox(sandbox)
}

/// P9: a repository is as much lost without its `HEAD` as with a hook of somebody else.
#[test]
fn nothing_of_a_repository_is_written_by_a_tool_unless_the_program_says_so() {
    let full = repository();
    let closed = registry(full.path());
    all_refused(full.path(), &closed, REPOSITORY);
    let empty = tempfile::tempdir().unwrap();
    all_refused(empty.path(), &registry(empty.path()), REPOSITORY);
    // Without a sandbox nothing keeps commands from it; tools keep to it all the same.
    let open = Workspace::builder()
        .root(full.path())
        .sandbox(Sandbox::unsandboxed());
    all_refused(full.path(), &registry_of(open), REPOSITORY);
    for path in [".gitignore", "git/HEAD", "HEAD", ".github/config", "git~x"] {
        done(&closed, "write_file", &json!({"path": path, "text": "x"}));
    }
    done(&closed, "read_file", &json!({"path": ".git/HEAD"}));
    done(&closed, "read_folder", &json!({"path": ".git"}));
}

/// P9
#[test]
fn the_rest_of_a_repository_can_be_written_where_the_program_says_so() {
    let folder = repository();
    let registry = registry_of(committing(folder.path()));
    for path in [
        ".git/description",
        ".git/hooks2",
        ".gitignore",
        "git/hooks/x",
        "hooks/x",
        ".github/config",
    ] {
        done(&registry, "write_file", &json!({"path": path, "text": "x"}));
    }
    done(
        &registry,
        "edit_file",
        &json!({"path": ".git/HEAD", "old": "main", "new": "next"}),
    );
    done(&registry, "read_file", &json!({"path": ".git/config"}));
}

/// P9
#[test]
fn another_name_for_a_protected_path_is_protected_too() {
    let folder = repository();
    let at = |name: &str| folder.path().join(name);
    symlink(".git", at("link")).unwrap();
    symlink(".git/hooks", at("hooks")).unwrap();
    symlink(".git/config", at("config")).unwrap();
    symlink("link", at("chain")).unwrap();
    symlink(".git/worktrees", at("dangling")).unwrap();
    std::fs::create_dir(at("deep")).unwrap();
    symlink("../.git", at("deep/up")).unwrap();
    let absolute = at(".git/config");
    let paths = [
        "link/hooks/x",
        "link/config",
        "hooks/pre-commit",
        "hooks/x",
        "config",
        "chain/hooks/pre-commit",
        "chain/modules/a/config",
        "dangling",
        "dangling/a/config",
        "link/HEAD",
        "chain/HEAD",
        "chain/index",
        "deep/up/HEAD",
        "deep/up/hooks/x",
        "deep/../.git/config",
        "./.git//hooks/./x",
        ".git/objects/../config",
        ".git/hooks/../hooks/x",
        absolute.to_str().unwrap(),
    ];
    all_refused(folder.path(), &registry(folder.path()), paths);
    all_refused(
        folder.path(),
        &registry_of(Workspace::builder().root(folder.path()).follow_links(false)),
        paths,
    );
}

/// P9
#[test]
fn the_folder_that_a_git_file_or_a_link_names_is_protected_as_a_repository() {
    for names in ["link", "file", "worktree"] {
        let folder = repository();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("kept")).unwrap();
        std::fs::rename(at(".git"), at("kept/main")).unwrap();
        match names {
            "link" => symlink("kept/main", at(".git")).unwrap(),
            "file" => std::fs::write(at(".git"), "gitdir: kept/main\n").unwrap(),
            _ => {
                std::fs::create_dir(at("kept/own")).unwrap();
                std::fs::write(at("kept/own/commondir"), "../main\n").unwrap();
                std::fs::write(at(".git"), "gitdir: kept/own\n").unwrap();
            }
        }
        let registry = registry(folder.path());
        all_refused(
            folder.path(),
            &registry,
            [
                ".git/config",
                "kept/main/config",
                "kept/main/config.worktree",
                "kept/main/hooks/pre-commit",
                "kept/main/modules/a/config",
                "kept/main/HEAD",
                "kept/main/description",
            ],
        );
        if names == "worktree" {
            let own = ["kept/own/commondir", "kept/own/HEAD", "kept/own/index"];
            all_refused(folder.path(), &registry, own);
        }
        for path in ["kept/config", "main/config", "main/HEAD"] {
            done(&registry, "write_file", &json!({"path": path, "text": "x"}));
        }
        let registry = registry_of(committing(folder.path()));
        all_refused(folder.path(), &registry, ["kept/main/config"]);
        let rest = json!({"path": "kept/main/description", "text": "x"});
        done(&registry, "write_file", &rest);
    }
}

/// P9: a repository without a work tree of its own, which holds the worktrees.
#[test]
fn a_root_that_lies_in_its_repository_can_be_written() {
    let folder = repository();
    let git = folder.path().join(".git");
    let (own, root) = (git.join("worktrees/main"), git.join("main"));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir(&root).unwrap();
    std::fs::write(own.join("commondir"), "../..\n").unwrap();
    std::fs::write(root.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    let registry = registry(&root);
    all_refused(&root, &registry, [".git", "sub/.git/HEAD"]);
    done(
        &registry,
        "write_file",
        &json!({"path": "src/HEAD", "text": "x"}),
    );
}

/// P9
#[test]
fn a_link_that_is_put_in_place_of_a_folder_protects_what_it_points_to() {
    let folder = repository();
    let registry = registry(folder.path());
    done(
        &registry,
        "write_file",
        &json!({"path": "build/config", "text": "x"}),
    );
    std::fs::remove_dir_all(folder.path().join("build")).unwrap();
    symlink(".git", folder.path().join("build")).unwrap();
    all_refused(folder.path(), &registry, ["build/config", "build/hooks/x"]);
}

/// P9
#[test]
fn the_other_case_of_a_protected_name_is_protected_on_every_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [
        ".GIT/config",
        ".Git/Hooks/x",
        ".git/HOOKS/x",
        ".GIT",
        "a/.gIt/config",
        ".git/hook\u{17f}/x",
        ".g\u{200c}it/config",
        ".GIT/HEAD",
        "a/.Git/index",
        ".git./HEAD",
        ".git /HEAD",
        "GIT~1/HEAD",
        ".git::$INDEX_ALLOCATION/HEAD",
    ];
    all_refused(folder.path(), &registry(folder.path()), paths);
}

/// P9
#[test]
fn a_path_that_a_program_protects_is_protected_at_any_depth() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("deploy/keys")).unwrap();
    std::fs::write(folder.path().join("policy.toml"), "\n").unwrap();
    let registry = registry_of(
        Workspace::builder()
            .root(folder.path())
            .protect("deploy/keys")
            .protect("policy.toml"),
    );
    all_refused(
        folder.path(),
        &registry,
        [
            "deploy/keys",
            "deploy/keys/a",
            "a/deploy/keys/b",
            "policy.toml",
            "a/policy.toml",
            ".git/config",
        ],
    );
    done(
        &registry,
        "write_file",
        &json!({"path": "deploy/a", "text": "x"}),
    );
}

/// P9
#[test]
fn a_protected_path_is_protected_in_every_root() {
    let (one, other) = (tempfile::tempdir().unwrap(), repository());
    let registry = registry_of(Workspace::builder().root(one.path()).root(other.path()));
    let path = other.path().canonicalize().unwrap().join(".git/hooks/x");
    all_refused(other.path(), &registry, [path.to_str().unwrap()]);
    done(
        &registry,
        "write_file",
        &json!({"path": other.path().canonicalize().unwrap().join("a"), "text": "x"}),
    );
}

/// P9
#[test]
fn a_folder_that_was_moved_after_the_workspace_was_built_is_still_protected() {
    let above = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(above.path().join("before/.git/hooks")).unwrap();
    let registry = registry(&above.path().join("before"));
    std::fs::rename(above.path().join("before"), above.path().join("after")).unwrap();
    all_refused(above.path(), &registry, [".git/config", ".git/hooks/x"]);
    done(&registry, "write_file", &json!({"path": "a", "text": "x"}));
    assert!(above.path().join("after/a").is_file());
}

/// P9
#[test]
fn no_tool_takes_the_name_of_an_unfinished_file() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    std::fs::write(folder.path().join(".toolkit-unfinished-0"), "\n").unwrap();
    all_refused(
        folder.path(),
        &registry,
        [
            ".toolkit-unfinished-0",
            ".toolkit-unfinished-1",
            "a/.toolkit-unfinished-1",
        ],
    );
}
