//! Serves the same tools over MCP, so that the page can follow an agent's calls.

use std::sync::Arc;

use contract_mcp::{HttpService, ServeError, Server};
use contract_runtime::Registry;
use contract_runtime::observe::Observer;

use super::call_reporter::CallReporter;
use super::event_log::EventLog;

/// The MCP server, behind the same access check as the page.
#[derive(Clone)]
pub(super) struct Agents(HttpService);

impl Agents {
    pub(super) fn new(registry: &Registry, events: &Arc<EventLog>) -> Result<Self, ServeError> {
        let (known, events) = (registry.clone(), Arc::clone(events));
        let server = Server::new(registry.clone()).context(move |_| {
            let (known, reporter) = (known.clone(), CallReporter::new(&events));
            let (begun, ended) = (Arc::clone(&reporter), Arc::clone(&reporter));
            let observer = Observer::new()
                .call_began(move |observed| begun.begin(&known, &observed.call, "agent"))
                .call_ended(move |_, outcome, _| drop(ended.end(outcome)));
            reporter.context().observe(observer)
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
