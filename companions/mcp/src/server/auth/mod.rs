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

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

pub use metadata::ResourceMetadata;
pub(super) use metadata::ServedMetadata;
pub use principal::{Credentials, Principal};
pub use refusal::Refusal;

type Checking = Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send>>;

/// The host's own check of a request.
#[derive(Clone)]
pub(super) struct Authorizer(Arc<dyn Fn(Credentials) -> Checking + Send + Sync>);

impl Authorizer {
    pub(super) fn new<F>(check: impl Fn(Credentials) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Principal, Refusal>> + Send + 'static,
    {
        Self(Arc::new(move |credentials| Box::pin(check(credentials))))
    }

    pub(super) fn check(&self, credentials: Credentials) -> Checking {
        (self.0)(credentials)
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer").finish_non_exhaustive()
    }
}
