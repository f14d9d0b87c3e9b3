//! The server as clients see it: over standard streams and over HTTP, in every revision, well meant and not.

mod answers;
mod asking;
mod asking_again;
mod asking_web;
mod authorization;
mod calls;
mod flood;
mod history;
mod hooks;
mod http;
mod http_adversaries;
mod http_end;
mod in_headers;
mod line;
mod lines;
mod lists;
mod process;
mod progress;
mod replaced;
mod resumed;
mod revisions;
mod service;
mod sessions;
mod shop;
mod tools;
mod web;
