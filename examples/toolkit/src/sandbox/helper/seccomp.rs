//! Which system calls a command can make: seccomp.
//!
//! A list of what is refused: each reaches around the other layers, or has had faults that did. What is not listed is
//! decided by Landlock, mounts and the lack of capabilities.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use crate::sandbox::ended::Level;
use crate::sandbox::wire::{Answer, Request};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused whatever the arguments.
const REFUSED: [libc::c_long; 42] = [
    // Mounts, and handles to files that no path leads to.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_setns,
    libc::SYS_fanotify_init,
    // Calls that no filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The kernel itself, its keys and its tracing.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_syslog,
    // The machine.
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
    // Handles of other processes.
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
];

/// Not every C library names it.
const KEXEC_FILE_LOAD: libc::c_long = if cfg!(target_arch = "x86_64") {
    320
} else {
    294
};

/// Newer than the table of the C library (Linux 6.15; the same everywhere).
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Linux 6.13 and, of the last, 6.17.
const SETXATTRAT: libc::c_long = 463;
const GETXATTRAT: libc::c_long = 464;
const LISTXATTRAT: libc::c_long = 465;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

/// Programs go on without these, as on an old kernel. The first two hide their flags from a filter; the C library then
/// calls `clone`. Memory that belongs to no process could not be counted.
const ABSENT: [libc::c_long; 5] = [
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
];

/// The calls of another interface on the same processor, x32, have this bit; all of them lie below the number.
#[cfg(target_arch = "x86_64")]
const X32: std::ops::Range<i64> = 0x4000_0000..0x4000_0000 + 640;
#[cfg(not(target_arch = "x86_64"))]
const X32: std::ops::Range<i64> = 0..0;

/// Every way to a namespace of one's own (`clone`(2)); a new user namespace brings capabilities.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Typing into a terminal, and acting on a console.
const TERMINAL: [u64; 2] = [0x5412, 0x541c];

/// Filters the calls of this process, and of all that come from it, for ever.
pub(super) fn confine(request: &Request) -> Result<String, Answer> {
    let missing = |reason: String| Answer::Missing {
        layer: "seccomp".to_owned(),
        reason,
    };
    for filter in filters(request).map_err(|error| missing(error.to_string()))? {
        apply_filter(&filter).map_err(|error| missing(error.to_string()))?;
    }
    Ok("seccomp".to_owned())
}

fn filters(request: &Request) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let mut filters = vec![
        filter(refused(request)?, libc::EPERM)?,
        filter(every(ABSENT.into_iter().chain(X32)), libc::ENOSYS)?,
    ];
    if request.level != Level::Full {
        filters.push(filter(
            every(WATCHES.into_iter().chain(OLDER_WATCHES)),
            libc::ENOSYS,
        )?);
        filters.push(filter(every(LOOKS), libc::EOPNOTSUPP)?);
    }
    Ok(filters)
}

fn filter(rules: Rules, error: libc::c_int) -> Result<BpfProgram, seccompiler::BackendError> {
    // A processor that the filter does not know is an error here, and calls of a foreign one end the process.
    let processor = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error.unsigned_abs()),
        processor,
    )?
    .try_into()
}

/// Refused whatever the arguments.
fn every(calls: impl IntoIterator<Item = i64>) -> Rules {
    calls.into_iter().map(|call| (call, Vec::new())).collect()
}

fn refused(request: &Request) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = every(REFUSED);
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        for call in [libc::SYS_clone, libc::SYS_unshare] {
            let rule = all([on(0, SeccompCmpOp::MaskedEq(flag), flag)?])?;
            rules.entry(call).or_default().push(rule);
        }
    }
    for command in TERMINAL {
        let rule = all([on(1, SeccompCmpOp::Eq, command)?])?;
        rules.entry(libc::SYS_ioctl).or_default().push(rule);
    }
    sockets(&mut rules, request.network)?;
    modes(&mut rules)?;
    others(&mut rules)?;
    if request.level != Level::Full {
        neighbours(&mut rules)?;
    }
    Ok(rules)
}

/// Where a file gets its mode: the call, which of its arguments that is, and what must be in the one before it.
///
/// An `open` that makes nothing says nothing in its mode.
#[cfg(target_arch = "x86_64")]
const MODES: [(libc::c_long, u8, &[libc::c_int]); 9] = [
    (libc::SYS_fchmod, 1, &[]),
    (libc::SYS_fchmodat, 2, &[]),
    (FCHMODAT2, 2, &[]),
    (libc::SYS_mknodat, 2, &[]),
    (libc::SYS_openat, 3, &[libc::O_CREAT, TMPFILE]),
    (libc::SYS_chmod, 1, &[]),
    (libc::SYS_mknod, 1, &[]),
    (libc::SYS_creat, 1, &[]),
    (libc::SYS_open, 2, &[libc::O_CREAT, TMPFILE]),
];
#[cfg(not(target_arch = "x86_64"))]
const MODES: [(libc::c_long, u8, &[libc::c_int]); 5] = [
    (libc::SYS_fchmod, 1, &[]),
    (libc::SYS_fchmodat, 2, &[]),
    (FCHMODAT2, 2, &[]),
    (libc::SYS_mknodat, 2, &[]),
    (libc::SYS_openat, 3, &[libc::O_CREAT, TMPFILE]),
];

/// Linux 6.6; the same everywhere.
const FCHMODAT2: libc::c_long = 452;

/// The bit of `O_TMPFILE` that is not `O_DIRECTORY`.
const TMPFILE: libc::c_int = 0o20_000_000;

