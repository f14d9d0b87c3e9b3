//! The model of a tool: plain data that holds spans and renders nothing.

use std::collections::BTreeMap;
use std::ops::Deref;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Attribute, Expr, Generics, Ident, LitStr, Pat, Path, Receiver, Signature, Token, Type,
    Visibility,
};

pub(crate) enum Model {
    Tool(Box<Tool>),
    Contracted(Box<Contracted>),
    ToolSet(Box<ToolSet>),
}

/// A function the registry can call.
pub(crate) struct Tool {
    pub(crate) contracted: Contracted,
    pub(crate) options: Options,
    pub(crate) name: Name,
    pub(crate) description: Description,
    /// The question that a person is asked before every call, and the parameters that it names.
    pub(crate) confirm: Option<(Message, Vec<usize>)>,
    pub(crate) verify: Option<Verify>,
}

impl Deref for Tool {
    type Target = Contracted;

    fn deref(&self) -> &Contracted {
        &self.contracted
    }
}

pub(crate) struct Contracted {
    pub(crate) function: Function,
    pub(crate) givens: Vec<Given>,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) krate: Path,
}

pub(crate) struct ToolSet {
    /// As in `Function`, for attributes above the block.
    pub(crate) uses: Vec<Path>,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) generics: Generics,
    pub(crate) self_ty: Type,
    pub(crate) members: Vec<Member>,
    pub(crate) krate: Path,
}

impl ToolSet {
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.members.iter().filter_map(|member| match member {
            Member::Tool(tool) => Some(&**tool),
            Member::Other(_) => None,
        })
    }
}

pub(crate) enum Member {
    Tool(Box<Tool>),
    /// Anything else, as written.
    Other(TokenStream),
}

/// A function taken apart; its body is never parsed.
pub(crate) struct Function {
    /// The paths of the contract attributes as the author wrote them. They were taken before they ran, and without a use of
    /// them in the visible body their imports would be reported as unused.
    pub(crate) uses: Vec<Path>,
    /// The attributes that stay on the visible function: docs, `cfg`, lint levels, linkage.
    pub(crate) attrs_outer: Vec<Attribute>,
    /// The attributes that act on every call, and so go to the body.
    pub(crate) attrs_inner: Vec<Attribute>,
    pub(crate) vis: Visibility,
    /// As written, without any attribute on a parameter.
    pub(crate) sig: Signature,
    pub(crate) receiver: Option<Receiver>,
    /// Every parameter but the receiver, in order.
    pub(crate) params: Vec<Param>,
    /// The block, braces included.
    pub(crate) body: TokenStream,
    pub(crate) is_async: bool,
}

#[derive(Clone)]
pub(crate) struct Param {
    /// The name in the source, or a generated one where a pattern stands.
    pub(crate) ident: Ident,
    /// Set where the author wrote a pattern; only functions that are not tools have one.
    pub(crate) pattern: Option<Pat>,
    /// The names the parameter brings into scope.
    pub(crate) bindings: Vec<String>,
    pub(crate) mutable: bool,
    pub(crate) ty: Type,
    /// What the model calls it.
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) docs: Option<String>,
    pub(crate) cfgs: Vec<Attribute>,
    /// Lint levels and whatever else the compiler allows here.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) role: Role,
}

impl Param {
    /// Whether the model fills it.
    pub(crate) fn is_argument(&self) -> bool {
        matches!(self.role, Role::Argument { .. })
    }

    pub(crate) fn is_secret(&self) -> bool {
        matches!(self.role, Role::Argument { secret: true, .. })
    }
}

#[derive(Clone)]
pub(crate) enum Role {
    Argument {
        default: Option<Expr>,
        examples: Vec<Expr>,
        secret: bool,
    },
    /// The program fills it, by type.
    Context,
}

/// A value and the key it came from.
pub(crate) struct Set<T> {
    pub(crate) key: Span,
    pub(crate) value: T,
}

impl<T: ToTokens> ToTokens for Set<T> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.value.to_tokens(tokens);
    }
}

/// What `#[tool(..)]` says besides name and description.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) title: Option<Set<Expr>>,
    pub(crate) policy: Option<Set<Policy>>,
    /// `read_only`, `destructive` and the like, by their keys.
    pub(crate) flags: BTreeMap<String, Option<Set<bool>>>,
    /// The number of milliseconds.
    pub(crate) timeout: Option<Set<u64>>,
}

impl Options {
    pub(crate) fn flag(&self, key: &str) -> Option<&Set<bool>> {
        self.flags.get(key)?.as_ref()
    }

    /// The place of a flag that is on.
    pub(crate) fn on(&self, key: &str) -> Option<Span> {
        let flag = self.flag(key).filter(|flag| flag.value);
        flag.map(|flag| flag.key)
    }
}

/// What `#[verify(..)]` says of running the body.
#[derive(Default)]
pub(crate) struct Verify {
    pub(crate) run: Option<Set<bool>>,
    pub(crate) setup: Option<Set<Expr>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Ignore,
    Observe,
    Enforce,
    QuickEnforce,
}

/// What the model calls a tool or an argument.
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Name {
    /// The name that is given, or else that of the source.
    pub(crate) fn new(given: Option<Set<LitStr>>, ident: &Ident) -> Self {
        let (text, span) = match given {
            Some(Set { value, .. }) => (value.value(), value.span()),
            None => (ident.unraw().to_string(), ident.span()),
        };
        Self { text, span }
    }
}

