//! Errors of a server.

use std::io;

/// Why a registry could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A tool is not a valid tool of the protocol.
    #[error("the tool `{name}` cannot be expressed in the protocol: {source}; change its schemas")]
    Tool {
        /// The name of the tool.
        name: String,
        /// What the protocol does not accept.
        source: serde_json::Error,
    },
    /// The URL of a [`ResourceMetadata`](crate::ResourceMetadata) is not one that clients could reach.
    #[error(
        "the resource `{url}` is not an absolute URL; write that of the server, such as `https://tools.example.com/mcp`"
    )]
    Resource {
        /// The URL that was given.
        url: String,
    },
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {source}; choose another port, or 0 for any")]
    Bind {
        /// The addresses that were tried.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The client did not start as the protocol requires.
    #[error("the client did not start as the protocol requires: {0}")]
    Begin(String),
    /// The connection, or the listener, broke.
    #[error("the connection broke: {0}")]
    Connection(#[source] io::Error),
}
