//! Judges conditions over the history of the run. A question without an answer is a violation, whatever the condition returns.

use std::sync::Arc;

use super::{Checked, ContractScope, Details, Detection, FrameOf, Neighbours, Pass, Policy, Stop};
use crate::contract::history::{CallPlace, Unplaced};
use crate::contract::scope::Scope;

impl FrameOf<'_> {
    /// Returns the place of a call by name in the history of its run.
    #[inline]
    pub(crate) fn place(&self) -> Option<&CallPlace> {
        self.scope.get().filter(|_| self.named)?.place.as_deref()
    }

    /// Judges a precondition that asks the history.
    #[inline(never)]
    pub fn pre_over_history(
        &mut self,
        index: usize,
        own: Option<Policy>,
        condition: Neighbours<'_>,
    ) -> Result<(), Stop> {
        self.hold();
        let resolved = self.unweakened(index, own);
        let judged = self.judge_over_history(index, own, condition);
        self.policy = resolved;
        judged
    }

    fn judge_over_history(
        &mut self,
        index: usize,
        own: Option<Policy>,
        condition: Neighbours<'_>,
    ) -> Result<(), Stop> {
        if !self.reach(index, own) {
            return Ok(());
        }
        let holds = || condition(&Pass::of(0), None);
        let details = |seen: &mut Details<'_>| {
            condition(&Pass::of(0), Some(seen));
        };
        let (result, asked) = if let Some(place) = self.place() {
            place.ask();
            let result = self.scope.guard(holds);
            (result, place.asked())
        } else {
            let nowhere = self.nowhere();
            let scope = nowhere.clone();
            let result = self.scope.guard(|| scope.enter(holds));
            let place = nowhere.get().and_then(|scope| scope.place.as_deref());
            (result, place.map_or(Ok(()), CallPlace::asked))
        };
        match (asked, result) {
            (Err(why), _) => self.fail_by(index, Detection::Unanswered, Some(why), &details),
            (Ok(()), Ok(Checked::Holds)) => Ok(()),
            (Ok(()), Ok(Checked::Fails(why))) => self.fail(index, why, &details),
            (Ok(()), Err(panicked)) => self.fail_by(index, panicked.detection(), None, &details),
        }
    }

    /// Begins a given that asks the history. It is an error if there is no history.
    #[inline(never)]
    pub fn ask_history(&mut self, index: usize) -> Result<(), Stop> {
        if let Some(place) = self.place() {
            place.ask();
            return Ok(());
        }
        self.hold();
        let why = CallPlace::nowhere(self.unplaced(), self.name()).unplaced();
        Err(self.unanswered(index, why))
    }

    /// Ends a given that asked the history. It is an error if a question had no answer.
    #[inline(never)]
    pub fn history_asked(&mut self, index: usize) -> Result<(), Stop> {
        let asked = self.place().map_or(Ok(()), CallPlace::asked);
        asked.map_err(|why| self.unanswered(index, why))
    }

    #[cold]
    fn unanswered(&mut self, index: usize, why: String) -> Stop {
        self.ended(index, Detection::Unanswered, Some(why), &|_| {})
    }

    fn unplaced(&self) -> Unplaced {
        if self.named {
            Unplaced::NoRun
        } else {
            Unplaced::Direct
        }
    }

    fn name(&self) -> &str {
        match self.scope.get() {
            Some(scope) if self.named => &scope.tool,
            _ => self.contract.name,
        }
    }

    /// Returns a scope like that of the call in which no question has an answer.
    fn nowhere(&self) -> ContractScope {
        let mut scope = Scope::below(self.scope.get());
        let place = CallPlace::nowhere(self.unplaced(), self.name());
        place.ask();
        scope.place = Some(Arc::new(place));
        ContractScope::new(scope)
    }
}
