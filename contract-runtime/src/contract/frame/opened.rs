//! Opens the frame of a direct call or of a call by name, and enters the body.

use super::{Frame, FrameOf, Phase, Stop};
use crate::contract::condition::{Contract, ContractOf};
use crate::contract::counts::Reached;
use crate::contract::policy::{self, Policy, PolicyOrigin, Resolved};
use crate::contract::scope::ContractScope;
use crate::contract::thread::with_current;
use crate::contract::{nesting, scope};

/// The policy where conditions are nested too deeply to be judged while a panic unwinds.
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

    /// Opens the frame of a direct call of an async function. It may wait before its body and continue on another thread, so each
    /// of its conditions is counted as nested by itself.
    #[must_use]
    pub fn direct_later(contract: &'static Contract) -> Self {
        let scope = ContractScope::current();
        let policy = scope.policy().of_function(contract.policy);
        let mut frame = Self::quiet(contract, policy, false, true).within(scope);
        frame.phase = Phase::Before;
        frame.is_quiet = false;
        frame
    }

    /// Opens the frame of a direct call inside of another call, in conditions nested too deeply, or under another process policy.
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
    /// Opens the frame of a bare call by name, under the policy of its scope.
    #[inline]
    pub(crate) fn bare(contract: &'c ContractOf<'c>, policy: Resolved) -> Self {
        Self::quiet(contract, policy, true, false)
    }

    /// Opens the frame of any other call by name. Its policy was resolved with its scope.
    pub(crate) fn named(contract: &'c ContractOf<'c>, only_check: bool) -> Self {
        let scope = ContractScope::current();
        let asks = scope.get().is_some_and(|scope| scope.asking.is_some());
        let frame = Self::quiet(contract, scope.policy(), true, false);
        let mut frame = frame.within(scope);
        frame.only_check = only_check;
        frame.open = asks.then(Box::default);
        frame
    }

    /// Creates a frame that reports nothing but violations.
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
    /// Enters the body: asks open questions, ends a check, and tells observers.
    ///
    /// # Errors
    ///
    /// [`Stop::Asked`] or [`Stop::Unasked`] for an open question, [`Stop::BeforeBody`] for a check.
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

    /// Notes that the call ends before its body.
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
