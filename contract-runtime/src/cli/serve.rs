use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use crate::Registry;
use crate::mcp::Server;

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Listen here instead of standard input and output, such as `127.0.0.1:8080`; the path is `/mcp`.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
}

impl Serve {
    pub(super) fn run(self, registry: &Registry) -> io::Result<ExitCode> {
        let server = Server::new(registry.clone());
        tokio::runtime::Runtime::new()?
            .block_on(async {
                match self.http {
                    None => server.stdio().await,
                    Some(address) => {
                        let listening = server.bind(address)?;
                        eprintln!("listening on http://{}/mcp", listening.address());
                        listening.serve().await
                    }
                }
            })
            .map_err(io::Error::other)?;
        Ok(ExitCode::SUCCESS)
    }
}
