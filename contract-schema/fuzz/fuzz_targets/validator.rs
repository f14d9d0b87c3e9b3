//! Arbitrary texts against arbitrary schemas: no panic, and the verdict of another validator.
//!
//! `cargo +nightly fuzz run validator` in `contract-schema`.

#![no_main]

use contract_schema::Validator;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

// A schema and a text, with a zero byte between them.
fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let part = parts.next().and_then(|part| std::str::from_utf8(part).ok());
    let text = parts.next().and_then(|part| std::str::from_utf8(part).ok());
    let (Some(schema), Some(text)) = (part, text) else {
        return;
    };
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return;
    };
    let Ok(validator) = Validator::of_value(schema) else {
        return;
    };
    let verdict = validator.check(text);
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        assert!(verdict.is_err(), "no JSON is accepted: {text}");
        return;
    };
    // What is enforced is what is published. It may refuse more: a key that is given twice.
    let judge = jsonschema::validator_for(validator.schema()).expect("an enforced schema is one");
    assert!(
        verdict.is_err() || judge.is_valid(&value),
        "{text} is accepted by {}",
        validator.schema()
    );
});
