#![doc = include_str!("../README.md")]

mod listener;
mod origin_check;

pub use listener::{Limits, TimedStream};
pub use origin_check::{OriginCheck, OriginError};
