//! Simulated connections that lose and repeat frames.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, duplex, split,
};
use tokio::time::sleep;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

use super::executor_faults::lock;
use super::rng::Rng;
use super::trace::Trace;

/// Messages that do no harm when they come more than once.
const REPEATED: [&str; 5] = ["run_tool", "tool_result", "ack", "cancel_tool", "cancelled"];

/// The faults that are injected into the frames of a run.
#[derive(Debug)]
pub(super) struct NetworkFaults {
    pub(super) rng: Rng,
    /// A frame is lost, with its connection, once in this many times; 0 means never.
    pub(super) cuts: u64,
    /// A frame is repeated, once in this many times; 0 means never.
    pub(super) repeats: u64,
    pub(super) calm: AtomicBool,
    pub(super) frames: AtomicU64,
    pub(super) cuts_made: AtomicU64,
    pub(super) repeated: AtomicU64,
    pub(super) trace: Trace,
}

/// The open connections, each to one of the backends.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections(Arc<Mutex<Vec<(usize, CancellationToken)>>>);

impl Connections {
    /// Adds a connection; returns the token that cuts it.
    pub(super) fn add(&self, backend: usize) -> CancellationToken {
        let cut = CancellationToken::new();
        lock(&self.0).push((backend, cut.clone()));
        cut
    }

    pub(super) fn cut(&self) {
        for (_, line) in std::mem::take(&mut *lock(&self.0)) {
            line.cancel();
        }
    }

    #[cfg(feature = "redis")]
    pub(super) fn cut_at(&self, backend: usize) {
        let connections = &mut *lock(&self.0);
        for (_, line) in connections.extract_if(.., |(at, _)| *at == backend) {
            line.cancel();
        }
    }
}

impl NetworkFaults {
    pub(super) fn of(rng: &Rng, trace: &Trace) -> Self {
        Self {
            rng: rng.fork(),
            cuts: [0, 8, 20, 60][usize::try_from(rng.below(4)).unwrap_or(0)],
            repeats: [0, 2, 4, 10][usize::try_from(rng.below(4)).unwrap_or(0)],
            calm: AtomicBool::new(false),
            frames: AtomicU64::new(0),
            cuts_made: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            trace: trace.clone(),
        }
    }

    fn occurs(&self, once_in: u64) -> bool {
        once_in != 0 && !self.calm.load(Ordering::Relaxed) && self.rng.once_in(once_in)
    }
}

/// The end of a connection at a backend.
pub(super) async fn socket(end: DuplexStream) -> WebSocketStream<DuplexStream> {
    WebSocketStream::from_raw_socket(end, Role::Server, None).await
}

/// Runs a connection between an executor and a backend until it is cut.
pub(super) async fn run_connection<F: Future<Output = ()> + Send + 'static>(
    near: DuplexStream,
    serve: impl FnOnce(DuplexStream) -> F,
    faults: Arc<NetworkFaults>,
    cut: CancellationToken,
) {
    let (far, end) = duplex(1 << 16);
    let (near_read, near_write) = split(near);
    let (far_read, far_write) = split(far);
    tokio::spawn(serve(end));
    tokio::select! {
        () = forward(near_read, far_write, &faults, "executor") => {}
        () = forward(far_read, near_write, &faults, "backend") => {}
        () = cut.cancelled() => {}
    }
}

async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    faults: &NetworkFaults,
    by: &str,
) {
    let rng = faults.rng.fork();
    // Copies that are still in flight.
    let mut late: Vec<Vec<u8>> = Vec::new();
    while let Some((frame, kind)) = frame(&mut from).await {
        faults.frames.fetch_add(1, Ordering::Relaxed);
        sleep(rng.millis(2)).await;
        let ends = faults.occurs(faults.cuts);
        if ends {
            faults.cuts_made.fetch_add(1, Ordering::Relaxed);
        }
        // Before the frame arrives, or after it.
        let is_lost = ends && rng.once_in(2);
        let how = match (ends, is_lost) {
            (false, _) => "",
            (true, false) => ", then the line is cut",
            (true, true) => ", lost with its line",
        };
        faults.trace.record(format_args!("{by} said {kind:?}{how}"));
        if is_lost || to.write_all(&frame).await.is_err() {
            return;
        }
        if ends {
            return;
        }
        let is_repeated = kind.is_some_and(|kind| REPEATED.contains(&&*kind));
        if is_repeated && faults.occurs(faults.repeats) {
            let copies = 1 + rng.below(5);
            faults.repeated.fetch_add(copies, Ordering::Relaxed);
            late.extend((0..copies).map(|_| frame.clone()));
        }
        while !late.is_empty() && !rng.once_in(3) {
            let which = usize::try_from(rng.below(late.len() as u64)).unwrap_or(0);
            if to.write_all(&late.swap_remove(which)).await.is_err() {
                return;
            }
        }
    }
}

/// One frame as it is (RFC 6455, 5.2, 2011), and the type of the message.
async fn frame(from: &mut (impl AsyncRead + Unpin)) -> Option<(Vec<u8>, Option<String>)> {
    let mut bytes = vec![0; 2];
    from.read_exact(&mut bytes).await.ok()?;
    let more = match bytes[1] & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    let masked = if bytes[1] & 0x80 == 0 { 0 } else { 4 };
    let mut header = vec![0; more + masked];
    from.read_exact(&mut header).await.ok()?;
    let length = match more {
        0 => u64::from(bytes[1] & 0x7f),
        _ => header[..more]
            .iter()
            .fold(0, |length, byte| length << 8 | u64::from(*byte)),
    };
    let mut payload = vec![0; usize::try_from(length).ok()?];
    from.read_exact(&mut payload).await.ok()?;
    let plain: Vec<u8> = match &header[more..] {
        [] => payload.clone(),
        mask => payload
            .iter()
            .zip(mask.iter().cycle())
            .map(|(byte, mask)| byte ^ mask)
            .collect(),
    };
    let message: Option<serde_json::Value> = serde_json::from_slice(&plain).ok();
    let kind = message.and_then(|message| Some(message["type"].as_str()?.to_owned()));
    bytes.append(&mut header);
    bytes.append(&mut payload);
    Some((bytes, kind))
}
