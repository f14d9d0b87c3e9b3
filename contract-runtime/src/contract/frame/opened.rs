//! Opens the frame of an execution: of a direct call, or of a call by name.

use std::cell::Cell;

use super::{Frame, FrameOf, Judging};
use crate::contract::condition::{Contract, ContractOf};
use crate::contract::counts::Counts;
use crate::contract::nesting;
use crate::contract::policy::{self, Policy, PolicyOrigin, Resolved};
use crate::contract::scope::ContractScope;

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
            return Self::quiet(contract, policy, false, Judging::Begun);
        }
        Self::direct_otherwise(contract, judging)
    }

    /// Inside of a call, too deep in conditions, or under another policy of the process.
    #[inline(never)]
    fn direct_otherwise(contract: &'static Contract, judging: bool) -> Self {
        let scope = ContractScope::current();
        let (policy, judging) = if judging {
            (scope.policy().of_function(contract.policy), Judging::Begun)
        } else {
            (NOT_JUDGED, Judging::Over)
        };
        Self::quiet(contract, policy, false, judging).within(scope)
    }
}

impl<'c> FrameOf<'c> {
    /// A call by name, in whose scope everything happens; its policy was resolved when that was made.
    #[inline]
    pub(crate) fn named(contract: &'c ContractOf<'c>, only_check: bool) -> Self {
        match ContractScope::bare_policy() {
            Some(policy) if !only_check => Self::quiet(contract, policy, true, Judging::Uncounted),
            _ => Self::named_otherwise(contract, only_check),
        }
    }

    #[inline(never)]
    fn named_otherwise(contract: &'c ContractOf<'c>, only_check: bool) -> Self {
        let scope = ContractScope::current();
        let asks = scope.get().is_some_and(|scope| scope.asking.is_some());
        let is_placed = scope.get().is_some_and(|scope| scope.place.is_some());
        let frame = Self::quiet(contract, scope.policy(), true, Judging::Uncounted);
        let mut frame = frame.within(scope);
        frame.is_plain &= !(asks || is_placed || only_check);
        frame.only_check = only_check;
        frame.open = asks.then(Box::default);
        frame
    }

    /// With nobody to tell of anything but a violation.
    #[inline]
    fn quiet(
        contract: &'c ContractOf<'c>,
        policy: Resolved,
        named: bool,
        judging: Judging,
    ) -> Self {
        Self {
            contract,
            scope: ContractScope::EMPTY,
            policy,
            counts: Counts::default(),
            named,
            only_check: false,
            watched: false,
            is_quiet: policy.policy != Policy::Ignore,
            is_plain: true,
            open: None,
            judging: Cell::new(judging),
        }
    }

    fn within(mut self, scope: ContractScope) -> Self {
        self.watched = scope.get().is_some_and(|scope| scope.watch().is_some());
        self.is_quiet &= !self.watched;
        self.is_plain = !self.watched;
        self.scope = scope;
        self
    }
}
