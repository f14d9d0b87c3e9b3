//! What a command learns of what lies outside of every root, by calls that open nothing.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::confined::{
    Ground, alone, argument, forbid, is_full, probe as probe_name, probing, tell,
};
use nix::libc;
use rustix::fs::inotify;

/// Not a test: what this binary does when it is the command in a sandbox.
#[test]
fn probe() {
    if probe_name().is_none() {
        return;
    }
    let folder = argument(0);
    let folder = Path::new(&folder);
    let mut buffer = [0_u8; 256];
    tell("stat", fs::symlink_metadata(folder.join("file")).map(drop));
    tell("link", fs::read_link(folder.join("link")).map(drop));
    tell(
        "target",
        fs::symlink_metadata(folder.join("link/")).map(drop),
    );
    let attribute = rustix::fs::getxattr(folder.join("file"), "user.toolkit", &mut buffer);
    tell("attribute", attribute.map_err(Into::into));
    let attributes = rustix::fs::llistxattr(folder.join("file"), &mut buffer);
    tell("attributes", attributes.map_err(Into::into));
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC).and_then(|events| {
        let flags = inotify::WatchFlags::CREATE | inotify::WatchFlags::OPEN;
        inotify::add_watch(&events, folder, flags)
    });
    tell("watch", watch.map_err(Into::into));
    tell("mounts", mounts(folder));
}

/// Whether the mounts that a command sees tell of a folder.
fn mounts(folder: &Path) -> std::io::Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    if mounts.contains(folder.to_str().unwrap()) {
        return Ok(());
    }
    Err(std::io::ErrorKind::NotFound.into())
}

/// A folder with a file that has an attribute, and a link.
fn plant(folder: &Path) {
    fs::write(folder.join("file"), "x").unwrap();
    symlink("name-that-nobody-may-learn", folder.join("link")).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(folder.join("file"), "user.toolkit", b"x", flags).unwrap();
}

/// S11
#[test]
fn nothing_outside_is_named_to_a_command() {
    if !is_full("S11", "nothing_outside_is_named_to_a_command") {
        return;
    }
    let ground = Ground::new();
    plant(&ground.root());
    plant(&ground.outside());
    let shell = ground.shell_with(probing());
    let found = shell.probe(probe, "names", &[ground.outside().to_str().unwrap()]);
    assert_eq!(found.len(), 7);
    for (what, how) in &found {
        assert!(
            how.contains("No such file") || how == "entity not found",
            "{what}: {how}"
        );
    }
    // The probe can: within the root it does.
    let found = shell.probe(probe, "names", &[ground.root().to_str().unwrap()]);
    for what in ["stat", "link", "attribute", "attributes", "watch", "mounts"] {
        assert_eq!(found[what], "reached", "{what}");
    }
    let ran = ground.shell().script(
        "for path in /root /home /var/log /etc/shadow /etc/hostname /boot; do test -e $path && echo $path; done; \
         test -e /etc/passwd && test -d /usr/bin && echo looked",
    );
    assert_eq!(ran.stdout(), "looked\n", "{ran:?}");
}

/// S11: what remains there is told by the page of promises.
#[test]
fn without_namespaces_nothing_is_watched_and_no_attribute_is_read() {
    alone(
        without_namespaces_nothing_is_watched_and_no_attribute_is_read,
        || {
            forbid(&[libc::SYS_unshare], libc::EPERM);
            let ground = Ground::new();
            plant(&ground.outside());
            let shell = ground.shell_with(probing());
            assert_eq!(shell.script("true").level(), "reduced");
            let found = shell.probe(probe, "names", &[ground.outside().to_str().unwrap()]);
            assert!(found["watch"].contains("not implemented"), "{found:?}");
            for what in ["attribute", "attributes"] {
                assert!(found[what].contains("not supported"), "{found:?}");
            }
            // Programs take it as it comes.
            let ran = shell.script(
                "echo x > a && cp a b && ls -l b > /dev/null && timeout 1 tail -n 1 -f b; true",
            );
            assert_eq!(ran.stdout(), "x\n", "{ran:?}");
            assert_eq!(
                ran.0["stderr"]["text"]
                    .as_str()
                    .map(|text| text.contains("Operation not permitted")),
                Some(false)
            );
        },
    );
}

/// S11: whoever lends everything has nothing to hide.
#[test]
fn a_root_that_is_the_whole_machine_is_lent_with_its_names() {
    const NAME: &str = "a_root_that_is_the_whole_machine_is_lent_with_its_names";
    if !is_full("S11", NAME) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        // For the time of a command, a folder stands in the place of a repository that is not there.
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN S11 {NAME}: this user cannot write in `/`"
        );
        return;
    }
    let ground = Ground::new();
    plant(&ground.outside());
    let workspace = toolkit::Workspace::builder().root("/").sandbox(probing());
    let shell = crate::confined::Shell::new(workspace);
    let found = shell.probe(probe, "names", &[ground.outside().to_str().unwrap()]);
    assert_eq!(found["link"], "reached", "{found:?}");
    let ran = shell.script("true");
    assert!(ran.layers().contains("own root: `/` is a root"), "{ran:?}");
}

/// S11: links on the way to what is granted lead there as before.
#[test]
fn what_is_granted_by_way_of_links_is_where_it_was() {
    let ground = Ground::new();
    let outside = ground.outside();
    fs::create_dir_all(outside.join("tools/v1/bin")).unwrap();
    fs::write(outside.join("tools/v1/bin/note"), "granted").unwrap();
    fs::write(outside.join("tools/v1/other"), "not granted").unwrap();
    symlink("v1", outside.join("tools/current")).unwrap();
    symlink(outside.join("tools"), outside.join("whole")).unwrap();
    let granted = outside.join("whole/current/bin");
    let shell = ground.shell_with(crate::confined::sandbox().readable(&granted));
    let ran = shell.script(&format!(
        "cat {0}/note; cat {0}/../other; cat {1}/tools/v1/bin/note; \
         echo x | tee /dev/stderr > /dev/null; cat < /dev/stdin; bash -c 'cat <(echo y)'; readlink /dev/fd",
        granted.display(),
        outside.display()
    ));
    assert_eq!(ran.stdout(), "grantedgrantedy\n/proc/self/fd\n", "{ran:?}");
}
