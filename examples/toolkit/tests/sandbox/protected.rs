//! Protected paths: what git runs or obeys, and what the workspace names, through a shell.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::confined::{Ground, Shell, alone, forbid, is_full, read, sandbox};
use contract_runtime::prelude::*;
use nix::libc;
use serde_json::json;

/// A folder with a repository, as `git init` leaves it.
fn repository() -> Ground {
    let ground = Ground::new();
    let git = ground.root().join(".git");
    fs::create_dir_all(git.join("hooks")).unwrap();
    fs::create_dir_all(git.join("objects")).unwrap();
    fs::create_dir_all(git.join("refs/heads")).unwrap();
    fs::write(git.join("config"), "[core]\n").unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("hooks/pre-commit.sample"), "#!/bin/sh\n").unwrap();
    ground
}

/// Lets commands write what git does not obey.
fn committing() -> toolkit::Sandbox {
    sandbox().writable_repository(true)
}

#[track_caller]
fn is_untouched(ground: &Ground) {
    let git = ground.root().join(".git");
    assert!(git.symlink_metadata().unwrap().is_dir());
    assert!(git.join("config").symlink_metadata().unwrap().is_file());
    assert_eq!(read(&git.join("config")), "[core]\n");
    let hooks: Vec<_> = fs::read_dir(git.join("hooks")).unwrap().collect();
    assert_eq!(hooks.len(), 1);
    assert_eq!(read(&git.join("hooks/pre-commit.sample")), "#!/bin/sh\n");
    for name in ["config.worktree", "commondir", "modules", "worktrees"] {
        assert!(git.join(name).symlink_metadata().is_err(), "{name}");
    }
}

/// P9
#[test]
fn what_git_runs_is_not_written_replaced_or_given_another_name() {
    const NAME: &str = "what_git_runs_is_not_written_replaced_or_given_another_name";
    if !is_full("P9", NAME) {
        return;
    }
    let ground = repository();
    let (whole, part) = (ground.shell(), ground.shell_with(committing()));
    for script in [
        "echo '[core] fsmonitor=x' >> .git/config",
        ": > .git/config",
        "chmod 777 .git/config .git/hooks/*",
        "touch -d 1970-01-01 .git/config",
        "echo x > new && mv -f new .git/config",
        "echo x > .git/hooks/pre-commit",
        "mkdir -p .git/hooks/a",
        "rm -rf .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit",
        "mv .git/hooks .git/kept; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
        "mv .git kept; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
        "rm -f .git/config; ln -s ../evil .git/config",
        "mkdir evil; mv .git/hooks/ x; ln -sfn ../evil .git/hooks",
        "ln -sfn evil .git; mv -T evil .git",
        "ln .git/config hard && echo x > hard",
        "ln -s .git/config soft; echo x > soft; rm -f soft",
        "cd .git && echo x > ./config; cd hooks && echo x > y",
        "git config core.fsmonitor ./evil",
        "git config --worktree core.fsmonitor ./evil",
    ] {
        for shell in [&whole, &part] {
            let ran = shell.script(script);
            is_untouched(&ground);
            assert_eq!(ran.level(), "full", "{script}");
        }
    }
    // The rest of a repository is a command's to write, where the program says so.
    let ran = part.script("echo x > .git/index && mkdir .git/objects/00 && mv .git/index .git/other && git status 2>&1 | head -1");
    assert_eq!(ran.code(), Some(0), "{ran:?}");
    assert!(ran.stdout().starts_with("On branch main"), "{ran:?}");
}

/// P9
#[test]
fn what_was_not_there_is_taken_away_again_and_named() {
    let ground = repository();
    let ran = ground.shell_with(committing()).script(
        "mkdir -p .git/modules/a; echo x > .git/config.worktree; ln -s /etc/passwd .git/commondir; echo kept > file",
    );
    assert_eq!(ran.code(), Some(0), "{ran:?}");
    assert_eq!(
        *ran.removed(),
        json!([".git/commondir", ".git/config.worktree", ".git/modules"])
    );
    is_untouched(&ground);
    assert_eq!(read(&ground.root().join("file")), "kept\n");
}

