//! Authorization of HTTP requests (Model Context Protocol, "Authorization", 2025-11-25).
//!
//! | file | holds |
//! |---|---|
//! | `principal` | who sends a request, and what a check reads to find out |
//! | `refusal` | why a request is refused, and its `WWW-Authenticate` |
//! | `metadata` | the metadata of a protected resource, and where it is served |

mod metadata;
mod principal;
mod refusal;

use std::sync::Arc;

use futures_util::future::BoxFuture;

pub use metadata::ResourceMetadata;
pub(super) use metadata::ServedMetadata;
pub use principal::{Credentials, Principal};
pub use refusal::Refusal;

/// The host's own check of a request.
pub(super) type Authorizer =
    Arc<dyn Fn(Credentials) -> BoxFuture<'static, Result<Principal, Refusal>> + Send + Sync>;
