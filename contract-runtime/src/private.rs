//! The interface for generated code. Unstable: the two crates are released together.

pub use inventory;

pub use std::sync::Arc;
pub use std::vec::Vec;

pub use contract_macros::verify_test;
pub use contract_macros::{contract_assert, finish, verify};

pub use crate::contract::bounds::{
    Checked, ConditionResult, Fallible, JudgedForm, Opened, Present, keep, look,
};
pub use crate::contract::condition::{AskedTool, Condition, ConditionKind, Contract};
pub use crate::contract::details::{Details, JsonProbe};
pub use crate::contract::expression::{Comparison, Expression, Operation};
pub use crate::contract::findings::judge::{Judged, judge, report};
pub use crate::contract::frame::{
    Frame, Kept, Neighbours, Pass, Stop, assert, end, run, run_async,
};
pub use crate::contract::panics::{settle, settle_unit};
pub use crate::contract::policy::Policy;
pub use crate::contract::type_kind::{
    Container, Known, KnownKind, Returned, Shape, TypeKind, UnknownKind, converted, count, either,
    item, kind, pattern, widened,
};
pub use crate::registry::Builder;
pub use crate::schema::{Describe, Hints};
pub use crate::tool::call::{Call, Running, later, ready};
pub use crate::tool::dynamic::Tool;
pub use crate::tool::kind::Type;
pub use crate::tool::reply::{Reply, failure};
pub use crate::tool::shim::{
    Registered, RegisteredSet, SharedToolSet, ToolSet, method, package, type_of,
};
pub use crate::tool::slot::{asked, probe};
pub use crate::tool::spec::{Constant, Parameter, Spec, Verify, constant, text};
pub use crate::tool::spec::{judge_tool, report_default};
pub use crate::{ContextParameter, Described, Precondition, SharedContext, ToolArgument};
