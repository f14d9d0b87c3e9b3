#![doc = include_str!("../README.md")]

// | file | what is in it |
// |---|---|
// | `subject` | one tool under verification |
// | `generate` | generated arguments, valid and invalid |
// | `agree`, `vacuity` | the first two layers |
// | `coverage` | what calls have shown of conditions |
// | `std_types` | values that types of the standard library refuse although their schemas accept them |
// | `trial` | which inputs are tried, and in which order |
// | `postconditions` | the third layer |
// | `shrink` | shrinking |
// | `regressions` | failing inputs of earlier runs |
// | `boundaries` | recorded boundaries between accepted and refused inputs |
// | `problem`, `report` | problems and the report |
// | `sequences` | sequences of calls, for tools with a state or over a history |
// | `skipped` | what was not tried |

mod agree;
mod boundaries;
mod coverage;
mod fixtures;
mod generate;
mod integer;
mod json;
mod macros;
mod panic_hook;
mod postconditions;
mod problem;
mod regressions;
mod report;
mod sequences;
mod shrink;
mod skipped;
mod std_types;
mod subject;
mod trial;
mod vacuity;
mod worker;

pub use problem::{Fault, Layer, Problem};
pub use report::{Report, Verified};
pub use sequences::SequenceCall;
pub use skipped::Skipped;

/// What generated tests name.
#[doc(hidden)]
pub mod __private {
    pub use contract_runtime::__private::*;

    pub use crate::macros::{
        Tools, verifier_of_function, verifier_of_package, verifier_of_registry,
    };
}

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::PathBuf;
use std::thread;

use contract_runtime::__family::is_update;
use contract_runtime::__family::methods::Methods;
use contract_runtime::Registry;
use serde_json::Value;
use tokio::runtime::Runtime;

use self::boundaries::Boundaries;

/// The number of random inputs for each tool, besides those at every bound; a test then takes well under a second.
const CASES: u32 = 256;

/// Overrides the number of cases, for a long run.
const CASES_SET: &str = "CONTRACT_VERIFY_CASES";

/// The seed of a verifier that is given none: a test that passes today passes tomorrow.
const SEED: u64 = 1;

/// Overrides the seed.
const SEED_SET: &str = "CONTRACT_VERIFY_SEED";

/// The stack of the verifying thread, because recursive types are read as deep as their values go.
const STACK: usize = 8 << 20;

/// Verifies the tools of a registry: see the [crate].
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_verify::{Fault, Verifier};
/// use serde_json::json;
///
/// /// Share among people.
/// #[tool(read_only)]
/// #[pre(people > 0)]
/// #[post(|share| *share > 0)]
/// fn share(total: u32, people: u32) -> u32 {
///     total / people
/// }
///
/// let registry = Registry::builder().tool(share).build()?;
/// let report = Verifier::new(registry).run();
/// let problem = report.problems().next().unwrap();
/// assert!(matches!(problem.fault, Fault::PromiseBroken { .. }));
/// assert_eq!(problem.input, Some(json!({"total": 0, "people": 1})));
/// assert!(report.to_string().ends_with(r#"registry.call(("", "share", json!({"total": 0, "people": 1}))).await"#));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a verifier does nothing until `run`"]
pub struct Verifier {
    registry: Registry,
    only: Vec<String>,
    cases: Option<u32>,
    seed: u64,
    strict: bool,
    sequences: Option<u32>,
    regressions: Option<PathBuf>,
    boundaries: Option<PathBuf>,
    /// The methods of the package, which are left out because only its functions were given.
    left_out: Vec<Methods>,
    /// How bodies are run.
    fixtures: fixtures::Fixtures,
}

