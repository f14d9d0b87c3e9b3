//! The model of the portable part of a predicate.

use proc_macro2::TokenStream;
use syn::Type;

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
    Node(Operator, Vec<Self>),
    /// A test of one parameter that only Rust can make.
    Native {
        text: String,
        parameter: usize,
        tokens: TokenStream,
    },
    /// The first where the compiler knows the form of the parameter's type, the second where it does not.
    Either(usize, Box<[Self; 2]>),
    /// A conversion, which counts only if the compiler finds that it loses nothing.
    Converted(Box<Converted>),
    Opaque(Opaque),
}

/// What is done with the parts of a [`Portable`], by the name that the runtime has for it.
#[derive(Clone)]
pub(crate) enum Operator {
    /// A variant of `Expression` over the parts alone: `And`, `Length`.
    Plain(&'static str),
    /// A variant of `Comparison`.
    Compare(&'static str),
    /// A variant of `Operation`.
    Arithmetic(&'static str),
    /// Whether the first part is one of the others.
    InList,
    /// A variant of `Expression` over a list or an optional, the variable for what it holds, and a condition on that.
    Quantified(&'static str, String),
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
    /// The items of a list, or the value of an optional.
    Item(Box<Self>),
    /// The number of items.
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
    pub(crate) fn of<const N: usize>(operator: &'static str, parts: [Self; N]) -> Self {
        Self::Node(Operator::Plain(operator), parts.into())
    }

    pub(crate) fn not(of: Self) -> Self {
        match of {
            Self::Node(Operator::Plain("Not"), mut parts) if parts.len() == 1 => parts.remove(0),
            of => Self::of("Not", [of]),
        }
    }

    pub(crate) fn is_none(of: Self) -> Self {
        Self::not(Self::of("IsSome", [of]))
    }

    pub(crate) fn compare(comparison: &'static str, left: Self, right: Self) -> Self {
        Self::Node(Operator::Compare(comparison), vec![left, right])
    }

    pub(crate) fn quantified(quantifier: &'static str, of: Self, name: String, body: Self) -> Self {
        Self::Node(Operator::Quantified(quantifier, name), vec![of, body])
    }

    /// The parts of this part.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Node(_, parts) => parts,
            Self::Either(_, both) => &both[..],
            Self::Converted(converted) => std::slice::from_ref(&converted.of),
            _ => &[],
        }
    }

    /// Whether this part, or a part of it, is such a one.
    pub(crate) fn any(&self, is_wanted: &dyn Fn(&Self) -> bool) -> bool {
        is_wanted(self) || self.parts().iter().any(|part| part.any(is_wanted))
    }
}
