//! Enforcement policies, and which setting decides the policy of a condition.

use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

/// What happens when a condition is reached: whether it is evaluated, whether observers are told of a failure, and whether the
/// call ends.
///
/// The four are the evaluation semantics of contract assertions in C++26 (P2900R14, "Contracts for C++", 2025).
///
/// ```
/// use contract_runtime::Policy;
///
/// assert_eq!(Policy::default(), Policy::Enforce);
/// assert_eq!("observe".parse(), Ok(Policy::Observe));
/// assert_eq!(Policy::QuickEnforce.to_string(), "quick_enforce");
/// ```
///
/// | policy | evaluated | observers told | a failure ends the call |
/// |---|---|---|---|
/// | `Ignore` | no | no | no |
/// | `Observe` | yes | yes | no |
/// | `Enforce` | yes | yes | yes |
/// | `QuickEnforce` | yes | no | yes |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The condition is not evaluated.
    Ignore,
    /// The condition is evaluated. If it does not hold, observers are told, and the call continues.
    Observe,
    /// The condition is evaluated; observers are told of a failure, which ends the call.
    #[default]
    Enforce,
    /// The condition is evaluated; a failure ends the call, and observers are told of that end alone.
    QuickEnforce,
}

impl Policy {
    const ALL: [Self; 4] = [
        Self::Ignore,
        Self::Observe,
        Self::Enforce,
        Self::QuickEnforce,
    ];

    /// Returns the name used in attributes, exports and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Observe => "observe",
            Self::Enforce => "enforce",
            Self::QuickEnforce => "quick_enforce",
        }
    }

    /// Returns whether a failure under this policy ends the call.
    #[must_use]
    pub const fn ends_the_call(self) -> bool {
        matches!(self, Self::Enforce | Self::QuickEnforce)
    }

    /// Returns whether a failure under this policy is an event for observers.
    #[must_use]
    pub const fn tells_observers(self) -> bool {
        matches!(self, Self::Observe | Self::Enforce)
    }
}

impl std::fmt::Display for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is not one of `ignore`, `observe`, `enforce`, `quick_enforce`.
///
/// ```
/// use contract_runtime::Policy;
///
/// assert_eq!("observe".parse(), Ok(Policy::Observe));
/// let unknown = "off".parse::<Policy>().unwrap_err();
/// assert_eq!(
///     unknown.to_string(),
///     "unknown policy `off`; write `ignore`, `observe`, `enforce` or `quick_enforce`",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown policy `{given}`; write `ignore`, `observe`, `enforce` or `quick_enforce`")]
pub struct UnknownPolicy {
    given: String,
}

impl std::str::FromStr for Policy {
    type Err = UnknownPolicy;

    /// Reads the exact name of a policy.
    ///
    /// # Errors
    ///
    /// [`UnknownPolicy`] for any other text: a misspelt setting must not weaken a contract in silence.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| UnknownPolicy {
                given: text.chars().take(40).collect(),
            })
    }
}

/// Which setting decided the policy of a condition, strongest first.
///
/// ```
/// use contract_runtime::PolicyOrigin;
/// use contract_runtime::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// #[pre(number % 2 == 0, "only even numbers are halved")]
/// fn halve(number: u8) -> u8 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).override_policy("halve", Policy::Enforce).build()?;
/// let call = |arguments| registry.call(ToolCall::new("1", "halve", arguments)).blocking();
/// let outcome = call(r#"{"number": 5}"#);
/// assert_eq!(outcome.violation().unwrap().origin, PolicyOrigin::Override);
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PolicyOrigin {
    /// The operator's override for this tool.
    Override,
    /// The condition's own `policy = ..`.
    Condition,
    /// The tool's own `policy = ..`.
    Tool,
    /// The run (an agent, or a [`Context`](crate::Context)) that made the call.
    Run,
    /// The registry's default.
    Registry,
    /// The process default.
    Process,
}

impl PolicyOrigin {
    /// Returns the name used in exports and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Condition => "condition",
            Self::Tool => "tool",
            Self::Run => "run",
            Self::Registry => "registry",
            Self::Process => "process",
        }
    }
}

impl std::fmt::Display for PolicyOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The policy of one call, decided at its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) policy: Policy,
    pub(crate) origin: PolicyOrigin,
}

impl Resolved {
    /// The policy of a process that has not changed it.
    pub(crate) const USUAL: Self = Self {
        policy: Policy::Enforce,
        origin: PolicyOrigin::Process,
    };

    #[inline]
    pub(crate) fn process() -> Self {
        Self {
            policy: process_policy(),
            origin: PolicyOrigin::Process,
        }
    }

    /// Returns the policy of one condition of the call.
    #[inline]
    pub(crate) fn of_condition(self, own: Option<Policy>) -> Self {
        match own {
            Some(policy) if self.origin != PolicyOrigin::Override => Self {
                policy,
                origin: PolicyOrigin::Condition,
            },
            _ => self,
        }
    }

    /// Returns the policy of a function that is called by this one and may have a setting of its own.
    #[inline]
    pub(crate) fn of_function(self, own: Option<Policy>) -> Self {
        match own {
            Some(policy) if self.origin != PolicyOrigin::Override => Self {
                policy,
                origin: PolicyOrigin::Tool,
            },
            _ => self,
        }
    }
}

/// The process policy and the flag [`WATCHED`], in one value because every direct call reads both.
static PROCESS: AtomicU8 = AtomicU8::new(Policy::Enforce as u8);

/// The flag that an observer of the process is told of each condition.
const WATCHED: u8 = 4;

/// Returns the policy that applies where no stronger setting does; [`Policy::Enforce`] unless it was changed.
///
/// ```
/// assert_eq!(contract_runtime::process_policy(), contract_runtime::Policy::Enforce);
/// ```
#[must_use]
#[inline]
pub fn process_policy() -> Policy {
    match PROCESS.load(Ordering::Relaxed) & !WATCHED {
        0 => Policy::Ignore,
        1 => Policy::Observe,
        3 => Policy::QuickEnforce,
        _ => Policy::Enforce,
    }
}

/// Returns whether the policy of the process is the one it began with, and no observer of it watches conditions.
#[inline]
pub(crate) fn is_usual() -> bool {
    PROCESS.load(Ordering::Relaxed) == Policy::Enforce as u8
}

/// Sets the policy that applies where no stronger setting does, for the whole process.
///
/// Calls that have already begun keep the policy they were given at entry.
///
/// ```
/// use contract_runtime::{Policy, process_policy, set_process_policy};
///
/// set_process_policy(Policy::Observe);
/// assert_eq!(process_policy(), Policy::Observe);
/// # set_process_policy(Policy::Enforce);
/// ```
pub fn set_process_policy(policy: Policy) {
    set(WATCHED, policy as u8);
}

pub(crate) fn is_watched() -> bool {
    PROCESS.load(Ordering::Relaxed) & WATCHED != 0
}

pub(crate) fn set_watched(watched: bool) {
    set(!WATCHED, u8::from(watched) * WATCHED);
}

fn set(kept: u8, bits: u8) {
    let change = |old| Some(old & kept | bits);
    let _ = PROCESS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
}
