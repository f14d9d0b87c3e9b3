//! Questions to a history, and why some have no answer.

use std::any::{TypeId, type_name};

use super::records::KEPT;
use super::tool_function::ToolFunction;

/// Which calls a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Seen,
    Succeeded,
    Counted,
}

/// The tool that a question is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tool<'q> {
    Function(TypeId, &'q str),
    Named(&'q str),
}

impl Tool<'_> {
    pub(super) fn of<F: ToolFunction<S>, S>(_: &F) -> Self {
        let path = type_name::<F>();
        let name = path.rsplit("::").next().unwrap_or(path);
        Self::Function(TypeId::of::<F>(), name)
    }

    pub(super) fn is(self, name: &str, function: Option<TypeId>) -> bool {
        match self {
            Self::Function(of, _) => function == Some(of),
            Self::Named(wanted) => name == wanted,
        }
    }

    pub(super) fn name(&self) -> &str {
        match *self {
            Self::Function(_, name) | Self::Named(name) => name,
        }
    }
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unanswered {
    #[error(
        "`{tool}` was not run, because it depends on the earlier calls of a run, and this call belongs to none; the program that serves the tool must make its calls with `Context::run`"
    )]
    NoRun { tool: String },
    #[error(
        "`{tool}` depends on the earlier calls of a run, and a direct Rust call has none; call it by name, through a registry"
    )]
    Direct { tool: String },
    #[error(
        "the run no longer knows all its calls of `{tool}`, of which it keeps {KEPT}; begin a new run"
    )]
    Dropped { tool: String },
    #[error(
        "the run had calls before that it does not know, such as in an earlier process, and some may have been of `{tool}`; begin a new run"
    )]
    Earlier { tool: String },
    #[error(
        "a condition asks for calls of `{tool}` by its argument `{argument}`, which it does not have"
    )]
    NoArgument { tool: String, argument: String },
    #[error(
        "a condition asks for calls of `{tool}` by a value of `{argument}` that cannot be written as JSON"
    )]
    NotJson { tool: String, argument: String },
}
