//! Everything that reaches the log: names and fields of spans and events, and which spans are open.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

/// Listens to the whole process until it is dropped, since bodies run on threads of their own.
pub(crate) struct Heard(Listener);

#[derive(Clone, Default)]
struct Listener(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    listening: bool,
    text: String,
    next: u64,
    open: BTreeMap<u64, String>,
    /// The tools of all open calls, each time one began.
    together: Vec<Vec<String>>,
}

impl Heard {
    /// For a test that is alone.
    pub(crate) fn everywhere() -> Self {
        static LISTENER: std::sync::OnceLock<Listener> = std::sync::OnceLock::new();
        let listener = LISTENER.get_or_init(|| {
            let listener = Listener::default();
            tracing::subscriber::set_global_default(listener.clone()).unwrap();
            listener
        });
        listener.state().listening = true;
        Self(listener.clone())
    }

    /// What was written since the last time.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut self.0.state().text)
    }

    /// Which calls were open together since the last time.
    pub(crate) fn together(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.0.state().together)
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        // The numbers go on, because a span that is open may be closed later.
        *state = State {
            next: state.next,
            ..State::default()
        };
    }
}

impl Listener {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fields of one span or event.
#[derive(Default)]
struct Fields {
    text: String,
    tool: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        use fmt::Write as _;
        let _ = writeln!(self.text, "{field} = {value:?}");
        if field.name() == "gen_ai.tool.name" {
            self.tool = format!("{value:?}");
        }
    }
}

impl Subscriber for Listener {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        self.state().listening
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        let mut state = self.state();
        state.text.push_str(span.metadata().name());
        state.text.push('\n');
        state.text.push_str(&fields.text);
        state.next += 1;
        let id = state.next;
        if span.metadata().name() == "execute_tool" {
            state.open.insert(id, fields.tool);
            let together = state.open.values().cloned().collect();
            state.together.push(together);
        }
        Id::from_u64(id)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.state().text.push_str(&fields.text);
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut state = self.state();
        state.text.push_str(event.metadata().name());
        state.text.push('\n');
        state.text.push_str(&fields.text);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
    fn try_close(&self, id: Id) -> bool {
        self.state().open.remove(&id.into_u64());
        true
    }
}