/// P9: what is only taken away afterwards is in force until then, so it is not written in the first place.
#[test]
fn nothing_in_a_repository_is_written_unless_the_program_says_so() {
    const NAME: &str = "nothing_in_a_repository_is_written_unless_the_program_says_so";
    if !is_full("P9", NAME) {
        return;
    }
    let ground = repository();
    let shell = ground.shell();
    for script in [
        "echo ../evil > .git/commondir",
        "echo x > .git/config.worktree",
        "mkdir .git/modules",
        "mkdir .git/worktrees",
        "mkdir .git/rebase-merge",
        "echo x > .git/index",
        "chmod 555 .git",
        "mv .git gone",
        "rm -rf .git",
    ] {
        let ran = shell.script(script);
        assert_ne!(ran.code(), Some(0), "{script}: {ran:?}");
        assert_eq!(*ran.removed(), json!([]), "{script}");
        is_untouched(&ground);
        assert!(ground.root().join(".git/HEAD").exists());
    }
    let ran = shell.script("cat .git/HEAD && echo x > file");
    assert_eq!(ran.code(), Some(0), "{ran:?}");
}

/// P9: one rule for both, in either setting.
#[test]
fn a_tool_for_files_may_write_at_the_top_of_a_root_what_a_command_may() {
    const NAME: &str = "a_tool_for_files_may_write_at_the_top_of_a_root_what_a_command_may";
    if !is_full("P9", NAME) {
        return;
    }
    for (sandbox, rest) in [(sandbox(), false), (committing(), true)] {
        for (path, may) in [
            ("file", true),
            (".gitignore", true),
            (".git/HEAD", rest),
            (".git/index", rest),
            (".git/refs/heads/main", rest),
            (".git/config", false),
            (".git/hooks/pre-commit", false),
        ] {
            let (one, other) = (repository(), repository());
            let ran = one
                .shell_with(sandbox.clone())
                .script(&format!("echo x > {path}"));
            assert_eq!(ran.code() == Some(0), may, "{path}: {ran:?}");
            let registry = Registry::builder()
                .tool(toolkit::write_file)
                .context(other.workspace_with(sandbox.clone()).build().unwrap())
                .build()
                .unwrap();
            let arguments = json!({"path": path, "text": "x"}).to_string();
            let outcome = registry
                .call(ToolCall::new("1", "write_file", arguments))
                .blocking();
            assert_eq!(outcome.is_ok(), may, "{path}: {:?}", outcome.error());
        }
    }
}

/// P9
#[test]
fn a_command_commits_where_the_program_says_so_and_nowhere_else() {
    const NAME: &str = "a_command_commits_where_the_program_says_so_and_nowhere_else";
    if !is_full("P9", NAME) {
        return;
    }
    let ground = Ground::new();
    let git = std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(ground.root())
        .status();
    if !git.as_ref().is_ok_and(std::process::ExitStatus::success) {
        let _ = writeln!(std::io::stderr(), "NOT RUN P9 {NAME}: git: {git:?}");
        return;
    }
    let commit = "echo x >> file && git add file && \
                  git -c user.name=me -c user.email=me@localhost commit -q -m one && git log --format=%s";
    let ran = ground.shell().script(commit);
    assert_ne!(ran.code(), Some(0), "{ran:?}");
    let ran = ground.shell_with(committing()).script(commit);
    assert_eq!(ran.stdout(), "one\n", "{ran:?}");
    assert_eq!(*ran.removed(), json!([]));
    assert_eq!(*ran.not_removed(), json!([]));
    let ran = ground
        .shell()
        .script("git status --short && git log --format=%s");
    assert_eq!(ran.stdout(), "one\n", "{ran:?}");
}

