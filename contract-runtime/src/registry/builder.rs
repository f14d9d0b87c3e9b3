#[cfg(feature = "verify")]
mod alone;
mod before;

use std::any::TypeId;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::Registry;
use super::before::Before;
use super::build_error::{BuildError, BuildProblem};
use super::entry::{Entry, Settings};
use super::inner::{Inner, Limits, Program};
use super::{findings, shown};
use crate::contract::policy::Policy;
use crate::contract::scope::Authority;
use crate::contract::violation::Violation;
use crate::tool::arguments::nearest;
use crate::tool::context::Shared;
use crate::tool::lookup::Own;
use crate::tool::shim::Registered;
use crate::tool::{Tool, ToolSet};

/// Chooses the tools of a registry and how it treats them.
///
/// Selections (`only`, `without`, `rename`) act on the tools added before them; `prefix` on those added since the last one. Every mistake is reported by
/// [`build`](Self::build), together with the others.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Read a file.
/// #[tool(read_only)]
/// fn read(path: String) -> String {
///     path
/// }
///
/// let registry = Registry::builder().tool(read).prefix("fs_").policy(Policy::Observe).build()?;
/// assert!(registry.tool("fs_read").is_some());
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    tools: Vec<Tool>,
    problems: Vec<BuildProblem>,
    shared: Shared,
    per_call: HashSet<TypeId>,
    authority: Authority,
    overrides: HashMap<String, Policy>,
    limits: Limits,
    timeout: Option<Duration>,
    coerce: bool,
    without_contexts: bool,
    shown: bool,
    program: Option<Program>,
    before: Before,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            tools: Vec::new(),
            problems: Vec::new(),
            shared: Shared::default(),
            per_call: HashSet::new(),
            authority: Authority::default(),
            overrides: HashMap::new(),
            limits: Limits::default(),
            timeout: None,
            coerce: false,
            without_contexts: false,
            shown: false,
            program: None,
            before: Before::default(),
        }
    }

    /// Adds one tool: the function itself.
    #[track_caller]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a function item is a name, and its type says all"
    )]
    pub fn tool<F: 'static>(mut self, function: F) -> Self {
        let _ = function;
        let of = TypeId::of::<F>();
        match linked().find(|registered| (registered.function)() == of) {
            Some(registered) => self.tools.push(made(registered)),
            None => self.problems.push(BuildProblem::NotATool {
                location: std::panic::Location::caller().to_string(),
            }),
        }
        self
    }

    /// Adds the tools of a state: an `impl` block under `#[tool]`, by value or in an `Arc`; or a list of [`Tool`]s.
    pub fn with(mut self, tools: impl ToolSet) -> Self {
        self.tools.extend(tools.into_tools());
        self
    }

    /// Adds the free functions of a package that are linked into the program.
    pub fn package(mut self, name: &str) -> Self {
        let before = self.tools.len();
        self.tools.extend(
            linked()
                .filter(|registered| registered.spec.package == name)
                .map(made),
        );
        if self.tools.len() == before {
            self.problems.push(BuildProblem::PackageNotLinked {
                package: name.to_owned(),
            });
        }
        self
    }

    /// Adds the free functions of the calling package, which may have none.
    #[doc(hidden)]
    pub fn own_package(mut self, name: &str) -> Self {
        self.tools.extend(
            linked()
                .filter(|registered| registered.spec.package == name)
                .map(made),
        );
        self
    }

    /// The package and the version that offer the tools, as a server and a program call themselves.
    #[doc(hidden)]
    pub fn program(mut self, name: &'static str, version: &'static str) -> Self {
        self.program = Some(Program { name, version });
        self
    }

    #[cfg(feature = "cli")]
    pub(crate) fn names(&self) -> Option<Program> {
        self.program
    }

    /// Adds every tool that any package of the program registers, known to its author or not.
    pub fn everything_linked(mut self) -> Self {
        self.tools.extend(linked().map(made));
        self
    }

    /// Keeps only these of the tools added so far.
    pub fn only<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<N> = names.into_iter().collect();
        for name in &names {
            self.expect("only", name.as_ref());
        }
        self.tools
            .retain(|tool| names.iter().any(|name| name.as_ref() == tool.name));
        self
    }

    /// Leaves these out of the tools added so far.
    pub fn without<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        for name in names {
            self.expect("without", name.as_ref());
            self.tools.retain(|tool| tool.name != name.as_ref());
        }
        self
    }

    /// Puts a text before the names of the tools added since the last prefix.
    pub fn prefix(mut self, prefix: &str) -> Self {
        for tool in self.tools.iter_mut().filter(|tool| !tool.prefixed) {
            tool.prefixed = true;
            tool.name.insert_str(0, prefix);
        }
        self
    }

    /// Gives a tool added so far another name.
    pub fn rename(mut self, from: &str, to: impl Into<String>) -> Self {
        self.expect("rename", from);
        let to = to.into();
        for tool in &mut self.tools {
            if tool.name == from {
                tool.name.clone_from(&to);
            }
        }
        self
    }

    fn expect(&mut self, method: &'static str, name: &str) {
        let known = self.tools.iter().any(|tool| tool.name == name);
        if !known {
            self.problems.push(BuildProblem::NoSuchTool {
                method,
                name: name.to_owned(),
                nearest: nearest(name, self.tools.iter().map(Tool::name)).map(str::to_owned),
            });
        }
    }

    /// Gives a value to the `#[context]` parameters of its type.
    pub fn context<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.context_arc(Arc::new(value))
    }

    /// Gives a value that is already shared.
    pub fn context_arc<T: Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.shared.insert(value);
        self
    }

    /// Says that each call brings a value of this type in its [`Context`](crate::Context).
    pub fn context_per_call<T: Send + Sync + 'static>(mut self) -> Self {
        self.per_call.insert(TypeId::of::<T>());
        self
    }

    /// The policy of every condition whose author and run did not choose one.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.authority.policy = Some(policy);
        self
    }

    /// Overrules the author of one tool: the policy of all its conditions, whatever they say themselves.
    pub fn override_policy(mut self, tool: impl Into<String>, policy: Policy) -> Self {
        self.overrides.insert(tool.into(), policy);
        self
    }

    /// Is told about violations, where the run has no handler of its own; must be quick, and changes no decision.
    pub fn on_violation(mut self, handler: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        self.authority.handler = Some(Arc::new(handler));
        self
    }

    /// The timeout of every async and `blocking` tool that has none of its own.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Reads `"5"` as a number and `"true"` as a boolean where the schema wants one; the outcome says so.
    pub fn coerce(mut self, coerce: bool) -> Self {
        self.coerce = coerce;
        self
    }

    /// Demands of every precondition what `shown` demands of one: that the schema or a portable rule says all of it.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Reverse a word.
    /// #[tool]
    /// #[pre(word.trim() == word, "no blanks around the word")]
    /// fn reverse(word: String) -> String {
    ///     word.chars().rev().collect()
    /// }
    ///
    /// let error = Registry::builder().tool(reverse).require_shown().build().unwrap_err();
    /// assert!(error.to_string().contains("`word.trim()` is not portable"));
    /// ```
    pub fn require_shown(mut self) -> Self {
        self.shown = true;
        self
    }

    /// Builds also without the values that tools ask for, as long as nothing is called.
    pub(crate) fn without_contexts(mut self) -> Self {
        self.without_contexts = true;
        self
    }

    /// The longest arguments that are read at all, in bytes; 1 MiB unless set.
    pub fn max_argument_bytes(mut self, bytes: usize) -> Self {
        self.limits.argument_bytes = bytes;
        self
    }

    /// How many characters of an output are kept, 100,000 unless set: of a longer one the head and the tail, with a line
    /// between them that says how many are left out.
    pub fn max_output_chars(mut self, chars: usize) -> Self {
        self.limits.output_chars = chars;
        self
    }

    /// How many read-only calls of one batch run side by side; 4 unless set, at least 1.
    pub fn parallel(mut self, calls: usize) -> Self {
        self.limits.parallel = calls.max(1);
        self
    }

    /// How many calls may run at once before the next is `overloaded`; not limited unless set.
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.limits.calls = Some(calls);
        self
    }

    /// How many blocking bodies may run at once before the next call of one is `overloaded`; 64 unless set.
    ///
    /// A body that was given up by a timeout counts until it ends.
    pub fn max_blocking(mut self, bodies: usize) -> Self {
        self.limits.blocking = bodies;
        self
    }

    /// Closes the set.
    ///
    /// # Errors
    ///
    /// [`BuildError`] with every [`BuildProblem`]: names that clash or are not legal, values that nobody gives, functions that
    /// are no tools, packages that are not linked, selections that name nothing, schemas that cannot be used, conditions that
    /// must be shown and cannot be.
    pub fn build(mut self) -> Result<Registry, BuildError> {
        let mut overrides = std::mem::take(&mut self.overrides)
            .into_iter()
            .collect::<Vec<_>>();
        overrides.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, _) in &overrides {
            self.expect("override_policy", name);
        }
        let overrides: HashMap<_, _> = overrides.into_iter().collect();
        self.tools
            .sort_by(|one, other| (&one.name, &one.location).cmp(&(&other.name, &other.location)));
        self.check_names();
        let settings = Settings {
            coerce: self.coerce,
            timeout: self.timeout,
        };
        let mut problems = self.problems;
        let mut entries = Vec::with_capacity(self.tools.len());
        for tool in self.tools {
            let overruled = overrides.get(&tool.name).copied();
            let Some(entry) = Entry::new(tool, overruled, &settings, &mut problems) else {
                continue;
            };
            shown::judge(&entry, self.shown, &mut problems);
            findings::judge(&entry, &mut problems);
            for need in &entry.needs {
                let given = self.without_contexts
                    || need.optional
                    || Own::has(need.of)
                    || self.shared.has(need.of)
                    || self.per_call.contains(&need.of);
                if !given {
                    problems.push(BuildProblem::MissingContext {
                        tool: entry.tool.name.clone(),
                        type_name: need.name,
                        location: entry.tool.location.clone(),
                    });
                }
            }
            entries.push(entry);
        }
        if !problems.is_empty() {
            return Err(BuildError::new(problems));
        }
        Ok(Registry {
            inner: Arc::new(Inner::new(
                entries,
                self.shared,
                self.authority,
                self.limits,
                self.program,
                self.before,
            )),
        })
    }

    fn check_names(&mut self) {
        for tool in &self.tools {
            if !is_tool_name(&tool.name) {
                self.problems.push(BuildProblem::BadName {
                    name: tool.name.clone(),
                    location: tool.location.clone(),
                });
            }
        }
        for pair in self.tools.windows(2) {
            if let [one, other] = pair
                && one.name == other.name
            {
                self.problems.push(BuildProblem::DuplicateName {
                    name: one.name.clone(),
                    first: one.location.clone(),
                    second: other.location.clone(),
                });
            }
        }
    }
}

/// `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`: what every provider accepts.
pub(crate) fn is_tool_name(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    begins && name.len() <= 64 && name.chars().all(goes_on)
}

fn linked() -> impl Iterator<Item = &'static Registered> {
    inventory::iter::<Registered>.into_iter()
}

fn made(registered: &'static Registered) -> Tool {
    Tool::generated(registered.spec, Arc::new(registered))
}
