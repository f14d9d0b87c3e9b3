//! The tools of other servers: a server that each test scripts itself, line by line, over a pair of streams.

#[cfg(feature = "http-client")]
mod addresses;
mod bounds;
mod calls;
mod elicitation;
mod ends;
mod fake;
mod listing;
#[cfg(feature = "oauth")]
mod oauth;
mod real;
#[cfg(feature = "http-client")]
mod web;
