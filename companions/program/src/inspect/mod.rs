//! `inspect`: a local web page that shows the tools and their contracts, calls them, and follows calls live.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the listener and its routes |
//! | `access` | authorisation by token, `Host` and `Origin`, and the security headers |
//! | `page` | one document made of everything in `page/`, so that it works without a network |
//! | `api` | the page's API: the tools, a check, a call |
//! | `page_json` | tools and outcomes as JSON for the page |
//! | `agents` | the same tools for agents, whose calls the page follows |
//! | `event_log` | the most recent events, and their subscribers |
//! | `call_reporter` | one call, reported to subscribers |

mod access;
mod agents;
mod api;
mod call_reporter;
mod event_log;
mod page;
mod page_json;
mod server;

use std::net::{Ipv4Addr, SocketAddr};

use contract_runtime::Registry;

use server::BoundServer;

use super::output::{FAINT, Output};
use super::runtime::{Interrupts, block_on};
use super::{CommandError, exit};

/// Serves the page to this machine, until it is interrupted.
#[derive(Debug, clap::Args)]
pub(super) struct Inspect {
    /// The port to listen on; 0 chooses a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

impl Inspect {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let listening = BoundServer::bind(registry.clone(), address)?;
        let (page, agents) = (listening.url("/"), listening.url("/mcp"));
        if output.json() {
            output.data(&serde_json::json!({"page": page, "mcp": agents}))?;
        } else {
            output.out.write(&format!("{page}\n"))?;
            output.note(FAINT, "for agents", &agents);
            output.note(FAINT, "to end it", "Ctrl-C");
        }
        output.flush()?;
        block_on(until_interrupted(listening))??;
        Ok(exit::DONE)
    }
}

async fn until_interrupted(listening: BoundServer) -> std::io::Result<()> {
    let mut interrupts = Interrupts::new();
    tokio::select! {
        served = listening.serve() => served,
        _ = interrupts.next() => Ok(()),
    }
}
