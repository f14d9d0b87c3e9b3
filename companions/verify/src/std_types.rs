//! Values that types of the standard library refuse although their `schemars` schemas accept them.
//!
//! An author can change neither, so it is not a fault of the tool.

/// The messages of `serde` and the standard library.
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

/// Whether a message is one of them.
pub(super) fn is_known(refusal: &str) -> bool {
    REFUSALS.iter().any(|known| refusal.contains(known))
}
