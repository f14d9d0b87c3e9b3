//! Agents under contract, over HTTP: a server in this process speaks the protocols of the providers.

mod arguments;
mod conversation;
mod cut;
mod dropped;
mod endless;
mod faults;
mod kinds;
mod reasoning;
mod retries;
mod secrets;
mod server;
mod silent;
mod tools;
mod wire;
