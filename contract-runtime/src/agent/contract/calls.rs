//! The calls of a run that have no outcome yet, and which of them have been told of.

use crate::tool::ToolCall;

/// Calls that the inner agent has announced, in its order.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Open>);

#[derive(Debug)]
struct Open {
    call: ToolCall,
    /// Its action has been told.
    told: bool,
}

impl Calls {
    pub(super) fn announce(&mut self, call: ToolCall) {
        self.0.push(Open { call, told: false });
    }

    /// The call whose body has been reached. Equal ids are legal: what was sent tells such calls apart, and where that is
    /// equal too, so are the calls.
    pub(super) fn entered(&mut self, id: &str, tool: &str, arguments: &str) -> Option<ToolCall> {
        let untold = || self.0.iter().enumerate().filter(|(_, open)| !open.told);
        let exact = untold().find(|(_, Open { call, .. })| {
            call.id == id && call.name == tool && call.arguments == arguments
        });
        // An inner agent of somebody's own may announce a call in other words than it makes it.
        let like = exact.or_else(|| untold().find(|(_, open)| open.call.id == id));
        let place = like.map(|(place, _)| place)?;
        let open = self.0.get_mut(place)?;
        open.told = true;
        Some(open.call.clone())
    }

    /// The call whose outcome this is, if it was not told of before; outcomes of equal ids come in the order of the calls.
    pub(super) fn observed(&mut self, id: &str, tool: &str) -> Option<ToolCall> {
        let exact = |open: &Open| open.call.id == id && open.call.name == tool;
        let place = self.0.iter().position(exact);
        let place = place.or_else(|| self.0.iter().position(|open| open.call.id == id))?;
        let open = self.0.remove(place);
        (!open.told).then_some(open.call)
    }

    /// A new step: what was told of, and of whose outcome nobody tells, is over.
    pub(super) fn begin_step(&mut self) {
        self.0.retain(|open| !open.told);
    }
}
