use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use rmcp::transport::IntoTransport;

use super::connection::{Connection, Listener};
use super::imported::{Imported, Skipped};
use super::names::{Names, legal, shortened};
use super::ordered::Ordered;
use super::taken::{Taken, taken};
use super::{ImportError, call, listed};
use crate::Tool;

/// Takes over the tools of another server.
///
/// ```no_run
/// use contract_runtime::mcp::{self, Importer};
/// use std::time::Duration;
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = mcp::command(std::process::Command::new("file-server"))?;
/// let imported = Importer::new().call_timeout(Duration::from_secs(5)).import(server).await?;
/// for skipped in imported.skipped() {
///     eprintln!("{}: {}", skipped.name, skipped.reason);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "an importer does nothing until `import`"]
pub struct Importer {
    implementation: Implementation,
    start: Duration,
    call: Duration,
}

impl Default for Importer {
    fn default() -> Self {
        Self::new()
    }
}

impl Importer {
    /// An importer that waits 30 seconds for the server to be ready, and 60 for each call.
    pub fn new() -> Self {
        Self {
            implementation: Implementation::new("contract-runtime", env!("CARGO_PKG_VERSION")),
            start: Duration::from_secs(30),
            call: Duration::from_secs(60),
        }
    }

    /// What the program calls itself towards the server.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation = Implementation::new(name, version);
        self
    }

    /// How long the server may take to be ready, its list of tools included.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start = timeout;
        self
    }

    /// How long each call may take; a server that never answers must not hold a call for ever.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call = timeout;
        self
    }

    /// Connects, lists all tools, and takes over those that can be held to their schemas.
    ///
    /// Revision 2026-07-28 is tried first, then the handshake of 2025-11-25. Nothing that the server says is trusted: its
    /// list is read within bounds (10,000 tools, 1 MiB for one of them, 64 MiB for all), its hints are published as hints,
    /// and results are held to the output schema. Arguments are judged here before they are sent.
    ///
    /// # Errors
    ///
    /// [`ImportError`]: no server, no list, or one without an end; two tools with one name. A tool that cannot be taken over
    /// is no error: see [`Imported::skipped`].
    pub async fn import<T, E, A>(self, transport: T) -> Result<Imported, ImportError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let limit = self.start;
        // Boxed: the handshake of both revisions is large, and those who call this wait in futures of their own.
        tokio::time::timeout(limit, Box::pin(self.connect(transport)))
            .await
            .unwrap_or(Err(ImportError::Timeout(limit)))
    }

    async fn connect<T, E, A>(self, transport: T) -> Result<Imported, ImportError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let config = ClientConfig::new(ClientCapabilities::default(), self.implementation)
            .with_protocol_version(ProtocolVersion::V_2025_11_25);
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let listener = Listener::new(config);
        let transport = Ordered::new(transport.into_transport(), listener.clone());
        let running = listener
            .serve_with_lifecycle(transport, lifecycle)
            .await
            .map_err(|error| ImportError::Begin(shortened(&error.to_string())))?;
        let connection = Connection::new(running, tokio::runtime::Handle::current());
        let listed = listed::all(connection.peer()).await?;
        let mut names = Names::default();
        let mut skipped = listed.unreadable;
        let mut tools = Vec::new();
        for tool in listed.tools {
            match taken(&tool, legal(&tool.name), Some(self.call)) {
                Ok(taken) => {
                    names.take(&tool.name)?;
                    tools.push(made(taken, tool.name.into_owned(), connection.clone()));
                }
                Err(reason) => skipped.push(Skipped {
                    name: shortened(&tool.name),
                    reason,
                }),
            }
        }
        Ok(Imported {
            tools,
            names,
            skipped,
            connection,
        })
    }
}

fn made(taken: Taken, theirs: String, connection: Connection) -> Tool {
    let remote = Arc::new(call::Remote {
        name: theirs,
        output: taken.output,
        connection,
    });
    Tool::dynamic_with(taken.spec, move |arguments, context| {
        Arc::clone(&remote).call(arguments, context.progress)
    })
}
