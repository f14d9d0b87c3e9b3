//! Backend and executor over a real loopback WebSocket.

mod admission;
mod asking;
mod begun;
mod calls;
mod connection;
mod ending;
mod ends;
mod frames;
mod guarded;
mod handshake;
mod history;
mod least;
mod logged;
mod misled;
mod plain;
mod raw;
mod refused;
mod reopened;
mod resumed;
mod schemas;
mod slow;
mod talkative;
#[cfg(feature = "tls")]
mod tls;
mod tools;
#[cfg(target_os = "linux")]
mod weight;
