use std::collections::HashSet;
use std::io::{self, BufRead};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use super::message::{self, Refused};

/// Answers that wait for the client to read.
const WAITING: usize = 64;

/// Bytes of answers that wait for the client to read, before nothing more of it is read.
const UNREAD: usize = 16 << 20;

/// What an answer that waits holds beside its bytes, about: its task above all.
const EACH: usize = 4 << 10;

/// Answers that are written together are not more than this, in bytes.
const TOGETHER: usize = 64 << 10;

/// One message to a line (Model Context Protocol, "Transports: stdio").
///
/// Where rmcp's own transport passes over a line in silence, this one answers; it keeps the arguments of a call as they
/// were sent, writes what is ready together, and waits for running calls when the client has said its last word.
pub(super) struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    /// A line that is too long is passed over to its end.
    skipping: bool,
    /// An answer of the transport's own that waits for its place.
    refusal: Option<Vec<u8>>,
    out: Option<mpsc::Sender<Vec<u8>>>,
    unread: Arc<Unread>,
    writing: JoinHandle<()>,
    unwritable: CancellationToken,
    /// Until the first request, nothing else means anything.
    begun: bool,
    running: HashSet<RequestId>,
    /// When the calls of a client that has gone must have ended.
    last: Option<Instant>,
    grace: Duration,
    /// How long the client may read nothing, where nothing more of it is read before it does.
    patience: Duration,
    /// Since when it has read nothing.
    stalled: Option<Instant>,
    end: CancellationToken,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
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
            running: HashSet::new(),
            last: None,
            grace: limits.grace,
            patience: limits.patience,
            stalled: None,
            end,
        }
    }

    /// Reads to the end of a line, so that it may be dropped and begun again at any time; false at the end of the input.
    async fn line(&mut self) -> io::Result<bool> {
        loop {
            let read = self.read.fill_buf().await?;
            if read.is_empty() {
                // What stands behind the last line break is a line too.
                return Ok(!self.line.is_empty() && !self.skipping);
            }
            // The fastest search there is without another dependency; reading memory does not fail.
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
                self.refuse(Refused::too_long(self.limit));
            }
            if ends && !std::mem::take(&mut self.skipping) {
                return Ok(true);
            }
            if self.refusal.is_some() {
                return Ok(true);
            }
        }
    }

    /// Waits for what happens when the client reads; where it reads nothing for too long, it is taken for gone.
    ///
    /// Whether it has closed our input cannot be seen then: that stands behind requests that are not read.
    async fn patiently<T>(&mut self, waiting: impl Future<Output = T>) -> Option<T> {
        let mut waiting = pin!(waiting);
        loop {
            // Kept when this future is dropped, which happens whenever there is something to send.
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

    fn refuse(&mut self, refused: Refused) {
        // A message of ours can always be written.
        self.refusal = text(&refused.into_answer()).ok();
    }

    /// A line as a message, if there is something to do about it.
    fn taken(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        match message::read(line) {
            Ok(ClientJsonRpcMessage::Request(request)) => {
                if !self.running.insert(request.id.clone()) {
                    self.refuse(Refused::in_use(&request.id));
                    return None;
                }
                self.begun = true;
                Some(ClientJsonRpcMessage::Request(request))
            }
            Ok(message) => {
                if let ClientJsonRpcMessage::Notification(notification) = &message
                    && let ClientNotification::CancelledNotification(cancelled) =
                        &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It gets no answer, so its id is free.
                    self.running.remove(id);
                }
                self.begun.then_some(message)
            }
            Err(refused) => {
                self.refuse(refused);
                None
            }
        }
    }

    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.refusal.is_some() {
                let out = self.out.clone()?;
                let place = self.patiently(out.reserve_owned()).await;
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
            if unread.is_much() && self.patiently(unread.few()).await.is_none() {
                continue;
            }
            match self.line().await {
                Ok(true) => {
                    let taken = self.taken();
                    self.line.clear();
                    if taken.is_some() {
                        return taken;
                    }
                }
                Ok(false) | Err(_) => self.last = Some(Instant::now() + self.grace),
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = answered {
            self.running.remove(id);
        }
        // At once, where there is room: messages keep their order, and no task has to wait.
        let queued = text(&message).and_then(|text| match &self.out {
            None => Err(gone()),
            Some(out) => {
                self.unread.more(&text);
                match out.try_send(text) {
                    Ok(()) => Ok(None),
                    Err(mpsc::error::TrySendError::Full(text)) => Ok(Some((out.clone(), text))),
                    Err(mpsc::error::TrySendError::Closed(_)) => Err(gone()),
                }
            }
        });
        async move {
            match queued? {
                None => Ok(()),
                Some((out, text)) => out.send(text).await.map_err(|_| gone()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
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
        // A client that does not read cannot hold the server.
        if tokio::time::timeout(self.grace, &mut self.writing)
            .await
            .is_err()
        {
            self.writing.abort();
        }
        Ok(())
    }
}

/// How much waits for the client to read.
#[derive(Default)]
struct Unread {
    bytes: AtomicUsize,
    /// The client has read something.
    read: Notify,
    /// Little is left.
    few: Notify,
}

impl Unread {
    fn more(&self, answer: &[u8]) {
        self.bytes.fetch_add(answer.len() + EACH, Ordering::Relaxed);
    }

    fn less(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.read.notify_one();
        if !self.is_much() {
            self.few.notify_one();
        }
    }

    /// So much that whoever asks without reading could fill the memory with answers.
    fn is_much(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > UNREAD
    }

    async fn few(&self) {
        while self.is_much() {
            self.few.notified().await;
        }
    }
}

fn text(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(message)?;
    text.push(b'\n');
    Ok(text)
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client reads no more")
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
        // Not `write_all`: somebody who reads a long answer slowly is seen to read.
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
