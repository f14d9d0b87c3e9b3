//! The server as clients see it: over standard streams and over HTTP, in both revisions.

mod http;
