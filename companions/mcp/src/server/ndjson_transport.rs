//! The stdio transport: one JSON-RPC message per line.

use std::collections::HashSet;
use std::io::{self, BufRead};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use super::message::{self, Rejection};
use super::revision::Revision;
use super::unread::{EACH, Unread};

/// The most answers that wait for the client to read.
const WAITING: usize = 64;

/// The most bytes that are written together.
const TOGETHER: usize = 64 << 10;

/// One message to a line (Model Context Protocol, "Transports: stdio").
///
/// Unlike rmcp's own transport, it answers lines that it cannot read, keeps the arguments of a call as they were sent, writes
/// what is ready together, and waits for running calls after the end of the input.
pub(super) struct NdjsonTransport<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    /// A line that is too long is being skipped.
    skipping: bool,
    /// The transport's own answers that have not been queued yet.
    refusal: Option<Vec<u8>>,
    out: Option<mpsc::Sender<Vec<u8>>>,
    unread: Arc<Unread>,
    writing: JoinHandle<()>,
    unwritable: CancellationToken,
    /// Before the handshake only requests are valid, and rmcp treats anything else as an error.
    begun: bool,
    revision: Option<Revision>,
    running: HashSet<RequestId>,
    /// The deadline for the calls of a client that has disconnected.
    last: Option<Instant>,
    grace: Duration,
    /// How long the client may read nothing while reading its requests is suspended.
    patience: Duration,
    /// When it stopped reading.
    stalled: Option<Instant>,
    end: CancellationToken,
}

impl<R: AsyncRead + Unpin + Send> NdjsonTransport<R> {
    pub(super) fn new(
        read: R,
        write: impl AsyncWrite + Unpin + Send + 'static,
        limits: Limits,
        end: CancellationToken,
    ) -> Self {
        let (out, ready) = mpsc::channel(WAITING);
        let unwritable = CancellationToken::new();
        let unread = Arc::<Unread>::default();
        Self {
            read: BufReader::with_capacity(TOGETHER, read),
            line: Vec::new(),
            limit: limits.message_bytes,
            skipping: false,
            refusal: None,
            out: Some(out),
            writing: tokio::spawn(write_all(
                write,
                ready,
                Arc::clone(&unread),
                unwritable.clone(),
            )),
            unread,
            unwritable,
            begun: false,
            revision: None,
            running: HashSet::new(),
            last: None,
            grace: limits.grace,
            patience: limits.patience,
            stalled: None,
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
            if !self.skipping && self.line.len() > self.limit {
                self.line = Vec::new();
                self.skipping = true;
                self.refuse(Rejection::too_long(self.limit));
            }
            if ends && !std::mem::take(&mut self.skipping) {
                return Ok(true);
            }
            if self.refusal.is_some() {
                return Ok(true);
            }
        }
    }

    /// Waits for something that happens when the client reads; if it reads nothing for too long, it is considered disconnected.
    ///
    /// Whether it has closed our input cannot be seen then, because unread requests come first.
    async fn with_patience<T>(&mut self, waiting: impl Future<Output = T>) -> Option<T> {
        let mut waiting = pin!(waiting);
        loop {
            // A field, because this future is dropped whenever there is something to send.
            let since = *self.stalled.get_or_insert_with(Instant::now);
            tokio::select! {
                biased;
                done = &mut waiting => {
                    self.stalled = None;
                    return Some(done);
                }
                () = self.unread.read.notified() => self.stalled = None,
                () = sleep_until(since + self.patience) => {
                    self.last = Some(Instant::now() + self.grace);
                    return None;
                }
            }
        }
    }

    /// Queues an answer of the transport's own, as soon as there is room.
    fn refuse(&mut self, rejection: Rejection) {
        let answer = rejection.into_answer(self.revision);
        let waiting = self.refusal.get_or_insert_default();
        waiting.extend_from_slice(&terminated(answer));
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
        Ok(terminated(text))
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
            if self.refusal.is_some() {
                let out = self.out.clone()?;
                let place = self.with_patience(out.reserve_owned()).await;
                if let (Some(refusal), Some(place)) = (self.refusal.take(), place) {
                    self.unread.more(&refusal);
                    place.ok()?.send(refusal);
                }
            }
            if let Some(last) = self.last {
                if !self.running.is_empty() {
                    sleep_until(last).await;
                    self.end.cancel();
                }
                return None;
            }
            let unread = Arc::clone(&self.unread);
            if unread.is_much() && self.with_patience(unread.few()).await.is_none() {
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
                Ok(false) | Err(_) => self.last = Some(Instant::now() + self.grace),
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
        // Immediately if there is room: messages keep their order, and no task has to wait.
        let queued = self.encode(&message).and_then(|text| match &self.out {
            None => Err(closed()),
            Some(out) => {
                self.unread.more(&text);
                match out.try_send(text) {
                    Ok(()) => Ok(None),
                    Err(mpsc::error::TrySendError::Full(text)) => Ok(Some((out.clone(), text))),
                    Err(mpsc::error::TrySendError::Closed(_)) => Err(closed()),
                }
            }
        });
        async move {
            match queued? {
                None => Ok(()),
                Some((out, text)) => out.send(text).await.map_err(|_| closed()),
            }
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
        if tokio::time::timeout(self.grace, &mut self.writing)
            .await
            .is_err()
        {
            self.writing.abort();
        }
        Ok(())
    }
}

fn terminated(mut text: Vec<u8>) -> Vec<u8> {
    text.push(b'\n');
    text
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client stopped reading")
}

/// Writes what is ready, together.
async fn write_all(
    mut write: impl AsyncWrite + Unpin,
    mut ready: mpsc::Receiver<Vec<u8>>,
    unread: Arc<Unread>,
    unwritable: CancellationToken,
) {
    while let Some(mut text) = ready.recv().await {
        let mut weight = text.len() + EACH;
        while text.len() < TOGETHER
            && let Ok(more) = ready.try_recv()
        {
            weight += more.len() + EACH;
            text.extend_from_slice(&more);
        }
        // Not `write_all`, so that a client that reads a long answer slowly is seen to read.
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let Ok(written @ 1..) = write.write(rest).await else {
                unwritable.cancel();
                return;
            };
            unread.less(written);
            weight -= written;
            rest = rest.get(written..).unwrap_or_default();
        }
        if write.flush().await.is_err() {
            unwritable.cancel();
            return;
        }
        unread.less(weight);
    }
}
