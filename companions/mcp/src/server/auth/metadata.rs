//! The metadata of a protected resource (RFC 9728).

use hyper::Uri;
use hyper::body::Bytes;
use serde_json::{Map, Value, json};

use crate::ServeError;

/// The well-known path (RFC 9728, section 3); that of the resource follows.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Describes a server to clients that look for its authorization server (RFC 9728, section 2); see
/// [`Server::resource_metadata`](crate::Server::resource_metadata).
#[derive(Clone, Debug)]
#[must_use]
pub struct ResourceMetadata {
    resource: String,
    document: Map<String, Value>,
}

impl ResourceMetadata {
    /// Creates the metadata of the server that clients reach at the URL `resource`, such as `https://tools.example.com/mcp`, and
    /// whose tokens are issued by these authorization servers.
    pub fn new<I>(resource: impl Into<String>, authorization_servers: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        let resource = resource.into();
        let issuers: Vec<String> = authorization_servers.into_iter().map(Into::into).collect();
        let mut document = Map::new();
        document.insert("resource".to_owned(), json!(resource));
        document.insert("authorization_servers".to_owned(), json!(issuers));
        document.insert("bearer_methods_supported".to_owned(), json!(["header"]));
        Self { resource, document }
    }

    /// Sets the scopes that clients may ask for.
    pub fn scopes<I>(self, scopes: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        self.with("scopes_supported", json!(scopes))
    }

    /// Sets another member of the document, such as `resource_name`.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.document.insert(name.into(), value.into());
        self
    }
}

/// The metadata as they are served.
#[derive(Clone, Debug)]
pub(in crate::server) struct ServedMetadata {
    /// Where clients find them, for challenges.
    pub(in crate::server) url: String,
    /// The path of that URL.
    pub(in crate::server) path: String,
    pub(in crate::server) document: Bytes,
}

impl ServedMetadata {
    pub(in crate::server) fn new(metadata: ResourceMetadata) -> Result<Self, ServeError> {
        let ResourceMetadata { resource, document } = metadata;
        let uri = resource.parse::<Uri>().ok();
        let parts = uri.as_ref().and_then(|uri| {
            let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
            let is_web = matches!(scheme, "https" | "http");
            (is_web && uri.query().is_none() && !resource.contains('#'))
                .then(|| (scheme, authority.as_str(), uri.path().trim_end_matches('/')))
        });
        let Some((scheme, authority, below)) = parts else {
            return Err(ServeError::Resource { url: resource });
        };
        let path = format!("{WELL_KNOWN}{below}");
        Ok(Self {
            url: format!("{scheme}://{authority}{path}"),
            path,
            document: Bytes::from(Value::Object(document).to_string()),
        })
    }

    /// Whether a client looks for them at this path: at that of the resource, or at the root, which it tries second.
    pub(in crate::server) fn are_at(&self, path: &str) -> bool {
        path == self.path || path == WELL_KNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(resource: &str) -> Option<ServedMetadata> {
        ServedMetadata::new(ResourceMetadata::new(resource, ["https://auth.example"])).ok()
    }

    #[test]
    fn the_path_of_the_resource_follows_the_well_known_one() {
        let url = |resource| served(resource).map(|served| served.url);
        let root = "https://a.example:8443/.well-known/oauth-protected-resource";
        assert_eq!(
            url("https://a.example:8443/mcp"),
            Some(format!("{root}/mcp"))
        );
        assert_eq!(url("https://a.example:8443/"), Some(root.to_owned()));
        assert_eq!(url("https://a.example:8443"), Some(root.to_owned()));
        for wrong in [
            "/mcp",
            "tools",
            "ftp://a/",
            "https://a/?b",
            "https://a/#b",
            "",
        ] {
            assert!(served(wrong).is_none(), "{wrong}");
        }
    }
}
