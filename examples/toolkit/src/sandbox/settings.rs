//! How commands are kept apart: what an operator chooses.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this program called [`enter`], and so can be the helper.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// How commands are kept apart from the machine.
///
/// By itself: files outside of the roots cannot be read or seen, but for programs and what they need; no network; own
/// processes; limits of the [`Workspace`](crate::Workspace). Protected paths at the top of each root cannot be written, and neither can
/// the repository there, the whole of its `.git`; a protected path that a command makes is taken away when it has ended.
///
/// ```
/// use toolkit::{Sandbox, Workspace};
///
/// # let folder = tempfile::tempdir()?;
/// let sandbox = Sandbox::confined()
///     .readable("/srv/toolchains")
///     .environment("PATH", "/srv/toolchains/bin:/usr/bin:/bin");
/// let workspace = Workspace::builder().root(folder.path()).sandbox(sandbox).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "commands are run on Linux only")
)]
pub struct Sandbox {
    pub(super) confined: bool,
    pub(super) network: bool,
    pub(crate) repository: bool,
    pub(super) helper: Option<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) environment: Vec<(String, String)>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::confined()
    }
}

impl Sandbox {
    /// Uses every layer that the machine has; without the necessary ones, no command is run.
    pub fn confined() -> Self {
        Self {
            confined: true,
            network: false,
            repository: false,
            helper: None,
            readable: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// Uses no sandbox: commands may do what this program may do. Each result says so.
    ///
    /// Limits hold, and processes that the command leaves behind are ended.
    pub fn unsandboxed() -> Self {
        Self {
            confined: false,
            ..Self::confined()
        }
    }

    /// Sets the program that starts commands: one whose `main` calls [`enter`] first. By itself it is this program.
    ///
    /// It should lie where commands cannot write. If it lies in a root, it is protected as the paths of
    /// [`protect`](crate::WorkspaceBuilder::protect) are.
    pub fn helper(mut self, path: impl AsRef<Path>) -> Self {
        self.helper = Some(path.as_ref().to_owned());
        self
    }

    /// Says whether commands may use the network; they may not, unless this says so.
    pub fn network(mut self, on: bool) -> Self {
        self.network = on;
        self
    }

    /// Says whether commands may write the repository at the top of a root, as `git add` and `git commit` do, and tools for
    /// files every repository; they may not, unless this says so.
    ///
    /// What git runs or obeys there stays protected, as [`protect`](crate::WorkspaceBuilder::protect) lists it. But where such
    /// a path does not exist, git outside obeys what a command puts there until the command has ended and it is taken away;
    /// and with it goes a rebase that stopped half-way. Without namespaces (level `reduced`) nothing can be sealed and this
    /// setting changes nothing: what git obeys is copied before a command and put back after it.
    ///
    /// ```
    /// use toolkit::Sandbox;
    ///
    /// let sandbox = Sandbox::confined().writable_repository(true);
    /// ```
    pub fn writable_repository(mut self, on: bool) -> Self {
        self.repository = on;
        self
    }

    /// Lets commands read and execute what is at and below a path.
    pub fn readable(mut self, path: impl AsRef<Path>) -> Self {
        self.readable.push(path.as_ref().to_owned());
        self
    }

    /// Sets a variable for commands, which have `PATH`, `HOME`, `TMPDIR`, `LANG` and `TERM` by themselves, and nothing else.
    pub fn environment(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Gives commands a variable of this program, if it has it now and it is UTF-8.
    pub fn pass_environment(self, name: impl Into<String>) -> Self {
        let name = name.into();
        match std::env::var(&name) {
            Ok(value) => self.environment(name, value),
            Err(_) => self,
        }
    }

    pub(crate) fn is_confined(&self) -> bool {
        self.confined
    }

    /// Without a sandbox there is nothing that would keep commands from it.
    pub(crate) fn has_network(&self) -> bool {
        self.network || !self.confined
    }

    /// Without a sandbox there is nothing that would keep commands from it.
    pub(crate) fn has_writable_repository(&self) -> bool {
        self.repository || !self.confined
    }

    /// Where the helper that was chosen lies, if one was.
    #[cfg(target_os = "linux")]
    pub(super) fn chosen(&self) -> Option<PathBuf> {
        self.helper.as_ref()?.canonicalize().ok()
    }

    /// The program to execute as the helper, if there is one.
    #[cfg(target_os = "linux")]
    pub(super) fn program(&self) -> Option<&Path> {
        match &self.helper {
            Some(path) => Some(path),
            // Not its name: the file may have been replaced since.
            None if ENTERED.load(Ordering::Relaxed) => Some(Path::new("/proc/self/exe")),
            None => None,
        }
    }
}

/// Starts commands, where this process is to do that; else returns at once.
///
/// Call it first in the `main` of every program that offers `run_shell`, before any thread is started (so not below
/// `#[tokio::main]`): the program is executed again to start each command.
///
/// ```
/// toolkit::enter();
/// // Then the rest of `main`: a runtime, a registry with `run_shell`.
/// ```
pub fn enter() {
    #[cfg(target_os = "linux")]
    super::helper::enter();
    ENTERED.store(true, Ordering::Relaxed);
}
