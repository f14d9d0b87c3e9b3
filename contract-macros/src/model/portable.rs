//! The model of the portable part of a predicate.

use proc_macro2::TokenStream;
use syn::Type;

/// Operators, whose names are those that the runtime's `Expression` has for them.
macro_rules! operators {
    ($($(#[$doc:meta])* $of:ident { $($name:ident)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $of {
            $($name,)*
        }

        impl $of {
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    )*};
}

operators! {
    Unary { Not IsSome IsFinite IsAscii Length Characters Negative Absolute UnsignedAbsolute }
    Binary { And Or StartsWith EndsWith Contains Matches }
    Comparison { Equal NotEqual Less AtMost More AtLeast }
    Arithmetic { Add Subtract Multiply Remainder }
    /// What is demanded of the items of a list, or of the value of an optional.
    Quantifier { All Any SomeAnd NoneOr }
}

/// What of a predicate is portable.
#[derive(Clone)]
pub(crate) enum Portable {
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// A constant; `primitive` is its type, where that is known from a spelling.
    Named {
        text: String,
        tokens: TokenStream,
        primitive: Option<&'static str>,
    },
    /// The regular expression of a call, which counts only if it is the runtime's function that is called.
    Pattern {
        text: String,
        function: TokenStream,
        pattern: TokenStream,
    },
    /// Index among the parameters.
    Parameter(usize),
    Variable(String),
    Unary(Unary, Box<Self>),
    Binary(Binary, Box<Self>, Box<Self>),
    Compare(Comparison, Box<Self>, Box<Self>),
    Arithmetic(Arithmetic, Box<Self>, Box<Self>),
    InList(Box<Self>, Vec<Self>),
    Quantified(Quantifier, Box<Self>, String, Box<Self>),
    /// A test of one parameter that only Rust can make.
    Native {
        text: String,
        parameter: usize,
        tokens: TokenStream,
    },
    /// The one where the compiler knows the form of the parameter's type, the other where it does not.
    Either(usize, Box<Self>, Box<Self>),
    /// A conversion, which counts only if the compiler finds that it loses nothing.
    Converted(Box<Converted>),
    Opaque(Opaque),
}

/// `of as ty`, and `ty::from(of)`.
#[derive(Clone)]
pub(crate) struct Converted {
    pub(crate) from: KindSource,
    pub(crate) to: Type,
    pub(crate) of: Portable,
    pub(crate) text: String,
}

/// Where the compiler learns the kind of an expression's type.
#[derive(Clone)]
pub(crate) enum KindSource {
    /// The type of the parameter of this index.
    Parameter(usize),
    /// What holds it: a list or an optional.
    Item(Box<Self>),
    /// What is counted.
    Count(Box<Self>),
    /// A type as written.
    Type(Box<Type>),
}

/// What is not portable, why, and what to write instead.
#[derive(Clone)]
pub(crate) struct Opaque {
    pub(crate) text: String,
    pub(crate) tokens: TokenStream,
    pub(crate) reason: &'static str,
    pub(crate) advice: &'static str,
}

impl Portable {
    pub(crate) fn unary(operator: Unary, of: Self) -> Self {
        Self::Unary(operator, Box::new(of))
    }

    pub(crate) fn not(of: Self) -> Self {
        match of {
            Self::Unary(Unary::Not, of) => *of,
            of => Self::unary(Unary::Not, of),
        }
    }

    pub(crate) fn binary(operator: Binary, left: Self, right: Self) -> Self {
        Self::Binary(operator, Box::new(left), Box::new(right))
    }

    pub(crate) fn compare(comparison: Comparison, left: Self, right: Self) -> Self {
        Self::Compare(comparison, Box::new(left), Box::new(right))
    }

    /// `low && high` of the ends a range has.
    pub(crate) fn both(low: Option<Self>, high: Option<Self>) -> Self {
        match (low, high) {
            (Some(low), Some(high)) => Self::binary(Binary::And, low, high),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => Self::Bool(true),
        }
    }

    /// The parts of this part.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Unary(_, of) => vec![of],
            Self::Binary(_, a, b)
            | Self::Compare(_, a, b)
            | Self::Arithmetic(_, a, b)
            | Self::Quantified(_, a, _, b)
            | Self::Either(_, a, b) => vec![a, b],
            Self::Converted(converted) => vec![&converted.of],
            Self::InList(of, list) => std::iter::once(&**of).chain(list).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether some part is not portable.
    pub(crate) fn is_partly_opaque(&self) -> bool {
        matches!(self, Self::Opaque(_)) || self.parts().into_iter().any(Self::is_partly_opaque)
    }
}
