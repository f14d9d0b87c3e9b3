use contract_runtime::agent::Event;
use contract_runtime::remote::{Session, SessionEvent};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// The connection to the executor, as a turn sees it: what happens to it, and what the executor is told.
pub(super) struct Line<'s> {
    session: &'s Session,
    events: Receiver<SessionEvent>,
    /// The next piece of text is of another answer of the model.
    is_new: bool,
}

impl<'s> Line<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        Self {
            session,
            events: session.events(),
            is_new: true,
        }
    }

    /// The next thing that a user should know of.
    pub(super) async fn next(&mut self) -> String {
        loop {
            match self.events.recv().await {
                Ok(SessionEvent::Attached { epoch, .. }) => {
                    return format!("an executor has dialled in, for the {epoch}. time");
                }
                Ok(SessionEvent::Lost { grace }) => {
                    let seconds = grace.as_secs();
                    return format!(
                        "the connection to the executor broke; calls wait {seconds} s for it to come back"
                    );
                }
                Ok(SessionEvent::GivenUp) => {
                    return "the executor did not come back in time".to_owned();
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// Tells the executor what the model says, and which calls belong to it.
    pub(super) async fn say(&mut self, event: &Event) {
        let begins = matches!(event, Event::TextDelta { .. } | Event::Thought { .. });
        if begins && std::mem::take(&mut self.is_new) {
            self.session.begin_answer();
        }
        match event {
            Event::TextDelta { text } => self.session.say_delta(text.as_str()).await,
            Event::Observation { .. } => self.is_new = true,
            _ => {}
        }
    }
}
