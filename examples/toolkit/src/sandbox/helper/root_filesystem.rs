//! A root of the command's own, in which nothing stands but what it may reach, and what leads there.
//!
//! Landlock keeps a command from opening what lies elsewhere, and not from asking of it: whether a path exists, where a
//! link points, which attributes a file has, what happens in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::pivot_root;

use super::landlock;
use super::mounts::NONE;
use crate::sandbox::wire::Request;

/// Where the machine's own root is, until it goes.
const MACHINE: &str = ".machine";

/// Names of open files, which lead to `/proc`.
const STREAMS: [&str; 4] = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// As many links as the system follows (`path_resolution`(7)).
const MOST: usize = 40;

/// What stands in the new root.
#[derive(Debug, Default)]
struct Layout {
    /// Files and folders by their real paths, parents before children.
    real: BTreeSet<PathBuf>,
    /// Links on the way to them, and where they point.
    links: BTreeMap<PathBuf, PathBuf>,
}

/// Leaves nothing of the machine but what the request grants; all of it if the request lends all of it.
pub(super) fn narrow(request: &Request) -> io::Result<()> {
    if request.roots.iter().any(|root| root == Path::new("/")) {
        return Ok(());
    }
    let mut layout = Layout::default();
    for path in landlock::paths(request).chain(libraries()) {
        layout.add(&path);
    }
    for stream in STREAMS.map(PathBuf::from) {
        if let Ok(target) = fs::read_link(&stream) {
            layout.links.insert(stream, target);
        }
    }
    // Any folder would do; this one is nobody else's.
    let base = &request.temporary;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), base, Some("tmpfs"), flags, Some("mode=755"))?;
    let below = base.join(MACHINE);
    fs::create_dir(&below)?;
    pivot_root(base, &below)?;
    std::env::set_current_dir("/")?;
    let machine = Path::new("/").join(MACHINE);
    layout.build(&machine)?;
    umount2(&machine, MntFlags::MNT_DETACH)?;
    fs::remove_dir(&machine)
}

impl Layout {
    /// Adds where a path leads, and every link on the way. What is not there needs no place.
    fn add(&mut self, path: &Path) {
        let mut ahead = names(path);
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        while let Some(name) = ahead.pop() {
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&name);
            let Ok(target) = fs::read_link(&next) else {
                at = next;
                continue;
            };
            links += 1;
            if links > MOST {
                return;
            }
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            ahead.extend(names(&target));
            self.links.insert(next, target);
        }
        if at.symlink_metadata().is_ok() {
            self.real.insert(at);
        }
    }

    /// Puts everything in its place.
    fn build(&self, machine: &Path) -> io::Result<()> {
        let mut stands: Vec<&Path> = Vec::new();
        for path in &self.real {
            if !stands.iter().any(|above| path.starts_with(above)) && bind(machine, path)? {
                stands.push(path);
            }
        }
        for (link, target) in &self.links {
            if stands.iter().any(|above| link.starts_with(above)) {
                continue;
            }
            make_parents(link)?;
            match symlink(target, link) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether a path of the machine stands in the new root; one that nobody can reach does not.
fn bind(machine: &Path, path: &Path) -> io::Result<bool> {
    let from: PathBuf = machine.iter().chain(path.iter().skip(1)).collect();
    let Ok(metadata) = from.symlink_metadata() else {
        return Ok(false);
    };
    make_parents(path)?;
    if metadata.is_dir() {
        fs::create_dir(path)?;
    } else {
        fs::File::create(path)?;
    }
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    match mount(Some(&from), path, NONE, flags, NONE) {
        Ok(()) => Ok(true),
        Err(Errno::ENOENT | Errno::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn make_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// The names of a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.iter().filter(|name| *name != "/" && *name != ".");
    let mut names: Vec<OsString> = names.map(OsStr::to_owned).collect();
    names.reverse();
    names
}

/// What this program is made of besides itself: the next stages load it once more.
fn libraries() -> impl Iterator<Item = PathBuf> {
    let itself = fs::read_link("/proc/self/exe").ok();
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let paths: BTreeSet<PathBuf> = maps
        .lines()
        .filter_map(|line| line.get(line.find('/')?..).map(PathBuf::from))
        .filter(|path| Some(path) != itself.as_ref())
        .collect();
    paths.into_iter()
}
