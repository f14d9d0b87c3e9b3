//! Tests of lowering with hand-made and random trees, checked by independent validators.

mod arguments;
mod described;
mod merging;
mod native;
mod property;
mod rules;
mod subjects;
mod traps;
mod trees;

use std::sync::Arc;

use serde_json::Value;

use super::{Published, Subject, Subjects};
use crate::contract::condition::Condition;
use crate::contract::policy::{Policy, PolicyOrigin, Resolved};
use crate::schema::StoredSchema;

const ENFORCED: Resolved = Resolved {
    policy: Policy::Enforce,
    origin: PolicyOrigin::Registry,
};

fn lower(conditions: &[Condition], subjects: &[Subject], input: &Value) -> Published {
    let subjects = Arc::new(Subjects {
        all: subjects.to_vec(),
        input: StoredSchema::of(input),
    });
    super::lower("tool", ENFORCED, conditions, &subjects)
}
