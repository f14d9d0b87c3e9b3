//! `serve`: serves the tools over the Model Context Protocol.

use std::net::SocketAddr;
use std::time::Duration;

use contract_mcp::{ServeError, Server};
use contract_runtime::Registry;

use super::output::{FAINT, Output};
use super::runtime::{Interrupts, block_on};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// Listen here instead of standard input and output, such as `127.0.0.1:8080`; the path is `/mcp`.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Answer requests for this host name or address too, besides those of this machine; may be repeated.
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// Answer pages of this origin too, such as `https://app.example.com`; may be repeated.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// Let the client answer where a call asks a person; without it such calls are denied. The client is trusted to ask its
    /// user, and has five minutes.
    #[arg(long)]
    ask_client: bool,
}

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(300);

impl Serve {
    /// Serves until the client disconnects, or until Ctrl-C.
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let mut server = Server::new(registry.clone());
        for host in self.allow_host {
            server = server.allow_host(host);
        }
        for origin in self.allow_origin {
            server = server.allow_origin(origin);
        }
        if self.ask_client {
            server = server.ask_client(PATIENCE);
        }
        match self.http {
            None => block_on(stdio(server))??,
            Some(address) => block_on(http(server, address, output))??,
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

async fn http(
    server: Server,
    address: SocketAddr,
    output: &mut Output,
) -> Result<(), CommandError> {
    let mut interrupts = Interrupts::new();
    let listening = server.bind(address)?;
    let url = format!("http://{}/mcp", listening.address());
    if output.json() {
        output.data(&serde_json::json!({ "listening": url }))?;
        output.flush()?;
    } else {
        output.note(FAINT, "listening", &url);
    }
    let stop = listening.stop();
    let mut serving = std::pin::pin!(listening.serve());
    tokio::select! {
        ended = &mut serving => return Ok(ended?),
        _ = interrupts.next() => stop.cancel(),
    }
    // Running calls may finish, unless the user interrupts again.
    tokio::select! {
        ended = &mut serving => Ok(ended?),
        _ = interrupts.next() => Ok(()),
    }
}
