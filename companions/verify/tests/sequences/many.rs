//! A fault that takes three calls is found among many tools.

use contract_runtime::DynamicSpec;
use contract_runtime::prelude::*;
use contract_verify::Verifier;
use serde_json::json;

use super::planted::no_accounts;
use super::{only, tools};

/// Tools with nothing wrong: each takes something of its own, and a note.
fn others() -> Vec<Tool> {
    let other = |number: usize| {
        let spec = DynamicSpec::new(format!("other_{number}"), "Do something else.");
        let thing = format!("thing_{number}");
        let spec = spec.input_schema(json!({
            "type": "object",
            "properties": {thing: {"type": "integer"}, "note": {"type": "string"}},
            "additionalProperties": false,
        }));
        Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("done")) })
    };
    (0..21).map(other).collect()
}

/// `VERIFY_SEEDS` is the number of seeds.
#[test]
fn three_calls_among_twenty_five_tools_are_found() {
    let seeds = std::env::var("VERIFY_SEEDS").map_or(4, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let registry = no_accounts(Registry::builder().with(others()))
            .build()
            .unwrap();
        let verifier = Verifier::new(registry).run_bodies(true).setup(no_accounts);
        let report = verifier.cases(64).seed(seed).run();
        assert_eq!(report.tools().len(), 25);
        let problem = only(&report);
        assert_eq!(
            tools(problem),
            ["open", "pay_in", "close"],
            "seed {seed}: {report}"
        );
    }
}
