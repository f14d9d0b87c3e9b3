//! Backend and executor over a real loopback WebSocket.

mod calls;
mod door;
mod handshake;
mod raw;
mod schemas;
mod tools;
