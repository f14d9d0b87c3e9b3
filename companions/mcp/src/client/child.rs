//! A server as a child process: its streams, and why it failed.

use std::any::Any;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::process::{ChildStdin, ChildStdout, Command};

use super::ImportError;
use super::names::shortened;

/// How long a program may take to exit after its input is closed, and again after `SIGTERM`.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long after its output has ended a program may take to exit.
const EXIT: Duration = Duration::from_millis(500);

/// The bytes of its standard output that are kept, to report what it writes instead of the protocol.
const HEAD: usize = 1024;

/// An MCP server that runs as a child process and speaks over its standard streams.
///
/// It is terminated when the connection ends.
pub struct ChildProcess {
    streams: AsyncRwTransport<RoleClient, Recorded<ChildStdout>, ChildStdin>,
    process: Arc<Process>,
}

/// The process itself, which can tell why the connection failed after the connection has ended.
pub(super) struct Process {
    program: String,
    child: tokio::sync::Mutex<Box<dyn ChildWrapper>>,
    output: Recorded<ChildStdout>,
}

impl ChildProcess {
    /// Starts it; its standard error goes to ours.
    pub(super) fn start(mut command: Command) -> Result<Self, ImportError> {
        let program = command.as_std().get_program();
        let program = program.to_string_lossy().into_owned();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        let started = CommandWrap::from(command).spawn().and_then(|mut child| {
            let gone = || io::Error::other("it has no standard streams");
            let stdin = child.stdin().take().ok_or_else(gone)?;
            let stdout = child.stdout().take().ok_or_else(gone)?;
            Ok((child, stdin, stdout))
        });
        let (child, stdin, stdout) = match started {
            Ok(started) => started,
            Err(source) => return Err(ImportError::Start { program, source }),
        };
        let output = Recorded {
            inner: Arc::new(Mutex::new(stdout)),
            head: Arc::default(),
        };
        Ok(Self {
            streams: AsyncRwTransport::new(output.clone(), stdin),
            process: Arc::new(Process {
                program,
                child: tokio::sync::Mutex::new(child),
                output,
            }),
        })
    }
}

impl Process {
    /// That of a transport which has one.
    pub(super) fn of(transport: &dyn Any) -> Option<Arc<Self>> {
        let child = transport.downcast_ref::<ChildProcess>()?;
        Some(Arc::clone(&child.process))
    }

    /// Why a connection failed that has gone: the program has ended, or writes something else.
    pub(super) async fn fault(&self) -> Option<ImportError> {
        let Some(status) = self.exit(EXIT).await else {
            return self.stray_output();
        };
        self.read_on().await;
        Some(ImportError::Exited {
            program: self.program.clone(),
            status,
            output: self.stray_line(),
        })
    }

    /// Reads what a program wrote that had ended before it was listened to: the connection fails at the first message to it.
    async fn read_on(&self) {
        let mut output = self.output.clone();
        let mut buffer = [0; HEAD];
        let read = async {
            while !output.is_full() && output.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
        };
        // A process that it left behind may hold the other end.
        let _ = tokio::time::timeout(EXIT, read).await;
    }

    /// That its output is not of the protocol.
    pub(super) fn stray_output(&self) -> Option<ImportError> {
        let line = self.stray_line()?;
        let found = format!("`{}` wrote `{line}` to its standard output", self.program);
        Some(ImportError::NotMcp { found })
    }

    async fn exit(&self, patience: Duration) -> Option<ExitStatus> {
        let mut child = self.child.lock().await;
        tokio::time::timeout(patience, child.wait())
            .await
            .ok()?
            .ok()
    }

    /// The first line of its output, where that is not a message.
    fn stray_line(&self) -> Option<String> {
        let head = self.output.head();
        let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let line = lines.find(|line| !line.is_empty())?;
        // A message may be longer than what is kept of it.
        let is_message = line.starts_with(b"{")
            && serde_json::from_slice::<Value>(line).map_or_else(
                |error| error.is_eof(),
                |message| message["jsonrpc"] == "2.0",
            );
        (!is_message).then(|| shortened(&String::from_utf8_lossy(line)))
    }

    /// Waits until it ends, and ends it where it does not (Model Context Protocol, "Lifecycle: Shutdown").
    async fn end(&self) -> io::Result<()> {
        if self.exit(PATIENCE).await.is_some() {
            return Ok(());
        }
        #[cfg(unix)]
        {
            /// The same number on every system (POSIX, `kill`).
            const SIGTERM: i32 = 15;
            // One that has just ended needs no signal.
            let _ = self.child.lock().await.signal(SIGTERM);
            if self.exit(PATIENCE).await.is_some() {
                return Ok(());
            }
        }
        Box::into_pin(self.child.lock().await.kill()).await
    }
}

impl Transport<RoleClient> for ChildProcess {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.streams.send(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.streams.receive()
    }

    async fn close(&mut self) -> io::Result<()> {
        self.streams.close().await?;
        self.process.end().await
    }
}

impl fmt::Debug for ChildProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildProcess")
            .field("program", &self.process.program)
            .finish_non_exhaustive()
    }
}

/// A reader that is shared, and the beginning of what was read from it.
struct Recorded<R> {
    inner: Arc<Mutex<R>>,
    head: Arc<Mutex<Vec<u8>>>,
}

impl<R> Recorded<R> {
    fn head(&self) -> MutexGuard<'_, Vec<u8>> {
        self.head.lock()
    }

    fn is_full(&self) -> bool {
        self.head().len() >= HEAD
    }
}

impl<R> Clone for Recorded<R> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            head: Arc::clone(&self.head),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Recorded<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let mut inner = self.inner.lock();
        ready!(Pin::new(&mut *inner).poll_read(task, into))?;
        let read = into.filled().get(before..).unwrap_or_default();
        let mut head = self.head();
        let kept = read.len().min(HEAD.saturating_sub(head.len()));
        head.extend_from_slice(read.get(..kept).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}
