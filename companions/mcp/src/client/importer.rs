//! Imports the tools of an MCP server.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitationCapability, FormElicitationCapability,
    Implementation, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use rmcp::transport::{IntoTransport, Transport};

use super::child::Process;
use super::connection::{Connection, Listener};
use super::convert::convert;
use super::imported::{Imported, Skipped};
use super::names::{Names, shortened};
use super::ordered::Ordered;
use super::{ImportError, cause, listed};
use crate::program;

/// Imports the tools of another MCP server.
///
/// ```no_run
/// use contract_mcp::{self, Importer};
/// use std::time::Duration;
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = contract_mcp::command(std::process::Command::new("file-server"))?;
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
    elicitation: bool,
}

impl Default for Importer {
    fn default() -> Self {
        Self::new()
    }
}

impl Importer {
    /// Creates an importer that waits 30 seconds for the server to be ready, and 60 for each call. To the server it has the
    /// name of the program's file and version 0.0.0; see [`name`](Self::name).
    pub fn new() -> Self {
        Self {
            implementation: Implementation::new(program::name(), program::NO_VERSION),
            start: Duration::from_secs(30),
            call: Duration::from_secs(60),
            elicitation: false,
        }
    }

    /// Sets the name and version that the client reports to the server.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation = Implementation::new(name, version);
        self
    }

    /// Sets how long the server may take to be ready, including its list of tools.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start = timeout;
        self
    }

    /// Sets how long each call may take.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call = timeout;
        self
    }

    /// Tells the server that it may ask people during a call (elicitation); without this, all that it asks is declined.
    ///
    /// A question that can be answered by yes or no, or that a server of this crate asks, is put to the approver of the call, its
    /// run or its registry, in the words of the server, with the field that a yes sets. Any other is declined, and so is each
    /// without an approver, in a call that another tool makes, beyond ten in one call, or while several calls run and an older
    /// server does not name the call that asks. The log of the call says why. The time of the call goes on while a person thinks, so
    /// give it enough with [`call_timeout`](Self::call_timeout).
    pub fn elicitation(mut self) -> Self {
        self.elicitation = true;
        self
    }

    /// Connects, lists all tools, and imports those whose schemas can be enforced.
    ///
    /// Revision 2026-07-28 is tried first, then the handshake of 2025-11-25. Nothing that the server says is trusted: its
    /// list is read within limits (10,000 tools, 1 MiB for each, 64 MiB for all), its hints are published as hints, and
    /// results are validated against the output schema. Arguments are validated before they are sent.
    ///
    /// # Errors
    ///
    /// [`ImportError`]. A tool that cannot be imported is not an error: see [`Imported::skipped`].
    pub async fn import<T, E, A>(self, transport: T) -> Result<Imported, ImportError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let limit = self.start;
        let transport = transport.into_transport();
        let process = Process::of(&transport);
        // Boxed, because the future of both handshakes is large and becomes part of the caller's.
        let connecting = Box::pin(self.connect(transport));
        let Ok(result) = tokio::time::timeout(limit, connecting).await else {
            let found = process.and_then(|process| process.stray_output());
            return Err(found.unwrap_or(ImportError::Timeout(limit)));
        };
        match (result, process) {
            (Err(error), Some(process)) if error.is_of_the_connection() => {
                Err(process.fault().await.unwrap_or(error))
            }
            (result, _) => result,
        }
    }

    async fn connect(
        self,
        transport: impl Transport<RoleClient> + 'static,
    ) -> Result<Imported, ImportError> {
        let mut capabilities = ClientCapabilities::default();
        if self.elicitation {
            let forms = FormElicitationCapability::new();
            capabilities.elicitation = Some(ElicitationCapability::new().with_form(forms));
        }
        let config = ClientConfig::new(capabilities, self.implementation)
            .with_protocol_version(ProtocolVersion::V_2025_11_25);
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let listener = Listener::new(config);
        let transport = Ordered::new(transport, listener.clone());
        let running = listener
            .serve_with_lifecycle(transport, lifecycle)
            .await
            .map_err(cause::of_handshake)?;
        let connection = Connection::new(running, tokio::runtime::Handle::current());
        let source: Arc<str> = source(&connection).into();
        let listed = listed::all(connection.peer()).await?;
        let mut names = Names::default();
        let mut skipped = listed.unreadable;
        let mut tools = Vec::new();
        for tool in listed.tools {
            match convert(&tool, self.call, &source, &connection) {
                Ok(converted) => {
                    names.take(&tool.name)?;
                    tools.push(converted);
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

/// What is shown as the place of the tools: the server, by the name that it gives itself.
fn source(connection: &Connection) -> String {
    let server = connection.peer().peer_info();
    match server.and_then(|server| server.server_info.clone()) {
        None => "an MCP server".to_owned(),
        Some(named) => {
            let (name, version) = (shortened(&named.name), shortened(&named.version));
            format!("MCP server {name} {version}")
        }
    }
}
