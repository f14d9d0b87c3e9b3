//! Questions to a history, and why some have no answer.

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::records::KEPT;

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
    /// A method of one state, by the name that its registry gave it.
    Method(TypeId, &'q str),
    Named(&'q str),
}

/// A tool of the registry of a call that asks.
#[derive(Debug)]
pub(crate) struct HistoryTool {
    pub(crate) name: String,
    /// Its name before any prefix and rename.
    pub(crate) original: String,
    /// The prefix that covers it, by a number.
    pub(crate) set: Option<usize>,
    /// The state of a method, by a number.
    pub(crate) state: usize,
    pub(crate) function: Option<TypeId>,
}

/// The tool that asks, among those of its registry.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    pub(crate) tools: Arc<[HistoryTool]>,
    pub(crate) index: usize,
}

impl Asker {
    /// Says which calls a question is about, or why it has no answer; `was_called` says whether a name was called in the run.
    pub(super) fn resolve<'q>(
        &'q self,
        tool: Tool<'q>,
        question: Question,
        was_called: impl Fn(&str) -> bool,
    ) -> Result<Tool<'q>, Unanswered> {
        let own = self.tools.get(self.index);
        match tool {
            Tool::Named(name) => {
                let is_own = |one: &&HistoryTool| {
                    one.original == name && own.is_some_and(|own| own.set == one.set)
                };
                if let Some(found) = self.tools.iter().find(is_own) {
                    return Ok(Tool::Named(&found.name));
                }
                if self.tools.iter().any(|one| one.name == name) || was_called(name) {
                    return Ok(tool);
                }
                let tool = name.to_owned();
                Err(Unanswered::NoTool { tool })
            }
            Tool::Function(function, name) => {
                let is_method = |one: &&HistoryTool| one.function == Some(function);
                let mut states = self.tools.iter().filter(is_method);
                let Some(first) = states.next() else {
                    return Ok(tool);
                };
                let Some(second) = states.next().filter(|one| one.state != first.state) else {
                    return Ok(tool);
                };
                let own = own.filter(|own| own.state != 0);
                let mut all = [first, second].into_iter().chain(states);
                match all.find(|one| own.is_some_and(|own| own.state == one.state)) {
                    Some(method) => Ok(Tool::Method(function, &method.name)),
                    None if question == Question::Counted => Ok(tool),
                    None => Err(Unanswered::TwoStates {
                        tool: name.to_owned(),
                    }),
                }
            }
            Tool::Method(..) => Ok(tool),
        }
    }
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
            Self::Method(of, wanted) => function == Some(of) && name == wanted,
            Self::Named(wanted) => name == wanted,
        }
    }

    pub(super) fn name(&self) -> &str {
        match *self {
            Self::Function(_, name) | Self::Method(_, name) | Self::Named(name) => name,
        }
    }
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
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
    #[error(
        "a condition asks for calls of `{tool}`, and there is no tool of this name: the registry has none, and none was called in the run"
    )]
    NoTool { tool: String },
    #[error(
        "a condition asks whether `{tool}` succeeded, which is a method of two states here; ask from a method of one of them, or with `count`"
    )]
    TwoStates { tool: String },
}

/// A value by which a question to a [`History`](crate::History) is narrowed: a text, an integer, a boolean, or an `Option` or
/// list of them. An integer of more than 64 bits cannot be told apart from others, and its condition fails.
///
/// Arguments are remembered as they were sent, and each of these can be sent in one way only. A float, a set or a type of your
/// own may be written otherwise than it was sent, and would then be found in no call.
#[diagnostic::on_unimplemented(
    message = "calls cannot be told apart by a value of `{Self}`, which may be written otherwise than it was sent",
    label = "expected a text, an integer or a boolean",
    note = "ask by an argument that names the thing, such as `&order_id`; of a type of your own, by the text or number in it"
)]
pub trait AskedValue: Serialize {}

macro_rules! asked_values {
    ($($ty:ty),*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl AskedValue for $ty {}
        )*
    };
}

asked_values!(
    str, String, bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);

/// Of an argument that a tool takes as JSON.
#[diagnostic::do_not_recommend]
impl AskedValue for serde_json::Value {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue + ?Sized> AskedValue for &T {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue + ?Sized + ToOwned> AskedValue for Cow<'_, T> {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue> AskedValue for Option<T> {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue> AskedValue for Vec<T> {}

#[diagnostic::do_not_recommend]
impl<T: AskedValue> AskedValue for [T] {}

/// A function that names a tool, for a registry or a history: a function item such as `find_user`, of at most 26 parameters.
///
/// Whether the function is a tool is checked when a registry is built.
#[diagnostic::on_unimplemented(
    message = "a tool is named by its function, and `{Self}` is not a function",
    label = "expected a function, such as `find_user` or `Store::find_user`",
    note = "ask a history about a tool that is not a function here by `seen_named(\"find_user\")`, `ok_named(..)` or `count_named(..)`, and add it to a registry by `.with(tool)`"
)]
pub trait ToolFunction<Signature>: 'static {}

macro_rules! functions {
    ($($parameter:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<Function, Output, $($parameter),*> ToolFunction<fn($($parameter),*) -> Output> for Function where
            Function: Fn($($parameter),*) -> Output + 'static
        {
        }
    };
}

/// For this many parameters, and for any smaller number.
macro_rules! functions_up_to {
    () => { functions!(); };
    ($first:ident $($rest:ident)*) => {
        functions!($first $($rest)*);
        functions_up_to!($($rest)*);
    };
}

functions_up_to!(A B C D E F G H I J K L M N O P Q R S T U V W X Y Z);
