use std::ops::ControlFlow;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;

use super::letter::{Letter, Order, Reason};
use super::{Post, Quiet};
use crate::remote::backend::doors::LEAVING;
use crate::remote::backend::line::{Entered, Hearing, OVER, ask, enter};
use crate::remote::backend::task::{ELSEWHERE, MOVED, Open, may_be_outdated};
use crate::remote::line::{Ended, QUEUE, dismiss, talk};
use crate::remote::protocol::{BackendMessage, ExecutorMessage, JournalId, TaskId};

/// Messages of an executor that wait to be handed on; one that says more is cut off, and dials again.
const WAITING: usize = 256;

/// An executor that is attached here, of a task that is at home elsewhere.
#[derive(Debug)]
pub(super) struct Hosted {
    epoch: u64,
    /// Of the executor.
    journal: JournalId,
    out: mpsc::Sender<BackendMessage>,
    over: watch::Sender<Option<Reason>>,
    /// How many messages of the home have come.
    said: u64,
}

impl Hosted {
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) fn journal(&self) -> JournalId {
        self.journal
    }
}

/// Serves one executor of a task that is at home elsewhere, until it goes.
pub(in crate::remote::backend) async fn serve<S>(
    socket: WebSocketStream<S>,
    open: &Arc<Open>,
    post: &Arc<Post>,
    leaving: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(entered) = enter(socket, open).await else {
        return;
    };
    let Entered {
        socket,
        handshake,
        epoch,
        ..
    } = entered;
    let task = open.id;
    if may_be_outdated(&handshake, epoch) {
        return dismiss(socket, CloseCode::Again, ELSEWHERE).await;
    }
    let Ok(Some(home)) = open.calls.ledger.home().await else {
        let reason = "the task is at home nowhere; dial again";
        return dismiss(socket, CloseCode::Again, reason).await;
    };
    let (out, mut queue) = mpsc::channel(QUEUE);
    let Some(mut over) = post.host(task, (epoch, handshake.journal), out.clone()) else {
        return dismiss(socket, CloseCode::Again, ELSEWHERE).await;
    };
    let letter = Letter::Attached {
        epoch,
        host: post.me.to_string(),
        handshake: Box::new(handshake),
    };
    let home = home.backend;
    if post.write(&home, &letter).await.is_err() {
        post.leave(task, epoch);
        let reason = "the home of the task cannot be reached; dial again";
        return dismiss(socket, CloseCode::Again, reason).await;
    }
    let (forward, mut heard) = mpsc::channel::<ExecutorMessage>(WAITING);
    let mut hearing = Hearing::default();
    let hear = |text: &str| {
        let message = match hearing.hear(text, &out) {
            ControlFlow::Continue(Some(message)) => message,
            ControlFlow::Continue(None) => return ControlFlow::Continue(()),
            ControlFlow::Break(ended) => return ControlFlow::Break(ended),
        };
        if forward.try_send(message).is_err() {
            let reason = "the home of the task takes too long; dial again";
            return ControlFlow::Break(Ended::dismissed(CloseCode::Again, reason));
        }
        ControlFlow::Continue(())
    };
    let hand_on = async {
        let mut number = 0;
        let mut quiet = Quiet::default();
        loop {
            let message = tokio::select! {
                message = heard.recv() => message,
                () = quiet.tick() => {
                    let letter = Letter::HeardUpTo { task, epoch, number };
                    post.try_to_write(&home, &letter).await;
                    continue;
                }
            };
            let Some(message) = message else {
                break;
            };
            quiet = Quiet::default();
            number += 1;
            let letter = Letter::Heard {
                task,
                epoch,
                number,
                message,
            };
            if let Err(error) = post.write(&home, &letter).await {
                tracing::warn!(%task, %error, "a message of an executor could not be handed on");
                break;
            }
        }
        Ended::dismissed(
            CloseCode::Again,
            "the home of the task cannot be reached; dial again",
        )
    };
    let ends = async {
        tokio::select! {
            reason = over.wait_for(Option::is_some) => told(reason.ok().and_then(|reason| reason.clone())),
            () = leaving.cancelled() => Ended::dismissed(CloseCode::Away, LEAVING),
            ended = hand_on => ended,
        }
    };
    let silence = open.settings.keep_alive.saturating_mul(2);
    let ended = tokio::select! {
        ended = talk(socket, &mut queue, silence, hear, ends) => ended,
        never = ask(&out, open.settings.keep_alive) => match never {},
    };
    tracing::debug!(%task, epoch, ?ended, "the connection of an executor ended");
    post.leave(task, epoch);
    let lost = Letter::Lost { task, epoch };
    if let Err(error) = post.write(&home, &lost).await {
        tracing::debug!(%task, %error, "a home could not be told that its executor is gone");
    }
}

fn told(reason: Option<Reason>) -> Ended {
    match reason {
        Some(Reason::Moved) => Ended::dismissed(CloseCode::Away, MOVED),
        Some(Reason::Refused(why)) => Ended::dismissed(CloseCode::Policy, why),
        Some(Reason::TakenOver) | None => Ended::dismissed(CloseCode::Policy, OVER),
    }
}

impl Post {
    /// A connection that counts from here on; none if a later one does.
    fn host(
        &self,
        task: TaskId,
        (epoch, journal): (u64, JournalId),
        out: mpsc::Sender<BackendMessage>,
    ) -> Option<watch::Receiver<Option<Reason>>> {
        let mut hosted = self.hosted();
        if let Some(earlier) = hosted.get(&task) {
            if earlier.epoch >= epoch {
                return None;
            }
            let reason = Reason::taken_over(earlier.journal == journal);
            earlier.over.send_replace(Some(reason));
        }
        let (over, told) = watch::channel(None);
        let said = 0;
        let one = Hosted {
            epoch,
            journal,
            out,
            over,
            said,
        };
        hosted.insert(task, one);
        Some(told)
    }

    fn leave(&self, task: TaskId, epoch: u64) {
        let mut hosted = self.hosted();
        if hosted
            .get(&task)
            .is_some_and(|hosted| hosted.epoch == epoch)
        {
            hosted.remove(&task);
        }
    }

    /// The home says something to the executor; `false` if that is not attached here.
    pub(super) fn say(
        &self,
        (task, epoch, number): (TaskId, u64, u64),
        message: BackendMessage,
    ) -> bool {
        let mut hosted = self.hosted();
        let Some(hosted) = hosted.get_mut(&task).filter(|hosted| hosted.epoch == epoch) else {
            return false;
        };
        let is_said = match Order::of(&mut hosted.said, number) {
            Order::Next => hosted.out.try_send(message).is_ok(),
            Order::Again => true,
            Order::Gap => false,
        };
        if !is_said {
            // It has missed something, or takes less than it is told; the next handshake says what.
            hosted.over.send_replace(Some(Reason::Moved));
        }
        true
    }

    /// The home has said so much to the executor.
    pub(super) fn say_up_to(&self, (task, epoch, number): (TaskId, u64, u64)) {
        let mut hosted = self.hosted();
        if let Some(hosted) = hosted.get_mut(&task).filter(|hosted| hosted.epoch == epoch)
            && Order::is_behind(&mut hosted.said, number)
        {
            hosted.over.send_replace(Some(Reason::Moved));
        }
    }

    /// The home ends the connection.
    pub(super) fn over(&self, task: TaskId, epoch: u64, reason: Reason) {
        let hosted = self.hosted();
        if let Some(hosted) = hosted.get(&task).filter(|hosted| hosted.epoch <= epoch) {
            hosted.over.send_replace(Some(reason));
        }
    }
}
