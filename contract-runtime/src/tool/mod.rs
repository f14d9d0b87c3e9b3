//! One tool: what it says of itself, how its arguments are read and what comes out of a call.

pub(crate) mod arguments;
pub(crate) mod call;
#[cfg(any(feature = "agent", feature = "remote"))]
pub(crate) mod canonical;
pub(crate) mod conditions;
pub(crate) mod content;
pub(crate) mod context;
pub(crate) mod dynamic;
pub(crate) mod dynamic_context;
pub(crate) mod encode;
pub(crate) mod findings;
pub(crate) mod finite;
pub(crate) mod form;
pub(crate) mod inputs;
pub(crate) mod lookup;
pub(crate) mod outcome;
pub(crate) mod probe;
pub(crate) mod progress;
pub(crate) mod reply;
pub(crate) mod scan;
pub(crate) mod shim;
pub(crate) mod slot;
pub(crate) mod spec;
pub(crate) mod wire;

pub use arguments::{ArgumentProblem, Coercion, InvalidArguments, ProblemKind};
pub use content::{Artifact, Content};
pub use context::{CallInfo, Context, Deadline, Run};
pub use dynamic::{DynamicSpec, Tool};
pub use dynamic_context::DynamicContext;
pub use outcome::{Outcome, Status};
pub use progress::{Progress, ProgressReport};
pub use shim::ToolSet;
pub use spec::Hints;
pub use wire::{MalformedCall, ToolCall, ToolResult};
