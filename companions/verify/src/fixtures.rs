//! What a body needs to be run: leave to do so, values, time.

use std::time::Duration;

use super::problem::{Fault, Layer, Problem};
use super::{Verifier, quiet};
use crate::contract::panics::guard;
use crate::registry::entry::Entry;
use crate::tool::spec::Setup;
use crate::{BuildProblem, Builder, Registry};

/// Unless a tool has a timeout of its own; a body that runs for longer has most likely been caught in a loop.
const TIME: Duration = Duration::from_secs(10);

/// How bodies are run, as far as their authors leave it to the test.
#[derive(Clone, Debug)]
pub(super) struct Doubles {
    run: Option<bool>,
    setup: Option<Setup>,
    time: Duration,
}

impl Default for Doubles {
    fn default() -> Self {
        Self {
            run: None,
            setup: None,
            time: TIME,
        }
    }
}

impl Verifier {
    /// Whether the bodies of tools may be run; `read_only` ones are, others not, unless this is set.
    ///
    /// What `#[verify(run)]` or `#[verify(run = false)]` says above a tool counts for more.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::verify::Verifier;
    /// use contract_runtime::Builder;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// #[derive(Default)]
    /// struct Account(AtomicU64);
    ///
    /// /// Pay money in, and say how much there is.
    /// #[tool]
    /// #[pre(cents > 0 && cents <= 1_000_000)]
    /// #[post(|total| *total >= cents)]
    /// fn pay_in(cents: u64, #[context] account: &Account) -> u64 {
    ///     account.0.fetch_add(cents, Ordering::Relaxed) + cents
    /// }
    ///
    /// fn an_empty_account(builder: Builder) -> Builder {
    ///     builder.context(Account::default())
    /// }
    ///
    /// let registry = Registry::builder().tool(pay_in).context(Account::default()).build()?;
    /// let report = Verifier::new(registry).run_bodies(true).setup(an_empty_account).cases(100).run();
    /// report.assert();
    /// assert_eq!(report.tools()[0].ran, report.tools()[0].accepted);
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn run_bodies(mut self, run: bool) -> Self {
        self.doubles.run = Some(run);
        self
    }

    /// Gives tools the values they are tried with, such as a folder that may be written to.
    ///
    /// It is called anew for each run of a body, so that no run sees what another one left. It acts after the `setup` that
    /// `#[verify(..)]` names above a tool, and takes the place of the values that the registry has.
    pub fn setup(mut self, setup: fn(Builder) -> Builder) -> Self {
        self.doubles.setup = Some(setup);
        self
    }

    /// The time that a body has, if its tool has no timeout; 10 seconds unless set.
    ///
    /// A body that does not end is left behind on its thread.
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.doubles.time = time;
        self
    }
}

impl Doubles {
    /// Whether the body of this tool may be run.
    pub(super) fn may_run(&self, entry: &Entry) -> bool {
        let own = entry.tool.verify.and_then(|verify| verify.run);
        own.or(self.run).unwrap_or(entry.read_only)
    }

    /// The time that one run of it has.
    pub(super) fn time(&self, entry: &Entry) -> Duration {
        entry.timeout.unwrap_or(self.time)
    }

    /// Whether each run gets values of its own.
    pub(super) fn is_fresh(&self, entry: &Entry) -> bool {
        self.setups(entry).next().is_some()
    }

    fn setups(&self, entry: &Entry) -> impl Iterator<Item = Setup> {
        let own = entry.tool.verify.and_then(|verify| verify.setup);
        own.into_iter().chain(self.setup)
    }
}

/// A registry of one tool of another one, with the values that it is to be tried with.
pub(super) fn registry_for(
    registry: &Registry,
    name: &str,
    doubles: &Doubles,
) -> Result<Registry, Box<Problem>> {
    let problem = |fault| {
        Box::new(Problem {
            tool: name.to_owned(),
            layer: Layer::Promise,
            clause: None,
            input: None,
            fault,
        })
    };
    let entry = registry
        .entry(name)
        .ok_or_else(|| problem(Fault::NoSuchTool))?;
    let given = || {
        let builder = Registry::builder().sharing(registry.values());
        let builder = doubles
            .setups(entry)
            .fold(builder, |builder, setup| setup(builder));
        builder.alone(entry).build()
    };
    let unjudged = |why| problem(Fault::Unjudged { why });
    let built = quiet::listening(|last| guard(given).map_err(|_| last.take().unwrap_or_default()));
    match built {
        Ok(Ok(registry)) => Ok(registry),
        Ok(Err(error)) => {
            let lacks =
                |problem: &BuildProblem| matches!(problem, BuildProblem::MissingContext { .. });
            let advice = if error.problems().iter().any(lacks) {
                "; for a test, write a function that gives it, `fn on_paper(builder: Builder) -> Builder`, and name it in \
                 `#[verify(setup = on_paper)]` above the tool, or in `verify!(.., setup = on_paper)`"
            } else {
                ""
            };
            Err(unjudged(format!("{error}{advice}")))
        }
        Err(said) => Err(unjudged(format!("its `setup` panicked: {said}"))),
    }
}
