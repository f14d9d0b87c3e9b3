//! The processes of a run: backend, executor and caller.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::ROLE;
use crate::proxy::Proxy;
use crate::sides::{Done, Manner};

/// What both sides leave, until it is dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> std::io::Result<Self> {
        let name = format!("remote-faults-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One side, as a process that ends with this one.
pub(crate) struct Side {
    pub(crate) child: Child,
    words: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Side {
    fn spawn(role: &str, arguments: &[&str]) -> std::io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let out = child.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok(Self {
            words: child.stdin.take(),
            child,
            lines: BufReader::new(out).lines(),
        })
    }

    pub(crate) fn backend(folder: &Path, manner: Manner) -> std::io::Result<Self> {
        let [calls, wide, keep_alive, _] = manner.words();
        let folder = folder.to_string_lossy();
        Self::spawn("backend", &[&folder, &calls, &wide, &keep_alive])
    }

    pub(crate) fn executor(
        folder: &Path,
        manner: Manner,
        (address, token): (&str, &str),
    ) -> std::io::Result<Self> {
        let [.., slow] = manner.words();
        Self::spawn(
            "executor",
            &[&folder.to_string_lossy(), address, token, &slow],
        )
    }

    /// Where an executor reaches the backend, over the proxy.
    pub(crate) async fn address(
        &mut self,
        proxy: &Proxy,
    ) -> Result<String, Box<dyn std::error::Error>> {
        let line = self.lines.next_line().await?.ok_or("the backend ended")?;
        let address = line.strip_prefix("at ws://").ok_or(line.clone())?;
        let (host, path) = address.split_once('/').ok_or("no path")?;
        proxy.lead_to(host);
        Ok(format!("ws://{}/{path}", proxy.address))
    }

    pub(crate) async fn done(&mut self) -> Done {
        while let Some(line) = self.lines.next_line().await? {
            if line == "done" {
                return Ok(());
            }
        }
        Err("the backend ended before it was done".into())
    }

    /// Makes a backend give up the calls that are under way.
    pub(crate) async fn gives_up(&mut self) -> Done {
        if let Some(words) = &mut self.words {
            words.write_all(b"give up\n").await?;
        }
        Ok(())
    }

    /// Stops it, or lets it go on, as a machine does that is out of breath.
    pub(crate) async fn signal(&self, signal: &str) -> Done {
        let id = self.child.id().ok_or("it has ended")?.to_string();
        let sent = Command::new("kill").args([signal, &id]).status().await?;
        sent.success().then_some(()).ok_or("no signal was sent")?;
        Ok(())
    }

    /// Without a word.
    pub(crate) async fn kill(&mut self) -> std::io::Result<()> {
        self.child.start_kill()?;
        self.child.wait().await.map(drop)
    }
}
