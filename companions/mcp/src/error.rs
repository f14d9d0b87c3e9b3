use std::io;

use crate::ExportError;

/// Why a registry could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The tools cannot be said in the protocol.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// One tool is not what the protocol calls a tool.
    #[error("the tool `{name}` cannot be said in the protocol: {source}; change its schemas")]
    Tool {
        /// The name of the tool.
        name: String,
        /// What the protocol does not take.
        source: serde_json::Error,
    },
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {source}; choose another port, or 0 for any")]
    Bind {
        /// The addresses that were tried.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The client did not begin as the protocol asks.
    #[error("the client did not begin as the protocol asks: {0}")]
    Begin(String),
    /// The connection, or the listener, broke.
    #[error("the connection broke: {0}")]
    Connection(#[source] io::Error),
}
