//! One tool: its description, how its arguments are decoded and how a call ends.

pub(crate) mod backed;
pub(crate) mod call;
pub(crate) mod content;
pub(crate) mod context;
pub(crate) mod context_params;
pub(crate) mod dynamic;
pub(crate) mod dynamic_contract;
pub(crate) mod encode;
pub(crate) mod failure;
pub(crate) mod forgiving;
pub(crate) mod kind;
pub(crate) mod log;
pub(crate) mod observe;
pub(crate) mod outcome;
pub(crate) mod reply;
pub(crate) mod run;
pub(crate) mod shim;
pub(crate) mod slot;
pub(crate) mod spec;
pub(crate) mod wire;

pub use backed::{Backing, CallError};
pub use content::{Artifact, Content};
pub use context::{CallInfo, CancellationToken, Context, Deadline, IdempotencyKey};
pub use dynamic::{DynamicContext, DynamicSpec, Tool};
pub use log::{Log, LogLevel, LogRecord, Progress, ProgressReport};
pub use outcome::{Effect, Outcome, OutputKind, Status};
pub use run::Run;
pub use shim::ToolSet;
pub use wire::{CallInput, MalformedCall, ToolCall, ToolResult};