/// P9
#[test]
fn the_repository_that_a_git_file_or_a_link_names_is_protected_as_the_one_that_it_stands_for() {
    const NAME: &str =
        "the_repository_that_a_git_file_or_a_link_names_is_protected_as_the_one_that_it_stands_for";
    if !is_full("P9", NAME) {
        return;
    }
    for is_link in [true, false] {
        let ground = repository();
        let root = ground.root();
        fs::create_dir(root.join("kept")).unwrap();
        fs::rename(root.join(".git"), root.join("kept/main")).unwrap();
        if is_link {
            symlink("kept/main", root.join(".git")).unwrap();
        } else {
            // As `git worktree add` does: one folder of its own, the rest shared.
            let own = root.join("kept/own");
            fs::create_dir(&own).unwrap();
            fs::write(own.join("commondir"), "../main\n").unwrap();
            fs::write(root.join(".git"), "gitdir: kept/own\n").unwrap();
        }
        let main = root.join("kept/main");
        for (sandbox, is_whole) in [(sandbox(), true), (committing(), false)] {
            let shell = ground.shell_with(sandbox);
            for script in [
                "echo x > kept/main/config",
                "echo x > kept/main/hooks/pre-commit",
                "mv kept/main/hooks gone",
                "mv kept/main gone",
                "mv kept gone",
            ] {
                let ran = shell.script(script);
                assert_ne!(ran.code(), Some(0), "{script}: {ran:?}");
                assert_eq!(read(&main.join("config")), "[core]\n");
                assert_eq!(fs::read_dir(main.join("hooks")).unwrap().count(), 1);
            }
            let ran = shell.script("mkdir kept/main/modules; echo x > kept/main/index");
            assert!(!main.join("modules").exists(), "{ran:?}");
            assert_eq!(main.join("index").exists(), !is_whole, "{ran:?}");
        }
    }
}

/// P9: neither depth nor number nor modes keep what a command has left.
#[test]
fn what_is_hard_to_remove_is_removed() {
    let ground = repository();
    let shell = ground.shell_with(committing());
    for script in [
        "p=$(printf 'd/%.0s' $(seq 1 1000)); cd .git; mkdir -p modules/$p; for i in 1 2 3; do mkdir -p n/$p && mv modules n/$p && mv n modules; done",
        "mkdir -p .git/modules/a/b/c && : > .git/modules/a/b/c/d && chmod 0 .git/modules/a/b/c .git/modules/a/b .git/modules/a .git/modules",
        "mkdir -p .git/modules && cd .git/modules && seq 1 20000 | xargs touch",
        "echo x > .git/commondir; chmod 555 .git .",
        "mkdir -p .git/worktrees/a; chmod 0 .git",
    ] {
        let ran = shell.script(script);
        assert_eq!(ran.code(), Some(0), "{script}: {ran:?}");
        assert_eq!(*ran.not_removed(), json!([]), "{script}: {ran:?}");
        assert_eq!(
            ran.removed().as_array().unwrap().len(),
            1,
            "{script}: {ran:?}"
        );
        let git = ground.root().join(".git");
        set_mode(&ground.root(), 0o755);
        set_mode(&git, 0o755);
        is_untouched(&ground);
        let left: Vec<_> = fs::read_dir(&git)
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        assert_eq!(left.len(), 5, "{script}: {left:?}");
    }
}

