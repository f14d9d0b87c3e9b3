#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "import")]
mod client;
mod error;
#[cfg_attr(
    not(feature = "import"),
    allow(dead_code, reason = "only results that were imported are kept")
)]
mod original;
mod program;
mod server;

#[cfg(feature = "import")]
pub use client::{
    ChildProcess, Connection, ImportError, Imported, Importer, Skipped, command, import,
};
#[cfg(feature = "http-client")]
pub use client::{HttpClient, http};
#[cfg(feature = "oauth")]
pub use client::{OAuthClient, http_with_oauth};
pub use error::ServeError;
/// The protocol library, for other transports.
pub use rmcp;

#[cfg(feature = "http")]
pub use server::{
    BoundServer, Credentials, HttpService, Principal, Refusal, ResourceMetadata, serve_http,
};
pub use server::{CallRequest, ServedTools, Server, serve_stdio};
