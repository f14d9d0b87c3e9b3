//! Every process that descends from this one, as `/proc` tells it.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use nix::unistd::{SysconfVar, sysconf};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, wait,
};

use super::shared_memory::SharedMemory;
use crate::sandbox::ended::Limit;
use crate::sandbox::wire::Ceiling;

/// The processes below this one. Orphans among them become its children, so none can leave.
pub(super) struct ProcessTree {
    /// The kernel ends them all with this process.
    owned: bool,
    ticks: u64,
    page: u64,
    shared: SharedMemory,
}

/// The longest pause between two looks at processes that do not end.
const PAUSE: Duration = Duration::from_millis(100);

/// How long processes are looked for that cannot be seen.
const PATIENCE: Duration = Duration::from_secs(3);

/// One line of `/proc/PID/stat` (`proc_pid_stat`(5)).
#[derive(Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
    state: u8,
    /// Of the processor, in ticks of the clock.
    time: u64,
    /// When it was started, which tells it from another with its number.
    start: u64,
    /// Addresses in use, in bytes.
    size: u64,
    /// Resident pages.
    pages: u64,
}

impl ProcessTree {
    pub(super) fn new(owned: bool) -> io::Result<Self> {
        let value = |name| -> io::Result<u64> {
            let value = sysconf(name)?.unwrap_or(0);
            u64::try_from(value).map_err(io::Error::other)
        };
        // Without it nothing could be counted, and nothing found.
        std::fs::read_link("/proc/self")?;
        Ok(Self {
            owned,
            ticks: value(SysconfVar::CLK_TCK)?.max(1),
            page: value(SysconfVar::PAGE_SIZE)?,
            shared: SharedMemory::default(),
        })
    }

    /// How many there are that have not ended.
    pub(super) fn count() -> io::Result<u32> {
        Ok(u32::try_from(Self::living()?.len()).unwrap_or(u32::MAX))
    }

    /// The limit that they are beyond.
    pub(super) fn beyond(&mut self, ceiling: &Ceiling) -> io::Result<Option<Limit>> {
        let living = Self::living()?;
        if living.len() > ceiling.processes as usize {
            return Ok(Some(Limit::Processes));
        }
        let sizes = living.iter().map(|process| (process.pid, process.size));
        let shared = self.shared.measure(sizes, ceiling.memory)?;
        let pages: u64 = living.iter().map(|process| process.pages).sum();
        // What processes share counts for each of them in this sum, so it is only where the question begins.
        if pages.saturating_mul(self.page).saturating_add(shared) > ceiling.memory {
            let (mut own, mut resident) = (0_u64, 0_u64);
            for process in &living {
                let (all, of_it_shared) = process.share(self.page);
                own = own.saturating_add(all.saturating_sub(of_it_shared));
                resident = resident.saturating_add(of_it_shared);
            }
            if own.saturating_add(resident.max(shared)) > ceiling.memory {
                return Ok(Some(Limit::Memory));
            }
        }
        let longest = living.iter().map(|process| process.time).max();
        let is_over = longest.is_some_and(|time| time / self.ticks >= ceiling.cpu_seconds);
        Ok(is_over.then_some(Limit::Cpu))
    }

    /// Ends them all. In a namespace of its own the kernel does it, when this process ends.
    pub(super) fn end(&self) {
        if self.owned {
            return;
        }
        let mut seen = Instant::now();
        let mut pause = Duration::from_millis(2);
        loop {
            match Self::end_once() {
                Ok(true) => return,
                Ok(false) => seen = Instant::now(),
                // Who cannot be seen may still be there.
                Err(_) if seen.elapsed() > PATIENCE => return,
                Err(_) => {}
            }
            std::thread::sleep(pause);
            // One that the kernel does not let go is waited for without a processor of its own.
            pause = (pause * 2).min(PAUSE);
        }
    }

    /// Whether none is left. Whoever is stopped makes no new ones, so each round leaves fewer that could.
    fn end_once() -> io::Result<bool> {
        let mut stopped = Vec::new();
        loop {
            let before = stopped.len();
            for process in Self::living()? {
                if !stopped.contains(&(process.pid, process.start)) {
                    stopped.push((process.pid, process.start));
                    process.send(Signal::STOP);
                }
            }
            if stopped.len() == before {
                break;
            }
        }
        for process in Self::living()? {
            process.send(Signal::KILL);
        }
        while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        Ok(Self::living()?.is_empty())
    }

