#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
mod error;
mod original;
mod program;
mod server;

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

pub use server::{
    BoundServer, CallRequest, Credentials, HttpService, Principal, Refusal, ResourceMetadata,
    ServedTools, Server, serve_http, serve_stdio,
};
