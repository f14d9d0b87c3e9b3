#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod contract;
mod event;
mod generator;
mod inner;
mod message;
mod model;
mod run_log;

pub use contract::{
    AgentRun, Budget, ContractAgent, ContractAgentBuilder, Hook, IterationState, LoopDetection,
    Recovery, RunEvents, RunResult, RunStatistics, TypedResult,
};
pub use event::{Event, LoopKind, RunError};
pub use generator::{Emitter, Events, stream_with};
pub use inner::{ConstrainedAgent, InnerAgent, ReActAgent, ToolCallingAgent, Turn, reply_schema};
pub use message::{Conversation, Message};
pub use model::{
    Delta, Model, ModelError, Reasoning, Recorder, RecordingError, Replay, Reply, Request,
    Scripted, Usage,
};
#[cfg(feature = "genai")]
pub use model::{
    GenaiBuildError, GenaiModel, GenaiModelBuilder, Provider, ReasoningEffort, ToolChoice,
};
pub use run_log::{FileStore, MemoryStore, RunState, RunStore, StoreError, Stored};