/// No file may lend its owner's rights to whoever runs it: outside of the sandbox its owner is the user of the host.
fn modes(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    for bit in [0o4000, 0o2000] {
        for (call, argument, flags) in MODES {
            let lends = || on(argument, SeccompCmpOp::MaskedEq(bit), bit);
            let rules = rules.entry(call).or_default();
            if flags.is_empty() {
                rules.push(all([lends()?])?);
            }
            for flag in flags.iter().copied().map(number) {
                let made = on(argument - 1, SeccompCmpOp::MaskedEq(flag), flag)?;
                rules.push(all([made, lends()?])?);
            }
        }
    }
    Ok(())
}

/// Scheduling, by the number of a process in the first argument.
const SCHEDULING: [libc::c_long; 4] = [
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
];

/// What changes another process: by these the first process of the namespace, which holds the limits and has the same user,
/// could be blinded or starved.
fn others(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    let set = all([on(0, SeccompCmpOp::Ne, 0)?, is_given(2)?])?;
    rules.insert(libc::SYS_prlimit64, vec![set]);
    for call in SCHEDULING {
        // Others stay possible: to the kernel, a thread of one's own is one of them.
        rules.insert(call, vec![all([on(0, SeccompCmpOp::Eq, 1)?])?]);
    }
    for (call, user) in [(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)] {
        let one = all([on(1, SeccompCmpOp::Eq, 1)?])?;
        let everyone = all([on(0, SeccompCmpOp::Eq, user)?])?;
        rules.insert(call, vec![one, everyone]);
    }
    Ok(())
}

/// Telling of what happens to a file, and of names in a folder, which Landlock does not hold back. Programs look again and
/// again instead, as on an old kernel.
const WATCHES: [libc::c_long; 2] = [libc::SYS_inotify_init1, libc::SYS_inotify_add_watch];

/// The same, as only the older table of this processor has it.
#[cfg(target_arch = "x86_64")]
const OLDER_WATCHES: [libc::c_long; 1] = [libc::SYS_inotify_init];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_WATCHES: [libc::c_long; 0] = [];

/// Attributes of files by their path, which Landlock does not hold back either; to programs it is as on a file system without
/// any. Of an open file they can be read.
const LOOKS: [libc::c_long; 6] = [
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    GETXATTRAT,
    LISTXATTRAT,
];

/// Owners and attributes of files.
const ATTRIBUTES: [libc::c_long; 11] = [
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// The same, as only the older table of this processor has it.
#[cfg(target_arch = "x86_64")]
const OLDER: [libc::c_long; 2] = [libc::SYS_chown, libc::SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: [libc::c_long; 0] = [];

/// What reaches other processes and files of the same user, where neither namespaces nor mounts
/// keep them apart.
fn neighbours(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    for call in [
        libc::SYS_msgget,
        libc::SYS_msgsnd,
        libc::SYS_msgrcv,
        libc::SYS_msgctl,
        libc::SYS_semget,
        libc::SYS_semop,
        libc::SYS_semtimedop,
        libc::SYS_semctl,
        libc::SYS_shmat,
        libc::SYS_shmctl,
        libc::SYS_mq_open,
        libc::SYS_mq_unlink,
    ] {
        rules.insert(call, Vec::new());
    }
    for call in SCHEDULING.into_iter().chain([libc::SYS_prlimit64]) {
        let other = all([on(0, SeccompCmpOp::Ne, 0)?])?;
        rules.insert(call, vec![other]);
    }
    for call in [libc::SYS_setpriority, libc::SYS_ioprio_set] {
        let other = all([on(1, SeccompCmpOp::Ne, 0)?])?;
        rules.entry(call).or_default().push(other);
    }
    // Without read-only mounts the attributes of all files of this user can be changed. Modes and times must stay possible,
    // or nothing could be built; but no file outside is opened to everyone.
    for call in ATTRIBUTES.into_iter().chain(OLDER) {
        rules.insert(call, Vec::new());
    }
    for (call, argument, flags) in MODES {
        if flags.is_empty() {
            let opens = all([on(argument, SeccompCmpOp::MaskedEq(0o002), 0o002)?])?;
            rules.entry(call).or_default().push(opens);
        }
    }
    Ok(())
}

/// Without a network no socket at all, for a socket with a path reaches other programs of the machine. With it, those of
/// the internet, and the one by which programs learn of addresses.
fn sockets(rules: &mut Rules, network: bool) -> Result<(), seccompiler::BackendError> {
    let unix = number(libc::AF_UNIX);
    if network {
        let route = number(libc::AF_NETLINK);
        let [four, six] = [libc::AF_INET, libc::AF_INET6].map(number);
        let other = all([
            on(0, SeccompCmpOp::Ne, four)?,
            on(0, SeccompCmpOp::Ne, six)?,
            on(0, SeccompCmpOp::Ne, route)?,
        ])?;
        let unknown = all([
            on(0, SeccompCmpOp::Eq, route)?,
            on(2, SeccompCmpOp::Ne, number(libc::NETLINK_ROUTE))?,
        ])?;
        rules.insert(libc::SYS_socket, vec![other, unknown]);
    } else {
        rules.insert(libc::SYS_socket, Vec::new());
    }
    // One of a pair of datagram sockets can still be sent elsewhere (`unix`(7)); pairs of streams cannot.
    let mut pairs = vec![all([on(0, SeccompCmpOp::Ne, unix)?])?];
    let streams = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(number);
    for kind in (0..16).filter(|kind| !streams.contains(kind)) {
        pairs.push(all([on(1, SeccompCmpOp::MaskedEq(0xf), kind)?])?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    Ok(())
}

fn number(value: libc::c_int) -> u64 {
    u64::from(value.unsigned_abs())
}

fn all<const N: usize>(
    conditions: [SeccompCondition; N],
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.into())
}

/// A pointer that is not null.
fn is_given(argument: u8) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}

fn on(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