    fn living() -> io::Result<Vec<Process>> {
        // By the number that this `/proc` gives us, which may be that of another namespace.
        let this = std::fs::read_link("/proc/self")?;
        let this = this.to_str().and_then(|name| name.parse().ok());
        let this = this.ok_or_else(|| io::Error::other("/proc/self is not a number"))?;
        let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
        for process in all()? {
            children.entry(process.parent).or_default().push(process);
        }
        let mut found = Vec::new();
        let mut next = vec![this];
        while let Some(parent) = next.pop() {
            for process in children.remove(&parent).unwrap_or_default() {
                next.push(process.pid);
                found.push(process);
            }
        }
        found.retain(|process| !matches!(process.state, b'Z' | b'X'));
        Ok(found)
    }
}

impl Process {
    /// `None` when there is none with this number, or it is somebody else's and hidden.
    fn read(pid: i32) -> io::Result<Option<Self>> {
        match std::fs::read(format!("/proc/{pid}/stat")) {
            Ok(line) => Ok(Self::parse(pid, &line)),
            Err(error) if is_gone(&error) || error.kind() == io::ErrorKind::PermissionDenied => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The name, in parentheses, may hold anything; the rest is numbers.
    fn parse(pid: i32, line: &[u8]) -> Option<Self> {
        let end = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(line.get(end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // The first of these is the third in the manual.
        let number = |place: usize| fields.get(place - 3)?.parse::<u64>().ok();
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            state: *fields.first()?.as_bytes().first()?,
            time: number(14)?.saturating_add(number(15)?),
            start: number(22)?,
            size: number(23)?,
            pages: number(24)?,
        })
    }

    /// Its memory in bytes, and how much of it is shared memory; of both, its part (`proc_pid_smaps`(5)).
    fn share(&self, page: u64) -> (u64, u64) {
        let told = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid));
        let told = told.unwrap_or_default();
        let bytes = |name: &str| {
            let line = told.lines().find_map(|line| line.strip_prefix(name))?;
            let kibibytes = line.split_ascii_whitespace().next()?.parse::<u64>().ok()?;
            Some(kibibytes.saturating_mul(1024))
        };
        let all = bytes("Pss:").unwrap_or(self.pages.saturating_mul(page));
        (all, bytes("Pss_Shmem:").unwrap_or(0))
    }

    /// Sends a signal to this process, and not to another that was given its number.
    fn send(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return;
        };
        let handle = pidfd_open(pid, PidfdFlags::empty());
        let now = Self::read(self.pid).ok().flatten();
        if now.is_none_or(|now| now.start != self.start) {
            return;
        }
        let sent = handle.and_then(|handle| pidfd_send_signal(&handle, signal));
        // Where the machine allows no handles of processes, their number must do, a moment after it was looked at.
        if sent.is_err_and(|error| error != Errno::SRCH) {
            let _ = kill_process(pid, signal);
        }
    }
}

fn all() -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
            found.extend(Process::read(pid)?);
        }
    }
    Ok(found)
}

/// Whether a file of `/proc` says that its process has ended.
pub(super) fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(nix::libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pass_for_numbers() {
        let rest = "S 7 0 0 0 -1 0 0 0 0 0 30 12 0 0 20 0 1 0 4242 1000 55 0 0";
        for name in ["sh", "a) S 1 (b", "))", "\n 9 ("] {
            let line = format!("12 ({name}) {rest}");
            let process = Process::parse(12, line.as_bytes()).unwrap();
            assert_eq!((process.parent, process.state), (7, b'S'));
            assert_eq!((process.time, process.start, process.pages), (42, 4242, 55));
        }
        for broken in ["", "12 sh S 7", "12 (sh)", "12 (sh) S x", "12 (sh) S 7 0 0"] {
            assert!(Process::parse(12, broken.as_bytes()).is_none(), "{broken}");
        }
    }

    #[test]
    fn own_children_are_found_until_they_have_ended() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let is_found = || {
            ProcessTree::living()
                .unwrap()
                .iter()
                .any(|process| process.pid == pid)
        };
        assert!(is_found());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_found());
    }
}
