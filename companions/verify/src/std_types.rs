//! What types of the standard library refuse although their schemas, which `schemars` wrote, do not say so.
//!
//! No author can change either side, so it is no fault of a tool.

/// How `serde` and the standard library say it.
const REFUSALS: [&str; 8] = [
    // `Duration`, `SystemTime`, `Range`: they know their fields, and a schema that says nothing admits others.
    "expected `secs` or `nanos`",
    "expected `secs_since_epoch` or `nanos_since_epoch`",
    "expected `start` or `end`",
    "overflow deserializing Duration",
    "overflow deserializing SystemTime",
    // `IpAddr` and `SocketAddr` are of two formats, and have a schema without one.
    "invalid IP address syntax",
    "invalid socket address syntax",
    // A map whose keys are `char`.
    "expected a character",
];

/// Whether a refusal is one of those.
pub(super) fn is_known(refusal: &str) -> bool {
    REFUSALS.iter().any(|known| refusal.contains(known))
}
