//! Reuses the allocation of a scope for the next call of the same thread.

use std::borrow::Cow;
use std::cell::Cell;
use std::mem::replace;
use std::sync::Arc;

use super::scope::{ContractScope, Scope};

thread_local! {
    /// An empty scope that nothing refers to.
    static SPARE: Cell<Option<Arc<Scope>>> = const { Cell::new(None) };
}

/// Buffers of texts that are longer, in bytes, are freed.
const KEPT: usize = 256;

impl ContractScope {
    /// Returns an empty scope, in the allocation of an earlier one if there is one.
    #[inline]
    pub(crate) fn fresh() -> Self {
        // While a thread ends, its thread-local values are gone.
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        Self(Some(spare.unwrap_or_else(first)))
    }

    /// Returns the scope for writing; `None` if it is shared.
    #[inline]
    pub(crate) fn filled(&mut self) -> Option<&mut Scope> {
        self.0.as_mut().and_then(Arc::get_mut)
    }

    /// Gives back the scope of a call that is over. If nothing else refers to it, its allocation is kept.
    #[inline]
    pub(crate) fn release(self) {
        if let Some(mut scope) = self.0
            && let Some(own) = Arc::get_mut(&mut scope)
            && own.is_clean()
        {
            own.empty();
            let _ = SPARE.try_with(|spare| spare.set(Some(scope)));
        }
    }
}

#[cold]
fn first() -> Arc<Scope> {
    Arc::new(Scope::below(None))
}

#[inline]
fn empty(text: &mut String) {
    text.clear();
    if text.capacity() > KEPT {
        *text = String::new();
    }
}

impl Scope {
    /// Sets the name of the tool. An owned name is copied into the buffer of an earlier one.
    #[allow(clippy::ptr_arg, reason = "it matters whether it is static")]
    #[inline]
    pub(crate) fn name(&mut self, tool: &Cow<'static, str>) {
        match tool {
            Cow::Borrowed(tool) => self.tool = Cow::Borrowed(tool),
            Cow::Owned(tool) => tool.clone_into(self.tool.to_mut()),
        }
    }

    /// Clears everything that a call has set.
    #[inline]
    fn empty(&mut self) {
        empty(&mut self.call_id);
        empty(&mut self.arguments);
        // A borrowed name has no buffer.
        if let Cow::Owned(tool) = &mut self.tool {
            empty(tool);
        }
        self.registry = None;
        *self.phase.get_mut() = 0;
        if !self.is_bare {
            self.empty_rest();
        }
    }

    /// Resets everything but the buffers of the texts.
    #[inline(never)]
    fn empty_rest(&mut self) {
        let Self {
            call_id,
            tool,
            arguments,
            ..
        } = replace(self, Self::below(None));
        (self.call_id, self.tool, self.arguments) = (call_id, tool, arguments);
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::Arc;

    use super::SPARE;
    use crate::contract::scope::{ContractScope, Inherited, PolicyLayer, Secrets};

    fn opened(registry: &Arc<PolicyLayer>) -> ContractScope {
        let mut opened = ContractScope::fresh();
        let scope = opened.filled().unwrap();
        scope.call_id.push('1');
        scope.name(&Cow::Owned("add".to_owned()));
        scope.arguments.push_str("{}");
        scope.secrets = Secrets::said(["key"].into_iter());
        scope.of_run = true;
        scope.take_up(None, Arc::clone(registry));
        let outer = Inherited {
            run: Some(Arc::clone(registry)),
            ..Inherited::default()
        };
        scope.inherit(None, outer);
        opened
    }

    fn address(scope: &ContractScope) -> usize {
        scope
            .get()
            .map_or(0, |scope| std::ptr::from_ref(scope).addr())
    }

    #[test]
    fn the_place_of_a_scope_is_used_again_and_holds_nothing_meanwhile() {
        let registry = Arc::new(PolicyLayer::default());
        let first = opened(&registry);
        let place = address(&first);
        first.get().unwrap().conclude();
        first.release();
        assert_eq!(Arc::strong_count(&registry), 1);
        let mut second = ContractScope::fresh();
        let scope = second.filled().unwrap();
        let kept = format!("{scope:?}");
        assert!(kept.contains(r#"call_id: "", tool: """#), "{kept}");
        assert!(scope.arguments.is_empty() && scope.secrets.is_empty());
        assert!(!scope.of_run && !*scope.concluded.get_mut());
        assert_eq!(address(&second), place);
        second.release();
        let third = opened(&registry);
        assert_eq!(address(&third), place);
        assert_eq!(third.arguments(), "{}");
        assert_eq!(Arc::strong_count(&registry), 3);
    }

    #[test]
    fn a_scope_that_somebody_holds_is_left_alone() {
        let registry = Arc::new(PolicyLayer::default());
        let first = opened(&registry);
        let held = first.clone();
        first.release();
        let second = opened(&registry);
        assert_ne!(address(&second), address(&held));
        assert_eq!(held.get().map(|scope| &*scope.tool), Some("add"));
        // Two of one place would be two calls in one scope.
        assert!(SPARE.take().is_none());
    }

    #[test]
    fn long_texts_are_not_kept() {
        let registry = Arc::new(PolicyLayer::default());
        let first = opened(&registry);
        first.release();
        let mut long = ContractScope::fresh();
        long.filled().unwrap().call_id = "1".repeat(10_000);
        long.release();
        let mut next = ContractScope::fresh();
        assert!(next.filled().unwrap().call_id.capacity() <= super::KEPT);
    }
}
