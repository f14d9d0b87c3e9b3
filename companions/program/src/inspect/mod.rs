//! A page on this machine that shows the tools with their contracts, calls them, and follows calls as they happen.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the listener, the routes, and who may ask: see `guard` |
//! | `guard` | the token, `Host` and `Origin`, and what every answer says about itself |
//! | `page` | one document made of everything in `page/`, so that it works without a network |
//! | `api` | what the page asks for: the tools, a check, a call |
//! | `shown` | tools and outcomes as the page reads them |
//! | `agents` | the same tools for agents, whose calls the page follows |
//! | `events` | the last things that happened, and everybody who follows them |
//! | `followed` | one call that is told to those who follow |

mod agents;
mod api;
mod events;
mod followed;
mod guard;
mod page;
mod server;
mod shown;

use std::net::{Ipv4Addr, SocketAddr};

use super::runtime::{Interrupts, block_on};
use super::screen::{FAINT, Screen};
use super::{Fault, exit};
use crate::Registry;
use server::Listening;

/// Serves the page to this machine, until it is interrupted.
#[derive(Debug, clap::Args)]
pub(super) struct Inspect {
    /// The port to listen on; the system chooses a free one for 0.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

impl Inspect {
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let listening = Listening::bind(registry.clone(), address)?;
        let (page, agents) = (listening.url("/"), listening.url("/mcp"));
        if screen.json() {
            screen.data(&serde_json::json!({"page": page, "mcp": agents}))?;
        } else {
            screen.out.write(&format!("{page}\n"))?;
            screen.note(FAINT, "for agents", &agents);
            screen.note(FAINT, "to end it", "Ctrl-C");
        }
        screen.flush()?;
        block_on(until_interrupted(listening))??;
        Ok(exit::DONE)
    }
}

async fn until_interrupted(listening: Listening) -> std::io::Result<()> {
    let mut interrupts = Interrupts::new();
    tokio::select! {
        served = listening.serve() => served,
        _ = interrupts.next() => Ok(()),
    }
}
