//! Serves one client over a pair of streams: one JSON-RPC message per line.

use std::collections::HashSet;
use std::io::{self, BufRead};

use rmcp::ServiceExt as _;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Server;
use super::handler::Handler;
use super::limits::Limits;
use super::message::{self, Rejection};
use super::revision::Revision;
use crate::ServeError;

/// How many messages may wait for the client before whoever sends one waits, too.
const WAITING: usize = 64;

/// The bytes of unread answers beyond which no further requests are read: a client that sends requests and reads nothing could
/// otherwise fill the memory.
const UNREAD: usize = 16 << 20;

/// The approximate memory of a waiting answer beyond its bytes, mostly its task.
const EACH: usize = 4 << 10;

/// The most bytes that are written together.
const TOGETHER: usize = 64 << 10;

/// Serves one client over a pair of streams until it disconnects.
pub(super) async fn serve(
    server: Server,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ServeError> {
    let handler = Handler::connected(server)?;
    let end = handler.0.end.clone();
    // However this future ends, no call outlives it.
    let _guard = end.clone().drop_guard();
    let lines = NdjsonTransport::new(read, write, handler.0.limits, end);
    let service = match handler.serve(lines).await {
        Ok(service) => service,
        // The client disconnected without a message, or stopped reading, which is the one error of `NdjsonTransport::send`.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(()),
        Err(error) => return Err(ServeError::Begin(error.to_string())),
    };
    service
        .waiting()
        .await
        .map_err(|error| ServeError::Connection(error.into()))?;
    Ok(())
}

/// What the client has not read yet.
#[derive(Clone, Copy)]
struct Unread {
    messages: usize,
    /// Their bytes, and [`EACH`].
    bytes: usize,
    /// When the client last read something, or when this became too much.
    since: Instant,
}

/// One message to a line (Model Context Protocol, "Transports: stdio").
///
/// Unlike rmcp's own transport, it answers lines that it cannot read, keeps the arguments of a call as they were sent, writes
/// what is ready together, and waits for running calls after the end of the input.
struct NdjsonTransport<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// A line that is too long is being skipped.
    skipping: bool,
    out: Option<mpsc::UnboundedSender<Vec<u8>>>,
    unread: watch::Sender<Unread>,
    writing: JoinHandle<()>,
    unwritable: CancellationToken,
    /// Before the handshake only requests are valid, and rmcp treats anything else as an error.
    begun: bool,
    revision: Option<Revision>,
    running: HashSet<RequestId>,
    /// The deadline for the calls of a client that has disconnected.
    last: Option<Instant>,
    limits: Limits,
    end: CancellationToken,
}

impl<R: AsyncRead + Unpin + Send> NdjsonTransport<R> {
    fn new(
        read: R,
        write: impl AsyncWrite + Unpin + Send + 'static,
        limits: Limits,
        end: CancellationToken,
    ) -> Self {
        let (out, ready) = mpsc::unbounded_channel();
        let unwritable = CancellationToken::new();
        let unread = watch::Sender::new(Unread {
            messages: 0,
            bytes: 0,
            since: Instant::now(),
        });
        let writing = write_all(write, ready, unread.clone(), unwritable.clone());
        Self {
            read: BufReader::with_capacity(TOGETHER, read),
            line: Vec::new(),
            skipping: false,
            out: Some(out),
            writing: tokio::spawn(writing),
            unread,
            unwritable,
            begun: false,
            revision: None,
            running: HashSet::new(),
            last: None,
            limits,
            end,
        }
    }

    /// Reads to the end of a line; returns false at the end of the input. Cancel-safe.
    async fn line(&mut self) -> io::Result<bool> {
        loop {
            let read = self.read.fill_buf().await?;
            if read.is_empty() {
                // Text after the last line break is a line, too.
                return Ok(!self.line.is_empty() && !self.skipping);
            }
            // The fastest search without another dependency; reading from memory does not fail.
            let taken = BufRead::skip_until(&mut &*read, b'\n')?;
            let ends = read.get(..taken).is_some_and(|line| line.ends_with(b"\n"));
            if !self.skipping {
                self.line
                    .extend_from_slice(read.get(..taken).unwrap_or(read));
            }
            self.read.consume(taken);
            if !self.skipping && self.line.len() > self.limits.message_bytes {
                self.line = Vec::new();
                self.skipping = true;
                self.refuse(Rejection::too_long(self.limits.message_bytes));
            }
            if ends && !std::mem::take(&mut self.skipping) {
                return Ok(true);
            }
        }
    }

