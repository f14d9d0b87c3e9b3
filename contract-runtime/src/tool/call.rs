//! A call as generated code sees it: arguments in, reply out.

use std::future::Future;
use std::mem::forget;
use std::pin::Pin;
use std::sync::{Mutex, OnceLock};

use super::context_params::{ContextValue, Need, Sources};
use super::failure::FailureKind;
use super::reply::Reply;
use super::slot::{self, Argument, ArgumentType, Inputs, Judged};
use crate::contract::condition::Contract;
use crate::contract::frame::{Frame, FrameOf};
use crate::contract::history::SentArguments;
use crate::contract::panics::ignore_poison;
use crate::contract::scope::{ContractScope, Phase, PhaseOnUnwind};
use crate::schema::arguments::{self, Examined};

/// One call by name, as generated code sees it.
pub struct Call<'c>(Purpose<'c>);

enum Purpose<'c> {
    Run(&'c Request<'c>),
    Describe(&'c Mutex<Description>),
}

/// What the dispatcher hands over.
pub(crate) struct Request<'c> {
    pub(crate) contract: &'static Contract,
    pub(crate) only_check: bool,
    pub(crate) text: &'c str,
    pub(crate) inputs: &'c Inputs,
    pub(crate) coerce: bool,
    /// Where arguments that had to be put right are kept for the history and the outcome.
    pub(crate) examined: &'c OnceLock<Box<Examined>>,
    pub(crate) sources: Option<Sources<'c>>,
}

impl Request<'_> {
    /// The call begins: its arguments are read, and nothing is judged yet.
    #[inline]
    pub(crate) fn begin(&self, frame: &FrameOf<'_>) {
        if let Some(place) = frame.place().filter(|_| !self.only_check) {
            let examined = self.examined.get();
            place.begin(SentArguments {
                text: examined.map_or(self.text, |examined| &examined.text),
                schema: &self.inputs.schema,
            });
        }
    }

    /// The frame of its execution, and it begins.
    #[inline]
    fn frame(&self) -> Frame {
        match ContractScope::bare_policy() {
            // In place: a call that brought nothing else has nothing to begin.
            Some(policy) if !self.only_check => Frame::bare(self.contract, policy),
            _ => {
                let frame = Frame::named(self.contract, self.only_check);
                self.begin(&frame);
                frame
            }
        }
    }
}

/// What a tool says about its parameters when it is asked at the building of a registry.
#[derive(Default)]
pub(crate) struct Description {
    pub(crate) parameters: Vec<ArgumentType>,
    pub(crate) needs: Vec<Need>,
}

/// A call that has begun.
pub enum Running<'c> {
    /// A sync body has ended.
    Done(Reply),
    /// An async body has to be waited for.
    Later(Pin<Box<dyn Future<Output = Reply> + Send + 'c>>),
}

/// Runs a call whose body is sync.
#[inline]
pub fn ready<'c>(call: &Call<'c>, run: impl FnOnce(&Call<'c>) -> Reply) -> Running<'c> {
    Running::Done(run(call))
}

/// Wraps a call whose body is async.
#[inline]
pub fn later<'c>(future: impl Future<Output = Reply> + Send + 'c) -> Running<'c> {
    Running::Later(Box::pin(future))
}

impl<'c> Call<'c> {
    pub(crate) const fn new(request: &'c Request<'c>) -> Self {
        Self(Purpose::Run(request))
    }

    pub(crate) const fn describe(into: &'c Mutex<Description>) -> Self {
        Self(Purpose::Describe(into))
    }

    pub(crate) fn sources(&self) -> Option<&Sources<'c>> {
        match &self.0 {
            Purpose::Run(request) => request.sources.as_ref(),
            Purpose::Describe(_) => None,
        }
    }

    /// What the dispatcher hands over, or the needs of a tool that no macro made, while a registry is built.
    pub(crate) fn asking(&self, needs: &[Need]) -> Result<&Request<'c>, FailureKind> {
        match &self.0 {
            Purpose::Run(request) => Ok(request),
            Purpose::Describe(into) => {
                let mut into = ignore_poison(into.lock());
                into.needs.extend(needs);
                Err(FailureKind::Checked)
            }
        }
    }

    /// Reads every argument, finds every context value, and opens the frame of the execution.
    ///
    /// # Errors
    ///
    /// Why the body cannot run.
    pub fn decode(
        &self,
        arguments: &mut [&mut dyn Argument],
        contexts: &mut [&mut dyn ContextValue<'c>],
    ) -> Result<Frame, FailureKind> {
        for context in contexts.iter_mut() {
            context.find(self);
        }
        let request = match &self.0 {
            Purpose::Run(request) => request,
            Purpose::Describe(into) => return Err(describe(into, arguments, contexts)),
        };
        let unwinds = PhaseOnUnwind(Phase::BeforeBody);
        let inputs = request.inputs;
        let plain = slot::fill(request.text, inputs, arguments, Judged::OnTheWay)
            .is_ok_and(|filled| filled == arguments.len() || complete(inputs, arguments));
        let read = if plain {
            Ok(())
        } else {
            again(request, arguments)
        };
        forget(unwinds);
        read.map(|()| request.frame())
    }
}

fn complete(inputs: &Inputs, arguments: &[&mut dyn Argument]) -> bool {
    inputs
        .schema
        .parameters()
        .iter()
        .zip(arguments)
        .all(|(input, argument)| argument.is_read() || !input.required)
}

/// The careful way: everything that is wrong, or the arguments put right and read once more.
#[inline(never)]
fn again(request: &Request<'_>, arguments: &mut [&mut dyn Argument]) -> Result<(), FailureKind> {
    for argument in arguments.iter_mut() {
        argument.clear();
    }
    let inputs = request.inputs;
    let examined = arguments::read(request.text, &inputs.schema, request.coerce)
        .map_err(|invalid| FailureKind::InvalidArguments(Box::new(invalid)))?;
    let text = &request.examined.get_or_init(|| Box::new(examined)).text;
    slot::fill(text, inputs, arguments, Judged::Before)
        .map(drop)
        .map_err(|unsure| unsure.refuse(text, inputs))
}

fn describe(
    into: &Mutex<Description>,
    arguments: &[&mut dyn Argument],
    contexts: &[&mut dyn ContextValue<'_>],
) -> FailureKind {
    let mut into = ignore_poison(into.lock());
    let described = arguments.iter().map(|argument| argument.describe());
    into.parameters.extend(described);
    into.needs
        .extend(contexts.iter().map(|context| context.need()));
    FailureKind::Checked
}
