use std::io;

use crate::ExportError;

/// Why a registry could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The tools cannot be said in the protocol.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address as it was asked for.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The client did not begin as the protocol asks.
    #[error("the client did not begin as the protocol asks: {0}")]
    Begin(String),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Connection(#[source] io::Error),
}
