//! The pending calls of a run, and which of them have been reported.

use contract_runtime::ToolCall;

/// Calls that the inner agent has announced, in its order.
#[derive(Debug, Default)]
pub(super) struct PendingCalls(Vec<PendingCall>);

#[derive(Debug)]
struct PendingCall {
    call: ToolCall,
    /// Its action has been emitted.
    has_action: bool,
    /// Its observation has been emitted.
    over: bool,
}

/// What is emitted for an outcome.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The observation alone.
    Alone,
    /// The action of a call that never got as far as its body, and the observation.
    WithAction(ToolCall),
}

impl PendingCalls {
    pub(super) fn announce(&mut self, call: ToolCall) {
        self.0.push(PendingCall {
            call,
            has_action: false,
            over: false,
        });
    }

    /// Returns the call whose body has been reached. Equal ids are legal: the arguments distinguish such calls, and calls
    /// with equal arguments need not be distinguished.
    pub(super) fn entered(&mut self, id: &str, tool: &str, arguments: &str) -> Option<ToolCall> {
        let without_action = || {
            self.0
                .iter()
                .enumerate()
                .filter(|(_, open)| !open.has_action)
        };
        let exact = without_action().find(|(_, PendingCall { call, .. })| {
            call.id == id && call.name == tool && call.arguments == arguments
        });
        // Another inner agent may announce a call with other arguments than it then sends.
        let like = exact.or_else(|| without_action().find(|(_, open)| open.call.id == id));
        let place = like.map(|(place, _)| place)?;
        let open = self.0.get_mut(place)?;
        open.has_action = true;
        Some(open.call.clone())
    }

    /// Marks a call as ended, as dispatch reports it, if it was announced.
    pub(super) fn over(&mut self, of: &ToolCall) -> Option<Outcome> {
        let exact = |open: &PendingCall| open.call == *of;
        let like = |open: &PendingCall| open.call.id == of.id;
        let wanted: [&dyn Fn(&PendingCall) -> bool; 4] = [
            &|open| exact(open) && open.has_action,
            &exact,
            &|open| like(open) && open.has_action,
            &like,
        ];
        let place = wanted.into_iter().find_map(|wanted| {
            let running = |open: &PendingCall| !open.over && wanted(open);
            self.0.iter().position(running)
        })?;
        let open = self.0.get_mut(place)?;
        open.over = true;
        Some(if std::mem::replace(&mut open.has_action, true) {
            Outcome::Alone
        } else {
            Outcome::WithAction(open.call.clone())
        })
    }

    /// Returns what remains to be emitted of an outcome that the inner agent reports, unless dispatch has reported it already;
    /// outcomes of equal ids come in the order of the calls.
    pub(super) fn observed(&mut self, id: &str, tool: &str) -> Option<Outcome> {
        let exact = |open: &PendingCall| open.call.id == id && open.call.name == tool;
        let like = |open: &PendingCall| open.call.id == id;
        let wanted: [&dyn Fn(&PendingCall) -> bool; 4] = [
            &|open| exact(open) && open.over,
            &exact,
            &|open| like(open) && open.over,
            &like,
        ];
        let place = wanted
            .into_iter()
            .find_map(|wanted| self.0.iter().position(wanted));
        let Some(open) = place.map(|place| self.0.remove(place)) else {
            return Some(Outcome::Alone);
        };
        match open {
            PendingCall { over: true, .. } => None,
            PendingCall {
                has_action: true, ..
            } => Some(Outcome::Alone),
            PendingCall { call, .. } => Some(Outcome::WithAction(call)),
        }
    }

    /// Begins a step: forgets the calls that were announced and whose outcome was never reported.
    pub(super) fn begin_step(&mut self) {
        self.0.retain(|open| !open.has_action);
    }
}
