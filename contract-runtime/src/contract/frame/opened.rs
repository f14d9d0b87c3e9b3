//! Opens the frame of an execution, of a direct call or of a call by name, and takes the step from the conditions to the body.

use super::{Frame, FrameOf, Phase, Stop};
use crate::contract::condition::{Contract, ContractOf};
use crate::contract::counts::Reached;
use crate::contract::policy::{self, Policy, PolicyOrigin, Resolved};
use crate::contract::scope::ContractScope;
use crate::contract::thread::with_current;
use crate::contract::{nesting, scope};

/// Where conditions are too deep in conditions to be judged, and no panic can say so.
const NOT_JUDGED: Resolved = Resolved {
    policy: Policy::Ignore,
    origin: PolicyOrigin::Override,
};

impl Frame {
    /// A direct Rust call.
    #[must_use]
    #[inline]
    pub fn direct(contract: &'static Contract) -> Self {
        let judging = nesting::begin();
        if judging && ContractScope::is_outermost() && policy::is_usual() {
            let policy = Resolved::USUAL.of_function(contract.policy);
            return Self::quiet(contract, policy, false, true);
        }
        Self::direct_otherwise(contract, judging)
    }

    /// The same of a function that may wait before its body, while others run on its thread and it goes on on another: each of its
    /// conditions is counted for itself.
    #[must_use]
    pub fn direct_later(contract: &'static Contract) -> Self {
        let scope = ContractScope::current();
        let policy = scope.policy().of_function(contract.policy);
        let mut frame = Self::quiet(contract, policy, false, true).within(scope);
        frame.phase = Phase::Before;
        frame.is_quiet = false;
        frame
    }

    /// Inside of a call, too deep in conditions, or under another policy of the process.
    #[inline(never)]
    fn direct_otherwise(contract: &'static Contract, judging: bool) -> Self {
        let scope = ContractScope::current();
        let policy = if judging {
            scope.policy().of_function(contract.policy)
        } else {
            NOT_JUDGED
        };
        Self::quiet(contract, policy, false, judging).within(scope)
    }
}

impl<'c> FrameOf<'c> {
    /// A call by name that brought nothing but its arguments, under the policy of its scope.
    #[inline]
    pub(crate) fn bare(contract: &'c ContractOf<'c>, policy: Resolved) -> Self {
        Self::quiet(contract, policy, true, false)
    }

    /// A call by name, in whose scope everything happens; its policy was resolved when that was made.
    pub(crate) fn named(contract: &'c ContractOf<'c>, only_check: bool) -> Self {
        let scope = ContractScope::current();
        let asks = scope.get().is_some_and(|scope| scope.asking.is_some());
        let frame = Self::quiet(contract, scope.policy(), true, false);
        let mut frame = frame.within(scope);
        frame.only_check = only_check;
        frame.open = asks.then(Box::default);
        frame
    }

    /// With nobody to tell of anything but a violation.
    #[inline]
    fn quiet(contract: &'c ContractOf<'c>, policy: Resolved, named: bool, is_nested: bool) -> Self {
        Self {
            contract,
            scope: ContractScope::EMPTY,
            policy,
            counts: Reached::default(),
            named,
            only_check: false,
            is_quiet: policy.policy != Policy::Ignore,
            is_plain: true,
            open: None,
            phase: if is_nested {
                Phase::Counted
            } else {
                Phase::Before
            },
            is_nested,
        }
    }

    fn within(mut self, scope: ContractScope) -> Self {
        self.scope = scope;
        self.is_plain = false;
        self.is_quiet &= !self.is_watched();
        self
    }
}

impl FrameOf<'_> {
    /// The last step before the body.
    #[inline]
    pub fn enter(&mut self) -> Result<(), Stop> {
        if !self.is_plain {
            self.enter_otherwise()?;
        }
        if self.phase == Phase::Counted {
            nesting::end();
        }
        self.phase = Phase::Entered;
        Ok(())
    }

    #[cold]
    fn enter_otherwise(&mut self) -> Result<(), Stop> {
        if self.open.is_some() {
            self.ask_open()?;
        }
        if self.only_check {
            return Err(Stop::BeforeBody);
        }
        if self.is_watched() {
            self.tell_of_body();
        }
        if let Some(place) = self.place() {
            place.enter();
        }
        Ok(())
    }

    /// The call ends before its body.
    #[cold]
    pub(super) fn never_entered(&self) {
        if self.phase == Phase::Counted {
            nesting::end();
        }
        if !self.named {
            return;
        }
        if self.scope.get().is_some() {
            self.scope.set_phase(scope::Phase::BeforeBody);
        } else {
            with_current(|scope| scope.set_phase(scope::Phase::BeforeBody));
        }
    }
}
