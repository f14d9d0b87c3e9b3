//! The same tools over the Model Context Protocol, so that the calls of an agent can be followed on the page.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;

use super::events::Events;
use super::followed::Followed;
use crate::mcp::{CallEvent, Mounted, ServeError, Server};
use crate::{Context, Registry};

/// The server, behind the same guard as the page.
#[derive(Clone)]
pub(super) struct Agents(Mounted);

thread_local! {
    /// The call whose context was made last: it is told of next, on the same thread.
    static NEXT: RefCell<Option<Arc<Followed>>> = const { RefCell::new(None) };
}

impl Agents {
    pub(super) fn new(registry: &Registry, events: &Arc<Events>) -> Result<Self, ServeError> {
        let (known, events) = (registry.clone(), Arc::clone(events));
        // Until they have ended: the run of a call is gone before its outcome is told.
        let running = Mutex::new(HashMap::<u64, Arc<Followed>>::new());
        let server = Server::new(registry.clone())
            .context(move |_| {
                let followed = Followed::new(&events);
                let context = Context::new().run(&followed.run());
                NEXT.set(Some(followed));
                context
            })
            .on_call(move |event| {
                let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
                match event {
                    CallEvent::Began { number, call } => {
                        if let Some(followed) = NEXT.take() {
                            followed.begin(&known, call, "agent");
                            running.insert(number, followed);
                        }
                    }
                    CallEvent::Ended { number, outcome } => {
                        if let Some(followed) = running.remove(&number) {
                            followed.end(outcome);
                        }
                    }
                }
            });
        Ok(Self(server.mount()?))
    }

    pub(super) async fn answer(&self, request: Request) -> Response {
        self.0.answer(request).await.map(Body::new)
    }

    /// What cancels every call and ends every stream when it is dropped.
    pub(super) fn ending(&self) -> Ending {
        Ending(self.0.clone())
    }
}

pub(super) struct Ending(Mounted);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}
