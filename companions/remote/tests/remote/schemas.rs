//! The JSON schemas of the protocol, compared with the recorded ones.

use contract_remote::protocol::{BackendMessage, ExecutorMessage, PROTOCOL};
use schemars::generate::SchemaSettings;
use serde_json::json;

use crate::tools::Tested;

/// A change of what is said on the line shows in the file, and in the review of it.
#[test]
fn the_protocol_is_frozen() -> Tested {
    let schemas = json!({
        "protocol": PROTOCOL,
        "executor": SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<ExecutorMessage>(),
        "backend": SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<BackendMessage>(),
    });
    let text = format!("{schemas:#}\n");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/remote/protocol.json");
    if std::env::var_os("UPDATE_CONTRACTS").is_some() {
        std::fs::write(path, &text)?;
    }
    let frozen = std::fs::read_to_string(path)?;
    let differs = frozen.lines().zip(text.lines()).find(|(was, is)| was != is);
    assert_eq!(differs, None, "UPDATE_CONTRACTS=1 writes it anew");
    assert_eq!(frozen.len(), text.len(), "one goes on where the other ends");
    Ok(())
}
