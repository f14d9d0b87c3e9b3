//! One tool: its description, how its arguments are decoded and how a call ends.

mod absent;
pub(crate) mod backed;
pub(crate) mod call;
pub(crate) mod canonical;
pub(crate) mod content;
pub(crate) mod context;
pub(crate) mod context_params;
pub(crate) mod dynamic;
pub(crate) mod dynamic_context;
pub(crate) mod dynamic_contract;
pub(crate) mod encode;
pub(crate) mod fast_decode;
pub(crate) mod findings;
pub(crate) mod inputs;
pub(crate) mod kind;
pub(crate) mod non_finite;
pub(crate) mod outcome;
mod plain;
pub(crate) mod probe;
pub(crate) mod progress;
pub(crate) mod reply;
mod sent_arguments;
pub(crate) mod shim;
pub(crate) mod slot;
pub(crate) mod spec;
pub(crate) mod wire;

pub use backed::{Backing, CallError};
pub use content::{Artifact, Content};
pub use context::{CallInfo, Context, Deadline, Run};
pub use dynamic::{DynamicSpec, Tool};
pub use dynamic_context::DynamicContext;
pub use outcome::{Outcome, OutputKind, Status};
pub use progress::{Progress, ProgressReport};
pub use shim::ToolSet;
pub use wire::{MalformedCall, ToolCall, ToolResult};