    /// Waits while the client leaves too much unread. Returns false if it reads nothing for too long, and is considered disconnected.
    ///
    /// Whether it has closed our input cannot be seen then, because unread requests come first.
    async fn has_room(&mut self) -> bool {
        let mut changes = self.unread.subscribe();
        loop {
            let unread = *changes.borrow_and_update();
            if unread.bytes <= UNREAD {
                return true;
            }
            let next = timeout_at(unread.since + self.limits.patience, changes.changed());
            if next.await.is_err() {
                return false;
            }
        }
    }

    /// Queues an answer of the transport's own.
    fn refuse(&self, rejection: Rejection) {
        // Without a writer the connection ends anyway.
        let _ = self.queue(rejection.into_answer(self.revision));
    }

    /// Queues a line for the client.
    fn queue(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        self.unread.send_modify(|unread| {
            let before = unread.bytes;
            unread.messages += 1;
            unread.bytes += line.len() + EACH;
            if before <= UNREAD && unread.bytes > UNREAD {
                unread.since = Instant::now();
            }
        });
        let queued = self.out.as_ref().and_then(|out| out.send(line).ok());
        queued.ok_or_else(closed)
    }

    /// Serializes a message to be sent.
    fn encode(&mut self, message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
        let text = serde_json::to_vec(message)?;
        let id = match message {
            ServerJsonRpcMessage::Response(response) => {
                if let ServerResult::InitializeResult(begun) = &response.result {
                    self.begun = true;
                    self.revision = Some(Revision::of(&begun.protocol_version));
                }
                Some(&response.id)
            }
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = id {
            self.running.remove(id);
        }
        Ok(text)
    }

    /// Parses a line to a message; `None` if there is nothing left to do about it.
    fn parse(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        match message::read(line) {
            Ok(ClientJsonRpcMessage::Request(request)) => {
                if !self.running.insert(request.id.clone()) {
                    self.refuse(Rejection::in_use(&request.id));
                    return None;
                }
                Some(ClientJsonRpcMessage::Request(request))
            }
            Ok(message) => {
                if let ClientJsonRpcMessage::Notification(notification) = &message
                    && let ClientNotification::CancelledNotification(cancelled) =
                        &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It gets no answer, so its id is free again.
                    self.running.remove(id);
                }
                self.begun.then_some(message)
            }
            Err(rejection) => {
                self.refuse(rejection);
                None
            }
        }
    }

    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(last) = self.last {
                if !self.running.is_empty() {
                    sleep_until(last).await;
                    self.end.cancel();
                }
                return None;
            }
            if !self.has_room().await {
                self.last = Some(Instant::now() + self.limits.grace);
                continue;
            }
            match self.line().await {
                Ok(true) => {
                    let message = self.parse();
                    self.line.clear();
                    if message.is_some() {
                        return message;
                    }
                }
                Ok(false) | Err(_) => self.last = Some(Instant::now() + self.limits.grace),
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for NdjsonTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // Immediately, so that messages keep their order.
        let queued = self.encode(&message).and_then(|text| self.queue(text));
        let mut unread = self.unread.subscribe();
        async move {
            queued?;
            let few = unread.wait_for(|unread| unread.messages <= WAITING).await;
            few.map(drop).map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Before the protocol has begun, a request is answered before the next message is asked for.
        self.begun |= !self.running.is_empty();
        let unwritable = self.unwritable.clone();
        tokio::select! {
            biased;
            () = unwritable.cancelled() => {
                self.end.cancel();
                None
            }
            message = self.next() => message,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out = None;
        // A client that does not read must not block the server.
        if timeout(self.limits.grace, &mut self.writing).await.is_err() {
            self.writing.abort();
        }
        Ok(())
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client stopped reading")
}

/// Writes what is ready, together.
async fn write_all(
    mut write: impl AsyncWrite + Unpin,
    mut ready: mpsc::UnboundedReceiver<Vec<u8>>,
    unread: watch::Sender<Unread>,
    unwritable: CancellationToken,
) {
    while let Some(mut text) = ready.recv().await {
        let mut messages = 1;
        while text.len() < TOGETHER
            && let Ok(more) = ready.try_recv()
        {
            messages += 1;
            text.extend_from_slice(&more);
        }
        // Not `write_all`, so that a client that reads a long answer slowly is seen to read.
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let Ok(written @ 1..) = write.write(rest).await else {
                unwritable.cancel();
                return;
            };
            unread.send_modify(|unread| {
                unread.bytes -= written;
                unread.since = Instant::now();
            });
            rest = rest.get(written..).unwrap_or_default();
        }
        if write.flush().await.is_err() {
            unwritable.cancel();
            return;
        }
        unread.send_modify(|unread| {
            unread.messages -= messages;
            unread.bytes -= messages * EACH;
        });
    }
}
