//! The program as it is used: by itself, and as two processes with clients of the service in front of them.

mod approvals;
mod chat;
mod commands;
mod demo;
mod ends;
mod hostile;
mod house;
mod http;
mod kills;
mod restart;
