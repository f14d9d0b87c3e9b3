//! Tests of lowering with hand-made and random trees, checked by independent validators.

mod arguments;
mod described;
mod merging;
mod native;
mod property;
mod subjects;
mod traps;
mod trees;

use crate::contract::policy::{Policy, PolicyOrigin, Resolved};

const ENFORCED: Resolved = Resolved {
    policy: Policy::Enforce,
    origin: PolicyOrigin::Registry,
};
