//! Agents whose whole run is under contract: the task before it starts, every step, every tool call, and the answer.
//!
//! ```
//! use contract_runtime::agent::{ContractAgent, Scripted, ToolCallingAgent};
//! use contract_runtime::prelude::*;
//!
//! /// Divide one number by another.
//! #[tool]
//! #[pre(divisor != 0.0, "cannot divide by zero")]
//! fn divide(dividend: f64, divisor: f64) -> f64 {
//!     dividend / divisor
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
//! let registry = Registry::builder().tool(divide).build()?;
//! let model = Scripted::new()
//!     .calls("I divide.", [("divide", r#"{"dividend": 7, "divisor": 2}"#)])
//!     .text("It is 3.5.");
//! let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry))
//!     .task_pre("not empty", |task| !task.trim().is_empty())
//!     .invariant("few steps", |state| state.iterations <= 10)
//!     .answer_post("a number", |answer| answer.chars().any(|c| c.is_ascii_digit()))
//!     .build();
//!
//! let result = agent.run("What is 7 / 2?").await;
//! assert_eq!(result.answer.as_deref(), Some("It is 3.5."));
//! assert!(result.success);
//! # Ok(()) }
//! ```

mod constraint;
mod contract;
mod event;
mod inner;
mod live;
mod message;
mod model;

#[cfg(feature = "grammar")]
pub use constraint::{
    Allowed, Masked, MaskedModel, Matching, Mismatch, NextToken, Step, TokenMask, Vocabulary,
};
pub use constraint::{Constraint, ConstraintError, Weakened};
pub use contract::{
    Budget, ContractAgent, ContractAgentBuilder, Hook, IterationState, LoopDetection, Recovery,
    RunResult, RunStatistics,
};
pub use event::{Event, LoopKind, RunError};
pub use inner::{ConstrainedAgent, Enforcement};
pub use inner::{InnerAgent, ReActAgent, Repair, ToolCallingAgent, Turn};
pub use live::{Emitter, Events, live};
pub use message::{Conversation, Message};
pub use model::{
    Delta, Model, ModelError, ModelFault, Recorder, RecordingError, Replay, Reply, Request,
    Scripted, Usage,
};
#[cfg(feature = "genai")]
pub use model::{GenaiBuildError, GenaiModel, GenaiModelBuilder, Provider};
