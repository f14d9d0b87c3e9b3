//! Arbitrary text as a frame between backend and executor: a message, which is written as it was read, or none; no panic.
//!
//! `cargo +nightly fuzz run frame_to_message` in `companions/remote`.

#![no_main]

use std::fmt::Debug;

use contract_remote::protocol::{BackendMessage, ExecutorMessage};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        there_and_back::<ExecutorMessage>(text);
        there_and_back::<BackendMessage>(text);
    }
});

fn there_and_back<M: Serialize + DeserializeOwned + PartialEq + Debug>(text: &str) {
    let Ok(message) = serde_json::from_str::<M>(text) else {
        return;
    };
    let written = serde_json::to_string(&message).expect("a message can be written");
    let read: M = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(read, message, "{text}");
}
