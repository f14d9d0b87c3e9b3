//! Values that are known only at run time.

/// The value of a part of an expression, by its text: within one contract a text means one thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) text: &'a str,
    pub(crate) value: Value<'a>,
}

/// A value, as far as conditions compare it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Unknown,
    /// `None`
    Nothing,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(&'a str),
    /// So many items.
    List(usize),
    /// Of the values of a finite type, by their bits: those of which a test holds, and those of which it does not.
    Values {
        holding: u64,
        failing: u64,
    },
}
