//! Uses the allocation of a call's scope again for the next call of the same thread.

use std::cell::Cell;
use std::mem::take;
use std::sync::Arc;

use super::scope::{ContractScope, Scope};

thread_local! {
    /// A scope that nothing holds any more, and that holds nothing.
    static SPARE: Cell<Option<Arc<Scope>>> = const { Cell::new(None) };
}

impl ContractScope {
    /// A scope in the place of an earlier one, if there is one.
    #[inline]
    pub(crate) fn reusing(scope: Scope) -> Self {
        // At the end of a thread there is none.
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let Some(mut spare) = spare else {
            return Self::new(scope);
        };
        match Arc::get_mut(&mut spare) {
            Some(place) => *place = scope,
            None => return Self::new(scope),
        }
        Self(Some(spare))
    }

    /// The id and the tool's name of a call that is over; where nothing else holds its scope, its place is kept.
    #[inline]
    pub(crate) fn into_names(self) -> (String, String) {
        let Some(mut scope) = self.0 else {
            return Default::default();
        };
        let Some(own) = Arc::get_mut(&mut scope) else {
            return (scope.call_id.clone(), scope.tool.clone());
        };
        let names = (take(&mut own.call_id), take(&mut own.tool));
        if own.is_clean() {
            own.empty();
            let _ = SPARE.try_with(|spare| spare.set(Some(scope)));
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::SPARE;
    use crate::contract::scope::{Called, ContractScope, PolicyLayer, Scope, Secrets};

    fn scope(registry: &Arc<PolicyLayer>) -> Scope {
        let called = Called {
            id: "1".to_owned(),
            tool: "add".to_owned(),
            arguments: "{}".to_owned(),
            secrets: Secrets::said(["key"].into_iter()),
        };
        Scope::new(
            called,
            None,
            Some(Arc::clone(registry)),
            Some(Arc::clone(registry)),
            None,
        )
    }

    fn address(scope: &ContractScope) -> usize {
        scope
            .get()
            .map_or(0, |scope| std::ptr::from_ref(scope).addr())
    }

    #[test]
    fn the_place_of_a_scope_is_used_again_and_holds_nothing_meanwhile() {
        let registry = Arc::new(PolicyLayer::default());
        let first = ContractScope::reusing(scope(&registry));
        let place = address(&first);
        assert_eq!(first.into_names(), ("1".to_owned(), "add".to_owned()));
        assert_eq!(Arc::strong_count(&registry), 1);
        let second = ContractScope::reusing(scope(&registry));
        assert_eq!(address(&second), place);
        assert_eq!(second.arguments(), "{}");
        assert_eq!(Arc::strong_count(&registry), 3);
    }

    #[test]
    fn a_scope_that_somebody_holds_is_left_alone() {
        let registry = Arc::new(PolicyLayer::default());
        let first = ContractScope::reusing(scope(&registry));
        let held = first.clone();
        assert_eq!(first.into_names().1, "add");
        let second = ContractScope::reusing(scope(&registry));
        assert_ne!(address(&second), address(&held));
        assert_eq!(held.get().map(|scope| scope.tool.as_str()), Some("add"));
        // Two of one place would be two calls in one scope.
        assert!(SPARE.take().is_none());
    }
}
