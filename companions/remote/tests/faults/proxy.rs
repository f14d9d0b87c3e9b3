//! A link that reads the frames that pass, and stops where it is told to.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Executor,
    Backend,
}

/// A place between two messages, or rather inside of one: it has left its sender, and may not have arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) from: From,
    /// Counted from 1 for each sender, over all connections.
    pub(crate) number: u64,
    /// Whether the message still arrives.
    pub(crate) arrives: bool,
}

/// The one message at which something happens; what is done there is up to whoever receives it.
pub(crate) type Reached = oneshot::Receiver<oneshot::Sender<()>>;

/// Cuts by chance, and messages that come again by chance.
#[derive(Clone, Debug)]
pub(crate) struct Rough(Arc<Mutex<Chance>>);

#[derive(Debug)]
struct Chance {
    state: u64,
    cuts: u64,
    repeated: u64,
}

impl Chance {
    /// Xorshift (Marsaglia, 2003).
    fn below(&mut self, end: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % end
    }
}

impl Rough {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Chance {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            cuts: 0,
            repeated: 0,
        })))
    }

    pub(crate) fn cuts(&self) -> u64 {
        locked(&self.0).cuts
    }

    pub(crate) fn repeated(&self) -> u64 {
        locked(&self.0).repeated
    }

    fn cuts_here(&self) -> bool {
        let mut chance = locked(&self.0);
        let cuts = chance.below(15) == 0;
        chance.cuts += u64::from(cuts);
        cuts
    }

    /// What comes again now: copies of this message or of earlier ones.
    fn again(&self, late: &mut Vec<Vec<u8>>, frame: &[u8]) -> Vec<Vec<u8>> {
        let mut chance = locked(&self.0);
        let may_repeat = REPEATED.map(|kind| format!(r#"{{"type":"{kind}""#));
        let text = plain(frame);
        if may_repeat
            .iter()
            .any(|kind| text.starts_with(kind.as_bytes()))
            && chance.below(3) == 0
        {
            let copies = 1 + chance.below(5);
            chance.repeated += copies;
            late.extend((0..copies).map(|_| frame.to_vec()));
        }
        let mut now = Vec::new();
        while !late.is_empty() && chance.below(3) > 0 {
            let which = chance.below(late.len() as u64);
            now.push(late.swap_remove(usize::try_from(which).unwrap_or(0)));
        }
        now
    }
}

/// Messages that do no harm when they come more than once.
const REPEATED: [&str; 5] = ["run_tool", "tool_result", "ack", "cancel_tool", "cancelled"];

/// What a frame says.
fn plain(frame: &[u8]) -> Vec<u8> {
    let start = 2 + match frame[1] & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    if frame[1] & 0x80 == 0 {
        return frame[start..].to_vec();
    }
    let (mask, payload) = frame[start..].split_at(4);
    let bytes = payload.iter().zip(mask.iter().cycle());
    bytes.map(|(byte, mask)| byte ^ mask).collect()
}

/// A proxy before a backend that may move.
pub(crate) struct Proxy {
    pub(crate) address: String,
    goal: Arc<Mutex<String>>,
    work: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Counted {
    executor: u64,
    backend: u64,
}

struct Link {
    place: Option<Place>,
    rough: Option<Rough>,
    reached: Mutex<Option<oneshot::Sender<oneshot::Sender<()>>>>,
    counted: Mutex<Counted>,
    cut: mpsc::Sender<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.work.abort();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// At the place, both directions stop until what was received there is answered or dropped; then the link is cut, unless
    /// the message has arrived and there was an answer.
    pub(crate) async fn new(
        place: Option<Place>,
        rough: Option<Rough>,
    ) -> std::io::Result<(Self, Reached)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let goal = Arc::new(Mutex::new(String::new()));
        let (tell, reached) = oneshot::channel();
        let (cut, mut cuts) = mpsc::channel(1);
        let link = Arc::new(Link {
            place,
            rough,
            reached: Mutex::new(Some(tell)),
            counted: Mutex::default(),
            cut,
        });
        let target = Arc::clone(&goal);
        let work = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            loop {
                let near = tokio::select! {
                    accepted = listener.accept() => accepted,
                    _ = cuts.recv() => {
                        open.shutdown().await;
                        continue;
                    }
                };
                let Ok((near, _)) = near else { return };
                let (link, target) = (Arc::clone(&link), Arc::clone(&target));
                open.spawn(async move {
                    let goal = locked(&target).clone();
                    let Ok(far) = TcpStream::connect(goal).await else {
                        // As from a backend that is away.
                        sleep(Duration::from_millis(1)).await;
                        return;
                    };
                    let (near_read, near_write) = near.into_split();
                    let (far_read, far_write) = far.into_split();
                    tokio::select! {
                        () = link.forward(near_read, far_write, From::Executor) => {}
                        () = link.forward(far_read, near_write, From::Backend) => {}
                    }
                });
            }
        });
        Ok((
            Self {
                address,
                goal,
                work,
            },
            reached,
        ))
    }

    /// Where the backend is now.
    pub(crate) fn lead_to(&self, address: &str) {
        address.clone_into(&mut locked(&self.goal));
    }
}

impl Link {
    /// The head of the request or of its answer, then frames.
    async fn forward(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        sender: From,
    ) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match from.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        if to.write_all(&head).await.is_err() {
            return;
        }
        let mut late = Vec::new();
        while let Some((frame, is_text)) = frame(&mut from).await {
            let here = if is_text { self.at_place(sender) } else { None };
            if here.is_none_or(|place| place.arrives) && to.write_all(&frame).await.is_err() {
                return;
            }
            if here.is_some() {
                let tell = locked(&self.reached).take();
                let mut goes_on_as_it_is = false;
                if let Some(tell) = tell {
                    let (go_on, goes_on) = oneshot::channel();
                    let _ = tell.send(go_on);
                    goes_on_as_it_is = goes_on.await.is_ok();
                }
                if here.is_some_and(|place| place.arrives) && goes_on_as_it_is {
                    continue;
                }
                let _ = self.cut.send(()).await;
                return;
            }
            let Some(rough) = self.rough.as_ref().filter(|_| is_text) else {
                continue;
            };
            if rough.cuts_here() {
                return;
            }
            for again in rough.again(&mut late, &frame) {
                if to.write_all(&again).await.is_err() {
                    return;
                }
            }
        }
    }

    fn at_place(&self, sender: From) -> Option<Place> {
        let mut counted = locked(&self.counted);
        let number = match sender {
            From::Executor => &mut counted.executor,
            From::Backend => &mut counted.backend,
        };
        *number += 1;
        self.place
            .filter(|place| place.from == sender && place.number == *number)
    }
}

/// One frame as it is (RFC 6455, 5.2, 2011), and whether it is text.
async fn frame(from: &mut (impl AsyncRead + Unpin)) -> Option<(Vec<u8>, bool)> {
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
    let is_text = bytes[0] & 0x0f == 1;
    bytes.append(&mut header);
    let mut payload = vec![0; usize::try_from(length).ok()?];
    from.read_exact(&mut payload).await.ok()?;
    bytes.append(&mut payload);
    Some((bytes, is_text))
}
