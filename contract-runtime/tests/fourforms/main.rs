//! The forms of a contract: what is enforced is what is shown, sent and found.

mod demands;
mod explained;
mod exports;
mod findings;
#[path = "../../../companions/dialects/tests/dialects/judges_tools.rs"]
#[allow(dead_code, reason = "the judges of the dialects use the rest")]
mod judges_tools;
mod lowering;
mod mcp;
mod published;
mod reading;
mod renames;
