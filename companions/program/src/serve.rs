//! `serve`: serves the tools over the Model Context Protocol.

use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use contract_mcp::{ServeError, Server};
use contract_runtime::Registry;

use super::client_config::{Client, Connection};
use super::output::{BOLD, FAINT, Output};
use super::runtime::{Interrupts, block_on};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// Listen here instead of standard input and output, such as `localhost:8080`; the path is `/mcp`.
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    http: Option<String>,
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
    /// Print what this client needs in its settings to reach the server, and where it belongs; nothing is served.
    #[arg(long, value_name = "CLIENT")]
    print_config: Option<Client>,
}

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(300);

impl Serve {
    /// Serves until the client disconnects, or until Ctrl-C.
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let url = self.http.as_ref();
        let url = url.map(|address| url_of(address, &self.allow_host));
        let connection = Connection::new(registry, url);
        if let Some(client) = self.print_config {
            self.knows_port()?;
            output.data(&client.config(&connection))?;
            if !output.json() {
                output.note(FAINT, "it belongs in", client.place());
            }
            return Ok(exit::DONE);
        }
        let mut server = Server::new(registry.clone());
        for host in &self.allow_host {
            server = server.allow_host(host.as_str());
        }
        for origin in self.allow_origin {
            server = server.allow_origin(origin);
        }
        if self.ask_client {
            server = server.ask_client(PATIENCE);
        }
        match self.http {
            None => {
                let is_attended = io::stdin().is_terminal() && output.err.terminal();
                block_on(stdio(server, || {
                    if is_attended {
                        invite(&connection, output);
                    }
                }))??;
            }
            Some(address) => {
                // It is meant for clients, unless it stands for all addresses.
                let host = address.rsplit_once(':').map(|(host, _)| host);
                if let Some(host) =
                    host.filter(|host| ip(host).is_none_or(|ip| !ip.is_unspecified()))
                {
                    server = server.allow_host(host);
                }
                let addresses =
                    resolve(&address).map_err(|source| ServeError::Bind { address, source })?;
                block_on(http(server, &addresses, &self.allow_host, output))??;
            }
        }
        Ok(exit::DONE)
    }

    /// Refuses to say where a client finds a server that has another port each time.
    fn knows_port(&self) -> Result<(), CommandError> {
        let address = self.http.as_deref().and_then(|http| http.rsplit_once(':'));
        match address {
            Some((host, port)) if port.parse() == Ok(0_u16) => Err(CommandError::Arguments {
                problem:
                    "port 0 is another port each time, which the settings of a client cannot name"
                        .to_owned(),
                forms: vec![format!("--http {host}:8080")],
            }),
            _ => Ok(()),
        }
    }
}

/// A host and a port; whether there is such a host is found out when it is needed.
fn address(text: &str) -> Result<String, String> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(_)) => Ok(text.to_owned()),
        _ => Err(
            "write a host and a port, such as `localhost:8080`, or `localhost:0` for any port"
                .to_owned(),
        ),
    }
}

/// The address that a host is, if it is not a name.
fn ip(host: &str) -> Option<IpAddr> {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

/// Where clients find a server that listens at this address. No request names all addresses of a machine, so those stand for the
/// first host that was allowed, or for this machine.
fn url_of(address: &str, allowed: &[String]) -> String {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "80"));
    let all = ip(host).filter(IpAddr::is_unspecified);
    let authority = match (all, allowed.first()) {
        (None, _) => address.to_owned(),
        (Some(_), Some(other)) => match ip(other) {
            Some(IpAddr::V6(ip)) => format!("[{ip}]:{port}"),
            _ if other.contains(':') => other.clone(),
            _ => format!("{other}:{port}"),
        },
        (Some(IpAddr::V4(_)), None) => format!("127.0.0.1:{port}"),
        (Some(IpAddr::V6(_)), None) => format!("[::1]:{port}"),
    };
    format!("http://{authority}/mcp")
}

/// The addresses of a host, those of IPv4 first: most clients try `127.0.0.1` for `localhost`.
fn resolve(address: &str) -> io::Result<Vec<SocketAddr>> {
    let mut addresses: Vec<_> = address.to_socket_addrs()?.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    Ok(addresses)
}

/// Tells a user at a terminal that the program waits for a client, and how clients connect.
fn invite(connection: &Connection, output: &mut Output) {
    let (name, line) = (&connection.name, connection.line());
    output.note(
        BOLD,
        "waiting",
        "for a client of the Model Context Protocol on standard input; clients start this program themselves (Ctrl-C ends it)",
    );
    output.note(
        FAINT,
        "Claude Code",
        &format!("claude mcp add {name} -- {line}"),
    );
    output.note(
        FAINT,
        "Inspector",
        &format!("npx @modelcontextprotocol/inspector {line}"),
    );
    output.note(
        FAINT,
        "Claude Desktop, VS Code, Cursor",
        "add `--print-config claude-desktop`, `vscode` or `cursor`, which prints what belongs in their settings",
    );
    output.note(FAINT, "over HTTP", "add `--http localhost:8080`");
}

async fn stdio(server: Server, invite: impl FnOnce()) -> Result<(), ServeError> {
    let mut interrupts = Interrupts::new();
    // Who is told that Ctrl-C ends it can rely on that.
    invite();
    tokio::select! {
        ended = server.stdio() => ended,
        _ = interrupts.next() => Ok(()),
    }
}

async fn http(
    server: Server,
    addresses: &[SocketAddr],
    allowed: &[String],
    output: &mut Output,
) -> Result<(), CommandError> {
    let mut interrupts = Interrupts::new();
    let listening = server.bind(addresses)?;
    let url = url_of(&listening.address().to_string(), allowed);
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
