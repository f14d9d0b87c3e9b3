//! Steps of a journal, then damage to its file: it is refused, or says what was written; no call that began begins again.
//!
//! `cargo +nightly fuzz run journal_recovery` in `companions/remote`. How bytes are read is in
//! `src/journal/tests/damage.rs`.

#![no_main]

use std::panic::{set_hook, take_hook};

use contract_remote::recovered;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            // The store asserts in builds that do, and the journal then says that its file is damaged.
            let is_of_store = |place: &std::panic::Location<'_>| place.file().contains("/redb-");
            if !panic.location().is_some_and(is_of_store) {
                usual(panic);
            }
        }));
    },
    |bytes: &[u8]| {
        recovered(bytes);
    }
);
