use std::net::SocketAddr;

use super::runtime::{Interrupts, block_on};
use super::screen::{FAINT, Screen};
use super::{Fault, exit};
use crate::Registry;
use crate::mcp::{ServeError, Server};

#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// Listen here instead of standard input and output, such as `127.0.0.1:8080`; the path is `/mcp`.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Answer requests for this host name or address too, once for each; beside those of this machine.
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// Answer pages of this origin too, such as `https://app.example.com`, once for each.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
}

impl Serve {
    /// Until the client goes, or until Ctrl-C.
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let mut server = Server::new(registry.clone());
        for host in self.allow_host {
            server = server.allow_host(host);
        }
        for origin in self.allow_origin {
            server = server.allow_origin(origin);
        }
        match self.http {
            None => block_on(stdio(server))??,
            Some(address) => block_on(http(server, address, screen))??,
        }
        Ok(exit::DONE)
    }
}

async fn stdio(server: Server) -> Result<(), ServeError> {
    let mut interrupts = Interrupts::new();
    tokio::select! {
        ended = server.stdio() => ended,
        _ = interrupts.next() => Ok(()),
    }
}

async fn http(server: Server, address: SocketAddr, screen: &mut Screen) -> Result<(), Fault> {
    let mut interrupts = Interrupts::new();
    let listening = server.bind(address)?;
    let url = format!("http://{}/mcp", listening.address());
    if screen.json() {
        screen.data(&serde_json::json!({ "listening": url }))?;
        screen.flush()?;
    } else {
        screen.note(FAINT, "listening", &url);
    }
    let stop = listening.stop();
    let mut serving = std::pin::pin!(listening.serve());
    tokio::select! {
        ended = &mut serving => return Ok(ended?),
        _ = interrupts.next() => stop.cancel(),
    }
    // Calls that run come to their end, unless the user does not wait for them.
    tokio::select! {
        ended = &mut serving => Ok(ended?),
        _ = interrupts.next() => Ok(()),
    }
}
