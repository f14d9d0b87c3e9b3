//! Conditions, policies and violations, independent of tools.

pub(crate) mod approval;
pub(crate) mod assert;
pub(crate) mod catch;
pub(crate) mod condition;
pub(crate) mod condition_result;
pub(crate) mod counts;
pub(crate) mod details;
pub(crate) mod expression;
pub(crate) mod findings;
pub(crate) mod frame;
pub(crate) mod given;
pub(crate) mod handler;
pub(crate) mod nesting;
pub(crate) mod observer;
pub(crate) mod panics;
pub(crate) mod pattern;
pub(crate) mod policy;
pub(crate) mod precondition;
pub(crate) mod scope;
mod spare;
pub(crate) mod thread;
pub(crate) mod type_kind;
pub(crate) mod unwind;
pub(crate) mod violation;

pub use approval::{Answer, Approval, ApprovalRequest, Decision, Question};
pub use catch::{catch, catch_async};
pub use condition::{Condition, ConditionKind};
pub use condition_result::ConditionResult;
pub use counts::Counts;
pub use handler::set_process_handler;
pub use observer::{Check, CheckEvent};
pub use pattern::matches_pattern;
pub use policy::{Policy, PolicyOrigin, UnknownPolicy, process_policy, set_process_policy};
pub use scope::ContractScope;
pub use violation::{Blame, Detection, Location, Violation};