fn set_mode(path: &std::path::Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// P9
#[test]
fn no_repository_is_made_where_there_is_none() {
    if !is_full("P9", "no_repository_is_made_where_there_is_none") {
        return;
    }
    let ground = Ground::new();
    let shell = ground.shell();
    for script in [
        "git init -q .",
        "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        "mkdir .git",
        "echo 'gitdir: evil' > .git",
        "ln -sfn evil .git",
        "rmdir .git; mkdir evil; mv -T evil .git",
        "rm -rf .git; echo x > .git",
    ] {
        let ran = shell.script(script);
        assert_eq!(ran.level(), "full", "{script}");
        assert!(
            ground.root().join(".git").symlink_metadata().is_err(),
            "{script}: {ran:?}"
        );
    }
    // Elsewhere a repository may be made.
    let ran = shell.script("git init -q below && git -C below config user.name me && echo made");
    assert_eq!(ran.stdout(), "made\n", "{ran:?}");
}

/// P9: what cannot be sealed is put back.
#[test]
fn without_namespaces_what_git_runs_is_put_back_and_named() {
    alone(
        without_namespaces_what_git_runs_is_put_back_and_named,
        || {
            forbid(&[libc::SYS_unshare], libc::EPERM);
            let ground = repository();
            let shell = ground.shell();
            for script in [
                "echo '[core] fsmonitor=x' >> .git/config",
                "echo x > new && mv -f new .git/config",
                "chmod 700 .git/config",
                "rm -rf .git/hooks; echo x > .git/hooks",
                "mkdir evil; mv .git/hooks x; ln -sfn ../evil .git/hooks",
                "rm -f .git/config; ln -s ../evil .git/config",
                "echo x > .git/hooks/pre-commit; echo x > .git/commondir",
            ] {
                let ran = shell.script(script);
                assert_eq!(ran.level(), "reduced", "{script}");
                assert_ne!(*ran.removed(), json!([]), "{script}");
                is_untouched(&ground);
            }
            let ran = shell.script("cat .git/config .git/hooks/* > all; ls -R .git > names");
            assert_eq!(*ran.removed(), json!([]));
            let ground = Ground::new();
            let ran = ground
                .shell()
                .script("mkdir -p .git/hooks; echo x > .git/config; echo x > file");
            assert_eq!(ran.removed().to_string(), r#"[".git/config",".git/hooks"]"#);
            assert_eq!(
                fs::read_dir(ground.root()).unwrap().count(),
                1,
                "only the file is left"
            );
        },
    );
}

/// P9
#[test]
fn a_root_with_mounts_of_its_own_is_no_way_around() {
    const NAME: &str = "a_root_with_mounts_of_its_own_is_no_way_around";
    if !is_full("P9", NAME) {
        return;
    }
    let ground = repository();
    let shell = Shell::new(ground.workspace().cross_mounts(true));
    let ran = shell.script("echo x >> .git/config; echo x > .git/hooks/pre-commit; echo x > file");
    assert_eq!(ran.code(), Some(0), "{ran:?}");
    is_untouched(&ground);
}

/// P9
#[test]
fn a_link_to_a_repository_is_put_back() {
    let ground = Ground::new();
    fs::create_dir(ground.root().join("real")).unwrap();
    symlink("real", ground.root().join(".git")).unwrap();
    let ran = ground
        .shell()
        .script("rm .git; mkdir evil; ln -s evil .git");
    assert_eq!(*ran.removed(), json!([".git"]));
    assert_eq!(
        fs::read_link(ground.root().join(".git")).unwrap().to_str(),
        Some("real")
    );
}

/// P9
#[test]
fn a_path_that_the_workspace_names_is_protected_too() {
    let ground = Ground::new();
    let keys = ground.root().join("deploy/keys");
    let shell = || {
        Shell::new(
            ground
                .workspace()
                .protect("deploy/keys")
                .protect("policy.toml"),
        )
    };
    let ran = shell().script("mkdir -p deploy/keys; echo x > deploy/keys/a; echo x > policy.toml");
    assert_eq!(*ran.removed(), json!(["deploy/keys", "policy.toml"]));
    assert!(!keys.exists());

    if !is_full("P9", "a_path_that_the_workspace_names_is_protected_too") {
        return;
    }
    fs::create_dir_all(&keys).unwrap();
    fs::write(keys.join("a"), "key").unwrap();
    let ran = shell().script("echo x > deploy/keys/a; mv deploy gone; rm -rf deploy; echo x > deploy/other; cat deploy/keys/a");
    assert_eq!(ran.stdout(), "key", "{ran:?}");
    assert_eq!(read(&keys.join("a")), "key");
    assert!(ground.root().join("deploy/other").exists());
}

/// P9: a helper that a command could replace would run outside with the next one.
#[test]
fn a_helper_within_a_root_is_not_replaced() {
    const NAME: &str = "a_helper_within_a_root_is_not_replaced";
    if !is_full("P9", NAME) {
        return;
    }
    let ground = Ground::new();
    let helper = ground.root().join("bin/helper");
    fs::create_dir(ground.root().join("bin")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_toolkit"), &helper).unwrap();
    let size = fs::metadata(&helper).unwrap().len();
    let shell = ground.shell_with(toolkit::Sandbox::confined().helper(&helper));
    for script in [
        "cp /bin/true bin/helper",
        "cp /bin/true new; mv -f new bin/helper",
        "mv bin gone; mkdir bin; cp /bin/true bin/helper",
    ] {
        let ran = shell.script(script);
        assert_ne!(ran.code(), Some(0), "{script}: {ran:?}");
        assert_eq!(fs::metadata(&helper).unwrap().len(), size, "{script}");
    }
}
