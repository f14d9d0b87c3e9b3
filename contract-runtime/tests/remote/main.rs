//! Backend and executor over a real loopback WebSocket.

mod calls;
mod crowded;
mod door;
mod ending;
mod ends;
mod frames;
mod handshake;
mod logged;
mod plain;
mod raw;
mod refused;
mod schemas;
mod slow;
#[cfg(feature = "remote-tls")]
mod tls;
mod tools;
