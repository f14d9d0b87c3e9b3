//! What generated code may touch. Unstable: the two crates are released together.

pub use inventory;
pub use schemars::{Schema, SchemaGenerator};

pub use std::sync::Arc;
pub use std::vec::Vec;

pub use contract_macros::{contract_assert, finish, verify};
#[cfg(feature = "verify")]
pub use contract_macros::{verify_all, verify_one};

pub use crate::contract::assert::assert;
pub use crate::contract::condition::{Condition, ConditionKind, Contract};
pub use crate::contract::details::{Details, Seen};
pub use crate::contract::expression::{Comparison, Expression, Operation};
pub use crate::contract::findings::build::{Judged, judge, report};
pub use crate::contract::frame::{Frame, Judge, Kept, Stop, keep, run, run_async, settle};
pub use crate::contract::policy::Policy;
pub use crate::registry::Builder;
pub use crate::registry::manifest::{assert_frozen, own_registry};
pub use crate::tool::call::{Call, Running, later, ready};
pub use crate::tool::dynamic::Tool;
pub use crate::tool::findings::{judge_tool, report_default, report_example};
pub use crate::tool::form::{
    Container, Form, Formed, Known, Shape, Unformed, either, form, pattern,
};
pub use crate::tool::probe::{asked, probe};
pub use crate::tool::reply::{Ended, Got, Reply, Sort, failure};
pub use crate::tool::shim::{Registered, SharedToolSet, ToolSet, method, type_of};
pub use crate::tool::slot::Type;
pub use crate::tool::spec::{Constant, Hints, Parameter, Spec, Verify, constant, text};
#[cfg(feature = "verify")]
pub use crate::verify::macros::{
    Tools, verifier_of_function, verifier_of_package, verifier_of_registry,
};
