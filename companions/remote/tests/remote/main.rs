//! Backend and executor over a real loopback WebSocket.

mod begun;
mod calls;
mod crowded;
mod door;
mod ending;
mod ends;
mod frames;
mod guarded;
mod handshake;
mod logged;
mod misled;
mod plain;
mod raw;
mod refused;
mod reopened;
mod schemas;
mod slow;
#[cfg(feature = "remote-tls")]
mod tls;
mod tools;
#[cfg(target_os = "linux")]
mod weight;
