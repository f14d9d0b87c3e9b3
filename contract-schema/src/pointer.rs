//! The place of a schema in another, written as a JSON pointer only where a message needs it.

use std::fmt;

/// A JSON pointer (RFC 6901) as a list of its steps, the last one first.
#[derive(Clone, Copy)]
pub(super) enum Pointer<'p> {
    Root,
    /// The target of a reference.
    Target(&'p str),
    Key(&'p Pointer<'p>, &'p str),
    Index(&'p Pointer<'p>, usize),
}

impl<'p> Pointer<'p> {
    pub(super) const fn key(&'p self, key: &'p str) -> Self {
        Self::Key(self, key)
    }

    pub(super) const fn index(&'p self, index: usize) -> Self {
        Self::Index(self, index)
    }
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Target(path) => f.write_str(path),
            Self::Index(above, index) => write!(f, "{above}/{index}"),
            Self::Key(above, key) => {
                write!(f, "{above}/{}", key.replace('~', "~0").replace('/', "~1"))
            }
        }
    }
}
