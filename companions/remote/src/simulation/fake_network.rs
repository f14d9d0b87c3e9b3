use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, duplex, split,
};
use tokio::time::sleep;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

use super::dice::Dice;
use super::hands::locked;
use super::told::Told;

/// Messages that do no harm when they come more than once.
const REPEATED: [&str; 5] = ["run_tool", "tool_result", "ack", "cancel_tool", "cancelled"];

/// What happens to the frames of a run.
#[derive(Debug)]
pub(super) struct Weather {
    pub(super) dice: Dice,
    /// A frame is lost, with its line, once in so many times; 0 is never.
    pub(super) cuts: u64,
    /// A frame comes more than once, once in so many times; 0 is never.
    pub(super) repeats: u64,
    pub(super) calm: AtomicBool,
    pub(super) frames: AtomicU64,
    pub(super) faults: AtomicU64,
    pub(super) repeated: AtomicU64,
    pub(super) told: Told,
}

/// What lines there are, each to one of the backends.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Arc<Mutex<Vec<(usize, CancellationToken)>>>);

impl Lines {
    /// One more, and what cuts it.
    pub(super) fn add(&self, backend: usize) -> CancellationToken {
        let cut = CancellationToken::new();
        locked(&self.0).push((backend, cut.clone()));
        cut
    }

    pub(super) fn cut(&self) {
        for (_, line) in std::mem::take(&mut *locked(&self.0)) {
            line.cancel();
        }
    }

    #[cfg(feature = "redis")]
    pub(super) fn cut_at(&self, backend: usize) {
        let lines = &mut *locked(&self.0);
        for (_, line) in lines.extract_if(.., |(at, _)| *at == backend) {
            line.cancel();
        }
    }
}

impl Weather {
    pub(super) fn of(dice: &Dice, told: &Told) -> Self {
        Self {
            dice: dice.fork(),
            cuts: [0, 8, 20, 60][usize::try_from(dice.below(4)).unwrap_or(0)],
            repeats: [0, 2, 4, 10][usize::try_from(dice.below(4)).unwrap_or(0)],
            calm: AtomicBool::new(false),
            frames: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            told: told.clone(),
        }
    }

    fn strikes(&self, once_in: u64) -> bool {
        once_in != 0 && !self.calm.load(Ordering::Relaxed) && self.dice.once_in(once_in)
    }
}

/// A line between an executor, which gets its end, and a backend, until it is cut.
pub(super) async fn line<F: Future<Output = ()> + Send>(
    near: DuplexStream,
    serve: impl FnOnce(WebSocketStream<DuplexStream>) -> F + Send + 'static,
    weather: Arc<Weather>,
    cut: CancellationToken,
) {
    let (far, end) = duplex(1 << 16);
    let (near_read, near_write) = split(near);
    let (far_read, far_write) = split(far);
    tokio::spawn(async move {
        let socket = WebSocketStream::from_raw_socket(end, Role::Server, None).await;
        serve(socket).await;
    });
    tokio::select! {
        () = forward(near_read, far_write, &weather, "executor") => {}
        () = forward(far_read, near_write, &weather, "backend") => {}
        () = cut.cancelled() => {}
    }
}

async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    weather: &Weather,
    by: &str,
) {
    let dice = weather.dice.fork();
    // Copies that are still on their way.
    let mut late: Vec<Vec<u8>> = Vec::new();
    while let Some((frame, kind)) = frame(&mut from).await {
        weather.frames.fetch_add(1, Ordering::Relaxed);
        sleep(dice.millis(2)).await;
        let ends = weather.strikes(weather.cuts);
        if ends {
            weather.faults.fetch_add(1, Ordering::Relaxed);
        }
        // Before the frame arrives, or after it.
        let is_lost = ends && dice.once_in(2);
        let how = match (ends, is_lost) {
            (false, _) => "",
            (true, false) => ", then the line is cut",
            (true, true) => ", lost with its line",
        };
        weather.told.tell(format_args!("{by} said {kind:?}{how}"));
        if is_lost || to.write_all(&frame).await.is_err() {
            return;
        }
        if ends {
            return;
        }
        let is_repeated = kind.is_some_and(|kind| REPEATED.contains(&&*kind));
        if is_repeated && weather.strikes(weather.repeats) {
            let copies = 1 + dice.below(5);
            weather.repeated.fetch_add(copies, Ordering::Relaxed);
            late.extend((0..copies).map(|_| frame.clone()));
        }
        while !late.is_empty() && !dice.once_in(3) {
            let which = usize::try_from(dice.below(late.len() as u64)).unwrap_or(0);
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
