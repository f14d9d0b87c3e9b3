//! Serves the same tools over MCP, so that the page can follow an agent's calls.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use contract_mcp::{CallEvent, HttpService, ServeError, Server};
use contract_runtime::Registry;
use parking_lot::Mutex;

use super::call_reporter::CallReporter;
use super::event_log::EventLog;

/// The MCP server, behind the same access check as the page.
#[derive(Clone)]
pub(super) struct Agents(HttpService);

thread_local! {
    /// The call whose context was created last; its start is reported next, on the same thread.
    static NEXT: RefCell<Option<Arc<CallReporter>>> = const { RefCell::new(None) };
}

impl Agents {
    pub(super) fn new(registry: &Registry, events: &Arc<EventLog>) -> Result<Self, ServeError> {
        let (known, events) = (registry.clone(), Arc::clone(events));
        // Kept until they end, because the run of a call is dropped before its outcome is reported.
        let running = Mutex::new(HashMap::<u64, Arc<CallReporter>>::new());
        let server = Server::new(registry.clone())
            .context(move |_| {
                let reporter = CallReporter::new(&events);
                let context = reporter.context();
                NEXT.set(Some(reporter));
                context
            })
            .on_call(move |event| {
                let mut running = running.lock();
                match event {
                    CallEvent::Began { number, call } => {
                        if let Some(reporter) = NEXT.take() {
                            reporter.begin(&known, call, "agent");
                            running.insert(number, reporter);
                        }
                    }
                    CallEvent::Ended { number, outcome } => {
                        if let Some(reporter) = running.remove(&number) {
                            reporter.end(outcome);
                        }
                    }
                    _ => {}
                }
            });
        Ok(Self(server.into_service()?))
    }

    /// The service to mount.
    pub(super) fn service(&self) -> HttpService {
        self.0.clone()
    }

    /// Closes the service when it is dropped.
    pub(super) fn close_on_drop(&self) -> CloseOnDrop {
        CloseOnDrop(self.0.clone())
    }
}

pub(super) struct CloseOnDrop(HttpService);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
