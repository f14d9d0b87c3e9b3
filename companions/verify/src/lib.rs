//! Tests that every contract writes for itself.
//!
//! A [`Verifier`] makes arguments from the schema of each tool, concentrated around every bound and just past it, and
//! looks at them from all sides. What is wrong comes back as a [`Report`], with the smallest input that shows it.
//!
//! | layer | question | runs bodies |
//! |---|---|---|
//! | [`Agreement`](Layer::Agreement) | do types, predicates, schema and portable rules say the same? | no |
//! | [`Meaning`](Layer::Meaning) | does each precondition accept something, and refuse something? | no |
//! | [`Promise`](Layer::Promise) | does the body keep what the contract promises? | of tools that may be run |
//!
//! ```
//! use contract_runtime::prelude::*;
//! use contract_runtime::verify::Verifier;
//!
//! /// Book a room for a part of one day.
//! #[tool(read_only)]
//! #[pre(end > start, "the end ({end}) must come after the start ({start})")]
//! #[pre(end <= 24 * 60, "the booking must end on the same day")]
//! #[post(|minutes| *minutes > 0)]
//! fn book_room(start: u32, end: u32) -> u32 {
//!     end - start
//! }
//!
//! let registry = Registry::builder().tool(book_room).build()?;
//! Verifier::new(registry).cases(100).run().assert();
//! # Ok::<(), BuildError>(())
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `subject` | one tool, with everything that judges it |
//! | `generate` | arguments, right and wrong |
//! | `agree`, `meaning` | the first two layers |
//! | `foreign` | what types of the standard library refuse in spite of their schemas |
//! | `trial` | which inputs are tried, and in which order |
//! | `kept` | the third layer |
//! | `reduce` | the smallest input that still fails |
//! | `seeds` | inputs that failed before |
//! | `edges` | what was just accepted, and just refused, when it was recorded |
//! | `problem`, `report` | what is found |

mod agree;
mod double;
mod edges;
mod foreign;
mod generate;
mod integer;
mod kept;
pub(crate) mod macros;
mod meaning;
mod problem;
mod quiet;
mod reduce;
mod report;
mod seeds;
mod subject;
mod trial;
mod worker;

pub use problem::{Fault, Layer, Problem};
pub use report::{Report, Verified};

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::PathBuf;
use std::thread;

use serde_json::Value;
use tokio::runtime::Runtime;

use self::edges::Edges;
use crate::Registry;
use crate::registry::manifest::freeze::is_update;

/// Inputs by chance for each tool, beside the edges of every bound: so many that a test takes well below a second.
const CASES: u32 = 256;

/// Overrides the number of cases, for a long run.
const CASES_SET: &str = "CONTRACT_VERIFY_CASES";

/// Overrides the seed, to see a failure again.
const SEED_SET: &str = "CONTRACT_VERIFY_SEED";

/// Types of tools may refer to themselves, and what reads them goes as deep as the values.
const STACK: usize = 8 << 20;

/// Tries the tools of a registry: see the [module](self).
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::verify::{Fault, Verifier};
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
/// assert!(report.to_string().ends_with(r#"registry.call_json("share", json!({"total": 0, "people": 1})).await"#));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a verifier does nothing until `run`"]
pub struct Verifier {
    registry: Registry,
    only: Vec<String>,
    cases: Option<u32>,
    seed: Option<u64>,
    regressions: Option<PathBuf>,
    edges: Option<PathBuf>,
    /// How bodies are run.
    doubles: double::Doubles,
}

