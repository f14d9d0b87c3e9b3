//! What the process holds: descriptors, children, memory.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use std::{fmt, fs, io, thread};

static ALONE: RwLock<()> = RwLock::new(());

/// For a test that counts what the whole process holds.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    ALONE.write().unwrap_or_else(PoisonError::into_inner)
}

/// For every other test of the same binary.
pub(crate) fn beside() -> RwLockReadGuard<'static, ()> {
    ALONE.read().unwrap_or_else(PoisonError::into_inner)
}

/// What each open descriptor of this process leads to; empty where the system does not say.
pub(crate) fn descriptors() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return Vec::new();
    };
    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .map(|target| target.display().to_string())
        // The folder that is being read.
        .filter(|target| !target.ends_with("/fd"))
        .collect();
    found.sort();
    found
}

/// All processes below this one, living or not yet waited for: number and name.
pub(crate) fn children() -> BTreeMap<u32, String> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // The name may hold anything, also brackets and blanks.
        let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else {
            continue;
        };
        let name = stat[open + 1..close].to_owned();
        let parent = stat[close + 1..]
            .split_whitespace()
            .nth(1)
            .and_then(|id| id.parse().ok());
        parents.insert(id, (parent.unwrap_or(0), name));
    }
    let own = std::process::id();
    let below = |mut id: u32| {
        while let Some((parent, _)) = parents.get(&id) {
            if *parent == own {
                return true;
            }
            id = *parent;
        }
        false
    };
    let found = parents.iter().filter(|(id, _)| below(**id));
    found.map(|(id, (_, name))| (*id, name.clone())).collect()
}

/// Waits for something that must come; says whether it has.
pub(crate) fn until(mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        if done() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The most memory this process ever had, in bytes; none where the system does not say.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Tells something to whoever reads the output, also of a test that passes: `eprintln` would be kept for those that fail.
pub(crate) fn tell(line: impl fmt::Display) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}
