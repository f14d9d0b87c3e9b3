//! How bodies are run: permission, test values, time limit.

use std::time::Duration;

use contract_runtime::__family::guard;
use contract_runtime::__family::{Setup, TriedTool};
use contract_runtime::{BuildProblem, Builder, Registry};

use super::problem::{Fault, Layer, Problem};
use super::{Verifier, panic_hook};

/// The time limit of tools without a timeout; a body that runs longer is probably in an endless loop.
const TIME: Duration = Duration::from_secs(10);

/// How bodies are run, as far as their authors leave it to the test.
#[derive(Clone, Debug)]
pub(super) struct Fixtures {
    run: Option<bool>,
    setup: Option<Setup>,
    time: Duration,
}

impl Default for Fixtures {
    fn default() -> Self {
        Self {
            run: None,
            setup: None,
            time: TIME,
        }
    }
}

impl Verifier {
    /// Sets whether the bodies of tools may run; by default only those of `read_only` tools do.
    ///
    /// `#[verify(run)]` or `#[verify(run = false)]` above a tool takes precedence.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_verify::Verifier;
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
        self.fixtures.run = Some(run);
        self
    }

    /// Provides tools with the values they are tested with, such as a folder that may be written to.
    ///
    /// It is called for each run of a body, so that no run sees what another one left behind. It is called after the `setup` of
    /// `#[verify(..)]` above a tool, and its values replace those of the registry.
    pub fn setup(mut self, setup: fn(Builder) -> Builder) -> Self {
        self.fixtures.setup = Some(setup);
        self
    }

    /// Sets the time limit of a body whose tool has no timeout; the default is 10 seconds.
    ///
    /// A body that does not end is abandoned on its thread.
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.fixtures.time = time;
        self
    }
}

impl Fixtures {
    /// Whether the body of this tool may be run.
    pub(super) fn may_run(&self, tool: TriedTool<'_>, read_only: bool) -> bool {
        self.decided(tool).unwrap_or(read_only)
    }

    /// Whether it may run, if the tool or the test says so.
    pub(super) fn decided(&self, tool: TriedTool<'_>) -> Option<bool> {
        tool.may_run().or(self.run)
    }

    /// The time limit of one run.
    pub(super) fn time(&self, tool: TriedTool<'_>) -> Duration {
        tool.timeout().unwrap_or(self.time)
    }

    /// Whether each run gets values of its own.
    pub(super) fn is_fresh(&self, tool: TriedTool<'_>) -> bool {
        tool.setup().or(self.setup).is_some()
    }
}

/// Builds a registry of one tool, with the values that it is tested with.
pub(super) fn registry_for(
    registry: &Registry,
    name: &str,
    fixtures: &Fixtures,
) -> Result<Registry, Box<Problem>> {
    let problem = |fault| {
        Box::new(Problem {
            layer: Layer::Promise,
            ..Problem::of(name, fault)
        })
    };
    let tool = TriedTool::new(registry, name).ok_or_else(|| problem(Fault::NoSuchTool))?;
    registry_of(&[tool], fixtures).map_err(|why| problem(Fault::Unjudged { why }))
}

/// Builds a registry of these tools, with the values that they are tested with.
///
/// # Errors
///
/// Why it cannot be built.
pub(super) fn registry_of(
    tools: &[TriedTool<'_>],
    fixtures: &Fixtures,
) -> Result<Registry, String> {
    let setups = tools.iter().filter_map(|tool| tool.setup());
    let setups: Vec<Setup> = setups.chain(fixtures.setup).collect();
    let given = || TriedTool::together(tools, setups.iter().copied());
    let built =
        panic_hook::capture(|last| guard(given).map_err(|_| last.take().unwrap_or_default()));
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
            Err(format!("{error}{advice}"))
        }
        Err(said) => Err(format!("its `setup` panicked: {said}")),
    }
}
