//! Builds a registry.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashSet;
use std::future::Future;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{RwLock, Semaphore};

use super::Registry;
use super::approval::OpenRequests;
use super::asks::AskChange;
use super::build_error::{BuildError, BuildProblem};
use super::entry::{Entry, Settings};
use super::inner::{Inner, Limits, Program, Visibility};
use super::statistics::Shards;
use super::{findings, methods};
use crate::contract::ToolFunction;
use crate::contract::approval::{ApprovalRequest, Approver, Decided};
use crate::contract::policy::Policy;
use crate::contract::scope::PolicyLayer;
use crate::schema::TypeSchemas;
use crate::schema::arguments::nearest;
use crate::tool::context::Values;
use crate::tool::context_params::CallExtensions;
use crate::tool::observe::Observer;
use crate::tool::run::CallHooks;
use crate::tool::shim::{Registered, linked};
use crate::tool::{Context, Tool, ToolCall, ToolSet};

/// Builds a [`Registry`]: selects its tools and configures how they are called.
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
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
#[derive(Default)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    tools: Vec<Tool>,
    problems: Vec<BuildProblem>,
    shared: Values,
    per_call: HashSet<TypeId>,
    layer: PolicyLayer,
    settings: Settings,
    observer: Observer,
    limits: Limits,
    without_contexts: bool,
    /// It gets some of the tools that its conditions were written for.
    partial: bool,
    program: Option<Program>,
    /// The package of `registry!()`, while nothing of it was found and nothing else was added.
    empty: Option<String>,
    before: CallHooks,
    pub(super) visibility: Visibility,
    states: usize,
    /// The packages of `package`, until `only` says which tools are meant.
    packages: Vec<String>,
    /// The methods that states brought, with the file that each stands in.
    methods: Vec<(&'static str, Cow<'static, str>)>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Adds one tool: the function itself.
    #[track_caller]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a function item is a name, and its type says all"
    )]
    pub fn tool<F: ToolFunction<S>, S>(mut self, function: F) -> Self {
        let _ = function;
        self.empty = None;
        let of = TypeId::of::<F>();
        match linked().find(|registered| (registered.function)() == of) {
            Some(registered) => self.tools.push(made(registered)),
            None => self.problems.push(BuildProblem::NotATool {
                function: std::any::type_name::<F>(),
                location: std::panic::Location::caller().to_string(),
            }),
        }
        self
    }

    /// Adds the tools of a state: an `impl` block under `#[tool]`, by value or in an `Arc`; or a [`Tool`], or a list of them.
    pub fn with(mut self, tools: impl ToolSet) -> Self {
        self.empty = None;
        self.states += 1;
        for mut tool in tools.into_tools() {
            tool.state = self.states;
            let spec = tool.spec();
            self.methods
                .extend(spec.map(|spec| (spec.contract.file, tool.name.clone())));
            self.tools.push(tool);
        }
        self
    }

    /// Adds the free functions of a package that are linked into the program. Methods come by [`with`](Self::with); `build`
    /// reports those that are missing, unless [`only`](Self::only) names the tools that are wanted.
    pub fn package(mut self, name: &str) -> Self {
        self.empty = None;
        self.packages.push(name.to_owned());
        if !self.add_package(name) && methods::of_package(name).is_empty() {
            let plain = |package: &str| package.replace('-', "_");
            let known = || linked().map(|registered| registered.spec.package);
            let meant = known().find(|known| plain(known) == plain(name));
            self.problems.push(BuildProblem::PackageNotLinked {
                package: name.to_owned(),
                nearest: meant.or_else(|| nearest(name, known())).map(str::to_owned),
            });
        }
        self
    }

    /// Adds the free functions of the calling package; it may have none if other tools are added.
    #[doc(hidden)]
    pub fn own_package(mut self, name: &str) -> Self {
        if !self.add_package(name) {
            self.empty = Some(name.to_owned());
        }
        self
    }

    /// Whether the package has any.
    #[doc(hidden)]
    pub fn add_package(&mut self, name: &str) -> bool {
        let before = self.tools.len();
        let of_package = linked().filter(|registered| registered.spec.package == name);
        self.tools.extend(of_package.map(made));
        self.tools.len() > before
    }

    /// Sets the name and version of the program that offers the tools, as servers and command lines show them.
    #[doc(hidden)]
    pub fn program(mut self, name: &'static str, version: &'static str) -> Self {
        self.program = Some(Program { name, version });
        self
    }

    /// Returns the name and version of the program that offers the tools, if [`registry!`](crate::registry) set them.
    #[must_use]
    pub fn program_names(&self) -> Option<Program> {
        self.program
    }

    /// Adds every tool that any package linked into the program registers, including those of dependencies.
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
        self.packages.clear();
        self.tools
            .retain(|tool| names.iter().any(|name| name.as_ref() == tool.name));
        self
    }

    /// Removes these from the tools added so far.
    pub fn without<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        for name in names {
            self.expect("without", name.as_ref());
            self.tools.retain(|tool| tool.name != name.as_ref());
        }
        self
    }

    /// Adds a prefix to the names of the tools added since the last prefix. `build` refuses a prefix that no tool gets, unless it
    /// is empty.
    pub fn prefix(mut self, prefix: &str) -> Self {
        if !prefix.is_empty() && self.tools.iter().all(|tool| tool.set.is_some()) {
            self.problems.push(BuildProblem::PrefixOfNothing {
                prefix: prefix.to_owned(),
            });
        }
        let sets = self.tools.iter().filter_map(|tool| tool.set);
        let next = sets.max().map_or(0, |last| last + 1);
        for tool in self.tools.iter_mut().filter(|tool| tool.set.is_none()) {
            tool.set = Some(next);
            tool.name.to_mut().insert_str(0, prefix);
        }
        self
    }

    /// Renames a tool added so far.
    pub fn rename(mut self, from: &str, to: impl Into<String>) -> Self {
        self.expect("rename", from);
        let to = to.into();
        for tool in &mut self.tools {
            if tool.name == from {
                tool.name = Cow::Owned(to.clone());
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

    /// Provides a value to the `#[context]` parameters of its type.
    pub fn context<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.context_arc(Arc::new(value))
    }

    /// Provides a value that is already shared, as [`context`](Self::context) does.
    pub fn context_arc<T: Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.shared.insert(TypeId::of::<T>(), value);
        self
    }

    /// Declares that each call brings a value of this type in its [`Context`](crate::Context).
    pub fn context_per_call<T: Send + Sync + 'static>(mut self) -> Self {
        self.per_call.insert(TypeId::of::<T>());
        self
    }

    /// Sets the policy of every condition for which neither its author nor the run chose one.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.settings.policy = Some(policy);
        self
    }

    /// Overrides the policy of all conditions of one tool, whatever its author chose.
    pub fn override_policy(mut self, tool: impl Into<String>, policy: Policy) -> Self {
        self.settings.overrides.insert(tool.into(), policy);
        self
    }

    /// Adds an observer of the calls of this registry, besides those of the context, the run and the process.
    pub fn observe(mut self, observer: Observer) -> Self {
        self.observer.add(observer);
        self
    }

    /// Sets the timeout of every async and `blocking` tool that has none of its own.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Corrects what models often send in the wrong type, at each place once: `"5"` is read as a number, `"true"` as a boolean,
    /// and the JSON text of null, a list or an object as that value, where the schema wants one and accepts no string; a single
    /// value becomes a list of it where a list of such values is wanted. The outcome lists what was corrected, and conditions
    /// are evaluated on the result.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Count the words.
    /// #[tool(read_only)]
    /// fn count(words: Vec<String>) -> usize {
    ///     words.len()
    /// }
    ///
    /// let registry = Registry::builder().tool(count).coerce(true).build()?;
    /// let outcome = registry.call(ToolCall::new("1", "count", r#"{"words":"[\"a\",\"b\"]"}"#)).blocking();
    /// assert_eq!(outcome.output(), Some("2"));
    /// assert_eq!(outcome.coercions()[0].pointer, "/words");
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn coerce(mut self, coerce: bool) -> Self {
        self.settings.coerce = coerce;
        self
    }

    /// Leaves out keys that no schema knows instead of refusing them; the outcome lists them with its coercions.
    ///
    /// Models copy whole search results into the next call. Of a misspelt key of an optional parameter the default is then
    /// used, so this is for tools that only read, or whose parameters are all required. What is published does not change.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Show an order.
    /// #[tool(read_only)]
    /// fn order(id: u32) -> u32 {
    ///     id
    /// }
    ///
    /// let registry = Registry::builder().tool(order).ignore_unknown_keys(true).build()?;
    /// let outcome = registry.call(ToolCall::new("1", "order", r#"{"id":7,"rank":0.4}"#)).blocking();
    /// assert_eq!(outcome.output(), Some("7"));
    /// assert_eq!(outcome.coercions()[0].pointer, "/rank");
    /// assert!(outcome.coercions()[0].left_out);
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn ignore_unknown_keys(mut self, ignore: bool) -> Self {
        self.settings.ignore_unknown_keys = ignore;
        self
    }

    /// Sets a hook that runs before every call by name, sees its [`Context`], may wait for as long as its caller does, and may
    /// refuse it. It runs before anything else: also for calls of unknown tools, for calls whose arguments will be refused, and for
    /// each call of a batch, without blocking the others.
    ///
    /// A call that is refused ends as [`refused`](crate::Status::Refused), with the reason as its error; nothing of it runs. A hook
    /// that panics refuses too, and the call ends as [`panicked`](crate::Status::Panicked). Where several are given, each is asked,
    /// in the order in which they were given, until one refuses. A call that brings the [`Answer`](crate::approval::Answer) to what it asked
    /// has passed its hooks before and is not asked about again. Nor is a check that runs nothing
    /// ([`Registry::check`](crate::Registry::check)), and a direct Rust call passes no registry.
    /// A refused call yields once to its runtime, so that a task that only makes such calls can still be dropped.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use contract_runtime::Status;
    /// use contract_runtime::prelude::*;
    /// use tokio::sync::Semaphore;
    ///
    /// /// Say hello.
    /// #[tool]
    /// fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// let left = Arc::new(Semaphore::new(1));
    /// let take = move |_, context: Context| {
    ///     let left = Arc::clone(&left);
    ///     async move {
    ///         let user = context.caller().unwrap_or("anonymous");
    ///         let permit = left.try_acquire().map_err(|_| format!("no calls are left for {user}"))?;
    ///         Ok(permit.forget())
    ///     }
    /// };
    /// let registry = Registry::builder().tool(hello).before_call(take).build()?;
    /// let call = || {
    ///     let context = Context::new().identified_as("ada");
    ///     registry.call(ToolCall::new("1", "hello", "")).context(context).blocking()
    /// };
    /// assert_eq!(call().output(), Some("hello"));
    /// assert_eq!(call().status(), Status::Refused);
    /// assert_eq!(call().error(), Some("no calls are left for ada"));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn before_call<F>(
        mut self,
        ask: impl Fn(ToolCall, Context) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.before.add(ask);
        self
    }

    /// Sets who decides on calls that ask, if neither the call nor its run has an approver.
    ///
    /// The call waits for the decision, up to the deadline and the cancellation of its caller; while it waits nothing of it is
    /// held, and the timeout of the tool begins anew behind it. Without an approver the call ends as
    /// [`asked`](crate::Status::Asked), and the caller may make it again with an [`Answer`](crate::approval::Answer). A call that a tool
    /// makes is denied, unless the decision is there at once or the call is one of a [`Run`](crate::Run) of its own, such as of an
    /// agent in the tool. An approver that panics has denied.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::approval::{Approval, Decision};
    /// use contract_runtime::Status;
    ///
    /// /// Cancel an order.
    /// #[tool(destructive, confirm = "Cancel order {order_id}?")]
    /// fn cancel(order_id: String) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder()
    ///     .tool(cancel)
    ///     .approver(async |request| match request.questions[0].text.as_str() {
    ///         "Cancel order \"W1\"?" => Decision::Approved(Approval::Once),
    ///         _ => Decision::Denied("only W1 may be cancelled".to_owned()),
    ///     })
    ///     .build()?;
    /// let call = |id| ToolCall::new("1", "cancel", format!(r#"{{"order_id":"{id}"}}"#));
    /// assert!(registry.call(call("W1")).await.is_ok());
    /// let denied = registry.call(call("W2")).await;
    /// assert_eq!(denied.status(), Status::Denied);
    /// assert_eq!(denied.error().unwrap(), "not started, because it was denied: only W1 may be cancelled");
    /// # Ok(()) }
    /// ```
    pub fn approver<F>(
        mut self,
        approver: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output: Into<Decided>> + Send + 'static,
    {
        self.layer.approver = Some(Approver::new(approver));
        self
    }

    /// Lets a person decide where the precondition with this id does not hold, which its author made a refusal.
    ///
    /// Conditions have an id from `id = ".."`; those of a dynamic tool are known by their names.
    pub fn ask(self, tool: impl Into<String>, condition: impl Into<String>) -> Self {
        self.changing(Some(tool.into()), Some(condition.into()), true)
    }

    /// Makes a refusal of the precondition with this id, about which its author asks.
    pub fn without_ask(self, tool: impl Into<String>, condition: impl Into<String>) -> Self {
        self.changing(Some(tool.into()), Some(condition.into()), false)
    }

    /// Lets a person decide on every call of a tool, as `#[tool(confirm = "..")]` does.
    pub fn confirm(self, tool: impl Into<String>) -> Self {
        self.changing(Some(tool.into()), None, true)
    }

    /// Removes the question about every call of a tool.
    pub fn without_confirm(self, tool: impl Into<String>) -> Self {
        self.changing(Some(tool.into()), None, false)
    }

    /// Asks nobody about every call of any tool, where a person has agreed to all of them; a later
    /// [`confirm`](Self::confirm) of one tool holds. What conditions ask is not touched.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Cancel an order.
    /// #[tool(confirm = "Cancel order {id}?")]
    /// fn cancel(id: u32) -> u32 {
    ///     id
    /// }
    ///
    /// let registry = Registry::builder().tool(cancel).without_confirms().build()?;
    /// let outcome = registry.call(ToolCall::new("1", "cancel", r#"{"id":7}"#)).blocking();
    /// assert_eq!(outcome.output(), Some("7"));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn without_confirms(self) -> Self {
        self.changing(None, None, false)
    }

    fn changing(mut self, tool: Option<String>, condition: Option<String>, asks: bool) -> Self {
        self.settings.asks.push(AskChange {
            tool,
            condition,
            asks,
        });
        self
    }

    /// Builds also without the values that tools ask for, as long as nothing is called.
    #[doc(hidden)]
    pub fn without_contexts(mut self) -> Self {
        self.without_contexts = true;
        self.partial = true;
        self
    }

    /// Sets the longest arguments that are read, in bytes; the default is 1 MiB.
    pub fn max_argument_bytes(mut self, bytes: usize) -> Self {
        self.limits.argument_bytes = bytes;
        self
    }

    /// Sets how many characters of an output are kept; the default is 100,000. Of a longer output the head and the tail
    /// are kept, with a line between them that says how many characters are left out.
    pub fn max_output_chars(mut self, chars: usize) -> Self {
        self.limits.output_chars = chars;
        self
    }

    /// Sets how many read-only calls of one batch run concurrently; the default is 4, the minimum 1.
    pub fn parallel(mut self, calls: usize) -> Self {
        self.limits.parallel = calls.max(1);
        self
    }

    /// Sets how many calls may run at once before further ones end as `overloaded`; unlimited by default.
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.limits.calls = Some(calls);
        self
    }

    /// Sets how many blocking bodies may run at once before further calls of such tools end as `overloaded`; the default
    /// is 64.
    ///
    /// A body that was given up by a timeout counts until it ends.
    pub fn max_blocking(mut self, bodies: usize) -> Self {
        self.limits.blocking = bodies;
        self
    }

    /// Sets how deep calls by name may be nested, where a tool calls another; the default is 16, the minimum 1. A deeper
    /// call ends as `failed`, and nothing of it runs.
    ///
    /// Each level takes stack from the thread that runs it: up to 64 kB in a debug build, and what the tool has on it. So tools
    /// that have more than 64 kB each there need a lower limit, or a thread with more than the usual 2 MiB. Tasks and threads
    /// count where [`ContractScope`](crate::ContractScope) is carried into them.
    pub fn max_depth(mut self, calls: usize) -> Self {
        self.limits.depth = calls.max(1);
        self
    }

    /// With the values that another registry gives.
    pub(crate) fn sharing(mut self, shared: &Values) -> Self {
        self.shared.clone_from(shared);
        self
    }

    /// Leaves these tools, as another registry has them; those that were added here as well, with the state that they have here.
    pub(crate) fn leaving(mut self, entries: &[&Entry]) -> Self {
        let added: Vec<Tool> = self.tools.drain(..).collect();
        self.tools = entries
            .iter()
            .map(|entry| narrowed(&added, entry))
            .collect();
        self.settings.overrides.clear();
        self.settings.asks.clear();
        self.partial = true;
        // A result is judged whole.
        self.limits.output_chars = usize::MAX;
        self
    }

    /// Builds the registry; its set of tools is fixed from then on.
    ///
    /// # Errors
    ///
    /// [`BuildError`] with every [`BuildProblem`]: names that clash or are not legal, values that nobody gives, functions that
    /// are not tools, packages that are not linked, a `registry!()` that finds no tool, selections that name nothing, schemas that cannot be used,
    /// conditions that ask the history about a function that is not a tool.
    pub fn build(mut self) -> Result<Registry, BuildError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let overridden = self.settings.overrides.keys();
        let overridden = overridden.map(|tool| ("override_policy", tool.clone()));
        let asks = self.settings.asks.iter();
        let asks = asks.filter_map(|change| Some((change.method(), change.tool.clone()?)));
        for (method, tool) in overridden.chain(asks).collect::<Vec<_>>() {
            self.expect(method, &tool);
        }
        if let Some(package) = self.empty.take().filter(|_| self.tools.is_empty()) {
            self.problems.push(BuildProblem::NoTools { package });
        }
        self.check_methods();
        self.tools
            .sort_by(|one, other| (&one.name, &one.location).cmp(&(&other.name, &other.location)));
        self.check_names();
        let mut types = TypeSchemas::default();
        let mut problems = take(&mut self.problems);
        let mut entries = Vec::with_capacity(self.tools.len());
        for tool in take(&mut self.tools) {
            let Some(entry) = Entry::new(tool, &self.settings, &mut types, &mut problems) else {
                continue;
            };
            findings::judge(&entry, &mut problems);
            for need in &*entry.needs {
                let given = self.without_contexts
                    || need.optional
                    || CallExtensions::has(need.of)
                    || self.shared.contains_key(&need.of)
                    || self.per_call.contains(&need.of);
                if !given {
                    let (tool, location) = entry.tool.place();
                    let type_name = need.name;
                    problems.push(BuildProblem::MissingContext {
                        tool,
                        type_name,
                        location,
                    });
                }
            }
            entries.push(entry);
        }
        findings::judge_history(&entries, self.partial, &mut problems);
        if !problems.is_empty() {
            return Err(BuildError::new(problems));
        }
        self.layer.policy = self.settings.policy;
        self.layer.watchers.clone_from(&self.observer.watchers);
        let name = |entry: &Entry| Box::from(entry.tool.name());
        let renamed = |entry: &Entry| !entry.inputs.schema.renames().is_empty();
        let inner = Inner {
            places: entries.iter().map(name).zip(0..).collect(),
            renames: entries.iter().any(renamed),
            entries,
            shared: self.shared,
            shards: Shards::new(&self.layer),
            observer: self.observer,
            limits: self.limits,
            program: self.program,
            before: self.before,
            visibility: self.visibility,
            calls: self.limits.calls.map(permits),
            blocking: Arc::new(permits(self.limits.blocking)),
            gate: RwLock::new(()),
            exports: Default::default(),
            open_requests: OpenRequests::default(),
            history_tools: OnceLock::new(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
        };
        let inner = Arc::new(inner);
        Ok(Registry { inner, view: None })
    }

    /// Reports the methods of the chosen packages that no state brought.
    fn check_methods(&mut self) {
        let sets = self
            .packages
            .iter()
            .flat_map(|name| methods::of_package(name));
        let missing = sets.filter(|set| !self.methods.iter().any(|one| set.has(one)));
        let missing: Vec<String> = missing.map(|set| set.to_string()).collect();
        if !missing.is_empty() {
            self.problems
                .push(BuildProblem::MethodsLeftOut { methods: missing });
        }
    }

    fn check_names(&mut self) {
        for tool in &self.tools {
            if !is_tool_name(&tool.name) {
                let (name, location) = tool.place();
                self.problems.push(BuildProblem::BadName { name, location });
            }
        }
        for pair in self.tools.windows(2) {
            if let [one, other] = pair
                && one.name == other.name
            {
                self.problems.push(BuildProblem::DuplicateName {
                    name: one.name.to_string(),
                    first: one.location.to_string(),
                    second: other.location.to_string(),
                });
            }
        }
    }
}

fn permits(most: usize) -> Semaphore {
    Semaphore::new(most.min(Semaphore::MAX_PERMITS))
}

fn narrowed(added: &[Tool], entry: &Entry) -> Tool {
    let wanted = &entry.tool;
    let same = |tool: &&Tool| {
        let named = tool.name == wanted.name
            || tool.spec().is_some_and(|spec| {
                wanted
                    .spec()
                    .is_some_and(|wanted| spec.contract.name == wanted.contract.name)
            });
        named && tool.location == wanted.location
    };
    let own = added.iter().rfind(same).cloned();
    let mut tool = own.unwrap_or_else(|| entry.tool.clone());
    tool.name.clone_from(&wanted.name);
    tool.timeout = entry.timeout;
    tool.coerce = entry.inputs.coerce;
    tool
}

/// Whether every provider accepts the name: `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`.
#[must_use]
pub fn is_tool_name(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    begins && name.len() <= 64 && name.chars().all(goes_on)
}

fn made(registered: &'static Registered) -> Tool {
    let function = (registered.function)();
    Tool::generated(registered.spec, function, Arc::new(registered))
}
