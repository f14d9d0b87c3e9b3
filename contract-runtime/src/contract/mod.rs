//! Conditions, policies and violations, independent of tools.

pub(crate) mod approval;
pub(crate) mod bounds;
pub(crate) mod condition;
pub(crate) mod counts;
pub(crate) mod details;
pub(crate) mod expression;
pub(crate) mod findings;
pub(crate) mod frame;
pub(crate) mod history;
pub(crate) mod observer;
pub(crate) mod panics;
pub(crate) mod pattern;
pub(crate) mod policy;
pub(crate) mod question_text;
pub(crate) mod scope;
mod spare;
pub(crate) mod thread;
pub(crate) mod type_kind;
mod values;
pub(crate) mod violation;

pub use approval::{Answer, Approval, ApprovalRequest, Decided, Decision, Question};
pub use bounds::ConditionResult;
pub use condition::{Condition, ConditionKind};
pub use counts::Counts;
pub use history::{AskedValue, History, ToolFunction, history};
pub use observer::{Check, CheckEvent};
pub use panics::{catch, catch_async};
pub use pattern::matches_pattern;
pub use policy::{Policy, PolicyOrigin, UnknownPolicy, process_policy, set_process_policy};
pub use scope::ContractScope;
pub use values::Values;
pub use violation::{Blame, Detection, Location, Violation};
