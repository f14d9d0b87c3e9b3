//! Why subsumption could not be shown.

/// The first place where it is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Finding {
    /// Where in the value, as a JSON pointer; `*` is any item or any other member.
    pub(in super::super) path: String,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    /// A keyword of the outer schema refuses what those of the inner one allow.
    Refused { inner: String, outer: String },
    /// Nothing was found out.
    Unclear(String),
}

/// Which of the two schemas is the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Direction {
    /// The outer one: what is taken in.
    Input,
    /// The inner one: what is given out.
    Output,
}

impl Finding {
    pub(super) fn refused(inner: impl Into<String>, outer: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            reason: Reason::Refused {
                inner: inner.into(),
                outer: outer.into(),
            },
        }
    }

    pub(super) fn unclear(why: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            reason: Reason::Unclear(why.into()),
        }
    }

    /// The same one step further up.
    pub(in super::super) fn below(mut self, step: &str) -> Self {
        self.path.insert_str(0, &super::node::step(step));
        self
    }

    /// As a sentence, about a difference that a caller does not notice.
    pub(in super::super) fn difference(&self, direction: Direction, unclear: &str) -> String {
        match self.reason {
            Reason::Refused { .. } => self.reason(direction),
            Reason::Unclear(_) => unclear.to_owned(),
        }
    }

    /// As a sentence.
    pub(in super::super) fn reason(&self, direction: Direction) -> String {
        match (&self.reason, direction) {
            (Reason::Refused { inner, outer }, Direction::Input) => {
                format!("before: {inner}; now: {outer}")
            }
            (Reason::Refused { inner, outer }, Direction::Output) => {
                format!("before: {outer}; now: {inner}")
            }
            (Reason::Unclear(why), _) => format!("cannot be proven compatible: {why}"),
        }
    }
}
