//! Everything that reaches the log: names and fields of spans and events, and which spans are open.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A listener for the whole process, since bodies run on threads of their own.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    text: String,
    next: u64,
    open: BTreeMap<u64, String>,
    /// The tools of all open calls, each time one began.
    together: Vec<Vec<String>>,
}

impl Heard {
    /// The one of this process.
    pub(crate) fn everywhere() -> Self {
        static HEARD: std::sync::OnceLock<Heard> = std::sync::OnceLock::new();
        HEARD
            .get_or_init(|| {
                let heard = Self::default();
                tracing::subscriber::set_global_default(heard.clone()).unwrap();
                heard
            })
            .clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was written since the last time.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut self.state().text)
    }

    /// Which calls were open together since the last time.
    pub(crate) fn together(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.state().together)
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

impl Subscriber for Heard {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
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