impl Verifier {
    /// Tries all tools of a registry.
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            only: Vec::new(),
            cases: None,
            seed: None,
            regressions: None,
            edges: None,
            doubles: double::Doubles::default(),
        }
    }

    /// Tries only this tool, and others for which it is called as well.
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        if !self.only.contains(&name) {
            self.only.push(name);
        }
        self
    }

    /// How many inputs are made by chance for each tool, beside those at every bound; 256 unless set.
    ///
    /// `CONTRACT_VERIFY_CASES` in the environment overrides it, for a long run.
    pub fn cases(mut self, cases: u32) -> Self {
        self.cases = Some(cases);
        self
    }

    /// Makes the same inputs each time; a fresh number unless set, which a report of failures names.
    ///
    /// `CONTRACT_VERIFY_SEED` in the environment overrides it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Where inputs that failed are kept, to be tried first from then on; nowhere unless set.
    ///
    /// A path with an extension is a JSON file, any other a folder with a file for each tool; what is there already decides for
    /// itself. Both are made to be committed.
    pub fn regressions(mut self, path: impl Into<PathBuf>) -> Self {
        self.regressions = Some(path.into());
        self
    }

    /// Where the edges of each tool are recorded; nowhere unless set.
    ///
    /// An edge is a pair of arguments, alike but for one step, of which one is accepted and the other is not. With
    /// `UPDATE_CONTRACTS=1` in the environment a run writes them there, of the contract as it is; without it, a tool whose edges are
    /// there is held to them. A bound that moves, in whatever form, is then reported with a call that it lets in or shuts out.
    ///
    /// A path with an extension is a JSON file, any other a folder with a file for each tool. Both are made to be committed.
    ///
    /// ```no_run
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::verify::Verifier;
    ///
    /// Verifier::new(registry!().build()?).edges("verify-edges").run().assert();
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn edges(mut self, path: impl Into<PathBuf>) -> Self {
        self.edges = Some(path.into());
        self
    }

    /// Tries them, and says what is wrong. It waits until all is done, also inside an async runtime.
    ///
    /// # Panics
    ///
    /// When `CONTRACT_VERIFY_CASES` or `CONTRACT_VERIFY_SEED` is set to what is no number.
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
            Err(error) => unable(&format!("no thread could be started: {error}")),
        }
    }

    fn on_this_thread(&self) -> Report {
        let seed = set(SEED_SET).or(self.seed).unwrap_or_else(fresh);
        let runtime = match tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
        {
            Ok(runtime) => runtime,
            Err(error) => return unable(&format!("no async runtime could be started: {error}")),
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
            tools: Vec::new(),
            unsaved: None,
        };
        if names.is_empty() {
            report.tools.push(Verified::of_problem("", Fault::NoTools));
        }
        for name in names {
            let verified = self.one(&name, seed, &runtime, &mut report.unsaved);
            report.tools.push(verified);
        }
        report
    }

    fn one(
        &self,
        name: &str,
        seed: u64,
        runtime: &Runtime,
        unsaved: &mut Option<String>,
    ) -> Verified {
        let remembered = match self
            .regressions
            .as_deref()
            .map(|path| seeds::load(path, name))
        {
            None => Vec::new(),
            Some(Ok(remembered)) => remembered,
            Some(Err(why)) => return Verified::of_problem(name, Fault::Unreadable { why }),
        };
        let recorded = match self
            .edges
            .as_deref()
            .filter(|_| !is_update())
            .map(|path| Edges::load(path, name))
        {
            None => Edges::default(),
            Some(Ok(recorded)) => recorded,
            Some(Err(why)) => return Verified::of_problem(name, Fault::Unreadable { why }),
        };
        let effort = trial::Effort {
            cases: set(CASES_SET).or(self.cases).unwrap_or(CASES),
            seed,
            doubles: &self.doubles,
            runtime,
        };
        let mut verified = trial::run(&self.registry, name, &remembered, &recorded, &effort);
        if let Some(path) = self.edges.as_deref().filter(|_| is_update()) {
            let found = trial::edges(&self.registry, name, &effort);
            if let Err(why) = found.map_or(Ok(()), |found| found.save(path, name)) {
                let unrecorded = Verified::of_problem(name, Fault::Unrecorded { why });
                verified.problems.extend(unrecorded.problems);
            }
        }
        let failed: Vec<Value> = verified
            .problems
            .iter()
            .filter(|problem| !problem.fault.is_moved())
            .filter_map(|problem| problem.input.clone())
            .collect();
        if let (Some(path), false) = (&self.regressions, failed.is_empty())
            && let Err(why) = seeds::save(path, name, &failed)
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

fn fresh() -> u64 {
    // Seeded by the operating system; it need not be more than different each time.
    RandomState::new().build_hasher().finish()
}

fn unable(why: &str) -> Report {
    let why = why.to_owned();
    Report {
        seed: 0,
        tools: vec![Verified::of_problem("", Fault::Unjudged { why })],
        unsaved: None,
    }
}
