//! Which files a command can reach: Landlock.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope, make_bitflags,
};

use crate::sandbox::wire::{Answer, Request};

/// Without truncation (Linux 6.2), a file that can be read but not written could be emptied.
const LEAST: ABI = ABI::V3;

/// The newest that is asked for: devices, TCP, signals, abstract sockets, sockets with a path.
const MOST: ABI = ABI::V9;

/// Where programs are, and what they need.
const PROGRAMS: [&str; 8] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
];

/// What programs read in `/etc`; `/etc/shadow`, keys and tokens are not among it.
const SETTINGS: [&str; 36] = [
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gai.conf",
    "gitattributes",
    "gitconfig",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ld.so.preload",
    "locale.alias",
    "locale.conf",
    "localtime",
    "lsb-release",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "profile",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Resolving of names, which only a command with a network needs.
const RESOLVER: &str = "/etc/resolv.conf";

const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// What programs read of a machine whose processes they must not see.
const MACHINE: [&str; 6] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/version",
];

/// Confines this process, and all that come from it. Says by what, and whether signals are held too.
pub(super) fn confine(request: &Request) -> Result<(String, bool), Answer> {
    let status = apply(request).map_err(|error| missing(&error.to_string()))?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(missing("it is not in force"));
    }
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => {
            let name = format!("landlock {}", effective_abi as i32);
            Ok((name, effective_abi >= ABI::V6))
        }
        _ => Err(missing("the kernel has none")),
    }
}

fn missing(reason: &str) -> Answer {
    Answer::Missing {
        layer: "landlock".to_owned(),
        reason: reason.to_owned(),
    }
}

fn apply(request: &Request) -> Result<landlock::RestrictionStatus, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(MOST))?
        .scope(Scope::from_all(MOST))?;
    if !request.network {
        rules = rules.handle_access(AccessNet::from_all(MOST))?;
    }
    let mut rules = rules.create()?;
    for (path, access) in granted(request) {
        // What is not there needs no rule.
        let Ok(handle) = PathFd::new(&path) else {
            continue;
        };
        rules = rules.add_rule(PathBeneath::new(handle, fitting(&path, access)))?;
    }
    rules.restrict_self()
}

/// Everything that may be reached, in one way or another.
pub(super) fn paths(request: &Request) -> impl Iterator<Item = PathBuf> {
    // Which part of it is granted is not known before it is mounted.
    let processes = PathBuf::from("/proc");
    let granted = granted(request).into_iter().map(|(path, _)| path);
    granted.chain([processes])
}

fn granted(request: &Request) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let read = AccessFs::from_read(MOST);
    let look = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    // No devices and no sockets are made, and none is reached.
    let kept_from =
        make_bitflags!(AccessFs::{MakeChar | MakeBlock | MakeSock | IoctlDev | ResolveUnix});
    let write = AccessFs::from_all(MOST) & !kept_from;
    let device = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate});

    let mut granted = Vec::new();
    let mut grant = |path: &Path, access| granted.push((path.to_owned(), access));
    for path in PROGRAMS {
        grant(Path::new(path), read);
    }
    for name in SETTINGS {
        grant(&Path::new("/etc").join(name), look);
    }
    if request.network {
        grant(Path::new(RESOLVER), look);
    }
    for path in DEVICES {
        grant(Path::new(path), device);
    }
    if request.own_processes {
        grant(Path::new("/proc"), look);
    } else {
        for path in MACHINE {
            grant(Path::new(path), look);
        }
    }
    for path in &request.readable {
        grant(path, read);
    }
    for path in request.roots.iter().chain([&request.temporary]) {
        grant(path, write);
    }
    granted
}

/// The part of an access that a file can have, if it is one.
fn fitting(path: &Path, access: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
    if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(MOST)
    }
}
