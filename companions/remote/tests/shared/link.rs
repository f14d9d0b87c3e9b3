//! A way that can be cut, or stop in the middle of what passes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Where a way leads to.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    Socket(PathBuf),
    Host(String),
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    cuts: u64,
    stands: bool,
}

/// A way from a port of this machine, until it is dropped.
pub(crate) struct Link {
    /// Host and port.
    pub(crate) address: String,
    goal: Arc<Mutex<Goal>>,
    state: watch::Sender<State>,
    work: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Link {
    pub(crate) async fn new(goal: Goal) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let (goal, state) = (Arc::new(Mutex::new(goal)), watch::Sender::default());
        let (to, told) = (Arc::clone(&goal), state.subscribe());
        let work = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                let to = to.lock().unwrap_or_else(PoisonError::into_inner).clone();
                open.spawn(pass(near, to, told.clone()));
            }
        });
        Ok(Self {
            address,
            goal,
            state,
            work,
        })
    }

    /// New connections go there.
    pub(crate) fn lead_to(&self, goal: Goal) {
        *self.goal.lock().unwrap_or_else(PoisonError::into_inner) = goal;
    }

    /// Nothing passes any more, and nobody is told.
    pub(crate) fn stop(&self) {
        self.state.send_modify(|state| state.stands = true);
    }

    /// What was held passes.
    pub(crate) fn go_on(&self) {
        self.state.send_modify(|state| state.stands = false);
    }

    /// Ends what is connected, with what it held; new connections pass.
    pub(crate) fn cut(&self) {
        self.state.send_modify(|state| {
            state.cuts += 1;
            state.stands = false;
        });
    }
}

async fn pass(near: TcpStream, goal: Goal, mut state: watch::Receiver<State>) {
    let cuts = state.borrow().cuts;
    let told = state.clone();
    let passes = async {
        if told.clone().wait_for(|state| !state.stands).await.is_err() {
            return;
        }
        let (read, write) = near.into_split();
        match goal {
            Goal::Host(host) => {
                if let Ok(far) = TcpStream::connect(host).await {
                    let (far_read, far_write) = far.into_split();
                    both((read, write), (far_read, far_write), &told).await;
                }
            }
            Goal::Socket(path) => {
                if let Ok(far) = UnixStream::connect(path).await {
                    let (far_read, far_write) = far.into_split();
                    both((read, write), (far_read, far_write), &told).await;
                }
            }
        }
    };
    tokio::select! {
        () = passes => {}
        _ = state.wait_for(|state| state.cuts != cuts) => {}
    }
}

async fn both(
    near: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    far: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    state: &watch::Receiver<State>,
) {
    tokio::select! {
        () = forward(near.0, far.1, state.clone()) => {}
        () = forward(far.0, near.1, state.clone()) => {}
    }
}

async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut state: watch::Receiver<State>,
) {
    let mut piece = vec![0; 4 << 10];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let goes_on = state.wait_for(|state| !state.stands).await.is_ok();
        if !goes_on || to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