/// What the model reads about a tool.
pub(crate) enum Description {
    Text(String),
    /// To be put together by `concat!`; a single part may be any constant expression.
    Parts(Vec<Expr>),
}

pub(crate) struct Clause {
    pub(crate) kind: ClauseKind,
    /// Before the body: all of it. After: the closure's body, each `old(..)` replaced by its name.
    pub(crate) predicate: TokenStream,
    /// The closure's parameter as written, with its type if it has one.
    pub(crate) result: Option<TokenStream>,
    /// As typed, the closure's head included.
    pub(crate) text: String,
    pub(crate) message: Option<Message>,
    pub(crate) policy: Option<Set<Policy>>,
    pub(crate) shown: Option<Set<Shown>>,
    /// The author's sentence for what it demands or promises.
    pub(crate) demand: Option<Set<LitStr>>,
    /// The question that a person is asked if it does not hold.
    pub(crate) question: Option<Set<Message>>,
    /// The name by which an operator refers to it.
    pub(crate) id: Option<Set<LitStr>>,
    /// What it asks the history of a run, if it does.
    pub(crate) history: Option<HistoryUse>,
    /// The portable form of a precondition, or of a postcondition that names the whole result.
    pub(crate) portable: Option<Portable>,
    /// Its answer is the same for every call.
    pub(crate) is_constant: bool,
    /// Indices of the parameters named anywhere: predicate, `old(..)`, message.
    pub(crate) mentions: Vec<usize>,
    /// Indices of the parameters that are still needed after the body: those named outside of `old(..)`.
    pub(crate) mentions_after: Vec<usize>,
    /// Whether `self` is still needed after the body.
    pub(crate) mentions_self: bool,
    pub(crate) olds: Vec<Old>,
    /// The predicate's own place.
    pub(crate) span: Span,
}

/// How much of a condition a model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All of it, so it must be portable.
    Fully,
    /// As much as can be, as without a word.
    Possibly,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClauseKind {
    Pre,
    Post,
    PostErr,
}

/// A message, checked against the names it may show.
pub(crate) struct Message {
    pub(crate) literal: LitStr,
    /// In order of first appearance.
    pub(crate) placeholders: Vec<String>,
    /// The expressions behind it, for its `{}`.
    pub(crate) args: Vec<TokenStream>,
    /// It shows the result, and not only what was there before.
    pub(crate) shows_result: bool,
    /// In a question, the placeholders that show an argument of the model, by name or position.
    pub(crate) from_model: Vec<String>,
}

impl Message {
    /// Whether it must be put together when the condition fails.
    pub(crate) fn is_formatted(&self) -> bool {
        !(self.placeholders.is_empty() && self.args.is_empty())
    }
}

/// One `#[given(..)]`: a value that is looked up once, before the body.
pub(crate) struct Given {
    pub(crate) ident: Ident,
    pub(crate) mutable: Option<Token![mut]>,
    pub(crate) value: TokenStream,
    /// As typed, without what follows the value.
    pub(crate) text: String,
    pub(crate) absent: Option<Absent>,
    /// What a model reads about it: `requires = ".."`.
    pub(crate) demand: Option<Set<LitStr>>,
    /// What runs after every postcondition held.
    pub(crate) then: Option<TokenStream>,
    /// What it asks the history of a run, if it does.
    pub(crate) history: Option<HistoryUse>,
    /// How many conditions stand above it.
    pub(crate) position: usize,
    /// Indices of the parameters that it names.
    pub(crate) mentions: Vec<usize>,
    /// The place of the value.
    pub(crate) span: Span,
}

/// What a condition or a given asks the history of a run.
pub(crate) struct HistoryUse {
    /// The place of its first `history`.
    pub(crate) span: Span,
    pub(crate) tools: Vec<AskedTool>,
}

/// A tool that is asked about by its function, or by its name.
pub(crate) struct AskedTool {
    pub(crate) path: Option<TokenStream>,
    pub(crate) name: String,
    /// The arguments by which the question is narrowed.
    pub(crate) arguments: Vec<LitStr>,
}

/// What ends the call where there is no value.
pub(crate) enum Absent {
    /// `else "there is no order {order_id}"` opens an `Option`.
    Message(Message),
    /// A bare `else` opens a `Result`, whose error is the sentence.
    Error,
}

impl Given {
    /// The sentence for where there is no value, if the author wrote it.
    pub(crate) fn message(&self) -> Option<&Message> {
        match &self.absent {
            Some(Absent::Message(message)) => Some(message),
            Some(Absent::Error) | None => None,
        }
    }

    /// Whether it stands among the conditions, because it can end the call.
    pub(crate) fn is_condition(&self) -> bool {
        self.absent.is_some() || self.history.is_some()
    }
}

/// One `old(..)`, to be evaluated before the body.
pub(crate) struct Old {
    pub(crate) ident: Ident,
    pub(crate) tokens: TokenStream,
    pub(crate) mentions: Vec<usize>,
}

/// `contract_assert!(..)` taken apart.
pub(crate) struct Assertion {
    pub(crate) krate: Path,
    pub(crate) condition: TokenStream,
    pub(crate) text: String,
    /// The format string and its arguments, as for `format_args!`.
    pub(crate) format: Option<TokenStream>,
    pub(crate) policy: Option<Set<Policy>>,
    pub(crate) span: Span,
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