impl Verifier {
    /// Verifies all tools of a registry.
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            only: Vec::new(),
            cases: None,
            seed: SEED,
            strict: false,
            sequences: None,
            regressions: None,
            boundaries: None,
            left_out: Vec::new(),
            fixtures: fixtures::Fixtures::default(),
        }
    }

    /// Verifies only this tool; call it again for further tools.
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        if !self.only.contains(&name) {
            self.only.push(name);
        }
        self
    }

    /// Sets how many random inputs are generated for each tool, besides those at every bound; the default is 256.
    ///
    /// `CONTRACT_VERIFY_CASES` in the environment overrides it, for a long run.
    pub fn cases(mut self, cases: u32) -> Self {
        self.cases = Some(cases);
        self
    }

    /// Sets the seed from which the inputs are generated; the default is 1, so each run generates the same inputs.
    ///
    /// `CONTRACT_VERIFY_SEED` in the environment overrides it: a number, or `random` for a new seed in each run, which suits a
    /// nightly job. A report of failures names the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how many sequences of calls are tried; by default as many as [`cases`](Self::cases), for each eight tools as many again,
    /// and 0 leaves them out. Up to eight times as many are made while there is a body, a postcondition or a side of a precondition
    /// that none of them has reached.
    ///
    /// They are tried where an earlier call may matter: the body of a tool that has a state, and is not `read_only`, may be run, or
    /// a condition asks the [`history`](contract_runtime::history()) of its run. Each sequence begins with the values that `setup`
    /// gives, and with a run of its own; its calls often take values that earlier ones sent or returned, and questions to a person
    /// are approved. The shortest sequence that breaks a promise is reported.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::Builder;
    /// use contract_verify::Verifier;
    /// use std::sync::Mutex;
    ///
    /// #[derive(Default)]
    /// struct Guests(Mutex<Vec<String>>);
    ///
    /// #[tool]
    /// impl Guests {
    ///     /// Invite somebody, and say how many guests there are.
    ///     #[tool]
    ///     #[pre(!name.is_empty() && name.len() < 20)]
    ///     fn invite(&self, name: String) -> usize {
    ///         let mut guests = self.0.lock().unwrap();
    ///         contract_assert!(!guests.contains(&name), "nobody is invited twice");
    ///         guests.push(name);
    ///         guests.len()
    ///     }
    /// }
    ///
    /// fn no_guests(builder: Builder) -> Builder {
    ///     builder.with(Guests::default())
    /// }
    ///
    /// let registry = no_guests(Registry::builder()).build()?;
    /// let report = Verifier::new(registry).run_bodies(true).setup(no_guests).run();
    /// let problem = report.problems().next().unwrap();
    /// let calls: Vec<_> = problem.calls.iter().map(|call| call.arguments.to_string()).collect();
    /// assert_eq!(calls, [r#"{"name":"a"}"#, r#"{"name":"a"}"#]);
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn sequences(mut self, sequences: u32) -> Self {
        self.sequences = Some(sequences);
        self
    }

    /// Sets whether the report fails if something was left out without a decision: a body that may or may not be run, a condition
    /// that was never true or never false, a postcondition that was not judged, sequences of calls that were not tried.
    ///
    /// What `#[verify(run = false)]` leaves out is decided, and does not fail.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_verify::Verifier;
    ///
    /// /// Send a letter.
    /// #[tool]
    /// #[pre(!text.is_empty())]
    /// fn send(text: &str) {}
    ///
    /// let verifier = Verifier::new(Registry::builder().tool(send).build()?).cases(100);
    /// assert!(verifier.clone().run().is_ok());
    /// let report = verifier.strict(true).run();
    /// assert!(!report.is_ok());
    /// assert!(report.to_string().contains("1 tool: incomplete"));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Sets where failing inputs are saved, to be tried first from then on; by default nowhere.
    ///
    /// A path with an extension is a JSON file, any other a folder with a file for each tool; an existing file or folder is used
    /// as it is. Commit it.
    pub fn regressions(mut self, path: impl Into<PathBuf>) -> Self {
        self.regressions = Some(path.into());
        self
    }

    /// Sets where the boundaries of each tool are recorded; by default nowhere.
    ///
    /// A boundary is a pair of neighbouring arguments, of which one is accepted and the other is refused. With
    /// `UPDATE_CONTRACTS=1` in the environment, a run records the boundaries of the current contract; without it, the recorded
    /// boundaries of a tool must still hold. If a bound moves, whatever moved it, the report shows a call that is newly accepted
    /// or refused.
    ///
    /// A path with an extension is a JSON file, any other a folder with a file for each tool. Commit it.
    ///
    /// ```no_run
    /// use contract_runtime::prelude::*;
    /// use contract_verify::Verifier;
    ///
    /// Verifier::new(registry!().build()?).boundaries("verify-boundaries").run().assert();
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn boundaries(mut self, path: impl Into<PathBuf>) -> Self {
        self.boundaries = Some(path.into());
        self
    }

    /// Runs the verification and returns its report. It blocks until everything is done, even inside an async runtime.
    ///
    /// # Panics
    ///
    /// If `CONTRACT_VERIFY_CASES` or `CONTRACT_VERIFY_SEED` is set to a value that cannot be read.
    pub fn run(self) -> Report {
        // On a thread of its own it may wait for async tools wherever it is called.
        let ran = thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK);
            let running = thread.spawn_scoped(scope, || self.on_this_thread());
            running.map(thread::ScopedJoinHandle::join)
        });
        match ran {
            Ok(Ok(report)) => report,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => unable(format!("no thread could be started: {error}")),
        }
    }

    fn on_this_thread(&self) -> Report {
        let seed = match std::env::var(SEED_SET).as_deref() {
            // Seeded by the operating system.
            Ok("random") => RandomState::new().build_hasher().finish(),
            _ => set(SEED_SET).unwrap_or(self.seed),
        };
        let runtime = match tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
        {
            Ok(runtime) => runtime,
            Err(error) => return unable(format!("no async runtime could be started: {error}")),
        };
        let names = match self.only.as_slice() {
            [] => self
                .registry
                .tools()
                .map(|tool| tool.name().to_owned())
                .collect(),
            only => only.to_vec(),
        };
        let mut report = Report {
            seed,
            strict: self.strict,
            ..Report::default()
        };
        if names.is_empty() {
            report.tools.push(Verified::of_problem("", Fault::NoTools));
        }
        for name in names {
            let verified = self.one(&name, seed, &runtime, &mut report.unsaved);
            report.tools.push(verified);
        }
        sequences::run(self, &runtime, &mut report);
        report.gather_skipped(self.left_out.iter().copied().map(Skipped::methods));
        report
    }

    fn sequence_count(&self) -> u32 {
        self.sequences.unwrap_or_else(|| self.case_count())
    }

    fn case_count(&self) -> u32 {
        set(CASES_SET).or(self.cases).unwrap_or(CASES)
    }

    fn one(
        &self,
        name: &str,
        seed: u64,
        runtime: &Runtime,
        unsaved: &mut Option<String>,
    ) -> Verified {
        let (regressions, boundaries) = (self.regressions.as_deref(), self.boundaries.as_deref());
        let load = || {
            let load = |path| regressions::load(path, name);
            let remembered = regressions.map(load).transpose()?;
            let load = |path| Boundaries::load(path, name);
            let recorded = boundaries.filter(|_| !is_update()).map(load).transpose()?;
            Ok((remembered.unwrap_or_default(), recorded.unwrap_or_default()))
        };
        let (remembered, recorded) = match load() {
            Ok(loaded) => loaded,
            Err(why) => return Verified::of_problem(name, Fault::Unreadable { why }),
        };
        let effort = trial::Effort {
            cases: self.case_count(),
            seed,
            fixtures: &self.fixtures,
            runtime,
            record: boundaries.filter(|_| is_update()),
        };
        let verified = trial::run(&self.registry, name, &remembered, &recorded, &effort);
        let moved = |problem: &&Problem| problem.fault.is_moved();
        let failed = verified.problems.iter().filter(|problem| !moved(problem));
        let failed: Vec<Value> = failed.filter_map(|one| one.input.clone()).collect();
        if let (Some(path), false) = (regressions, failed.is_empty())
            && let Err(why) = regressions::save(path, name, &failed)
        {
            *unsaved = Some(why);
        }
        verified
    }
}

/// The number in an environment variable, if there is one.
fn set<N: std::str::FromStr>(variable: &str) -> Option<N> {
    let text = std::env::var(variable).ok()?;
    let number = text.trim().parse().ok();
    assert!(
        number.is_some(),
        "`{variable}` is `{text}`, and must be a whole number"
    );
    number
}

fn unable(why: String) -> Report {
    Report {
        tools: vec![Verified::of_problem("", Fault::Unjudged { why })],
        ..Report::default()
    }
}
