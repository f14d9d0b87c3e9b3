//! Parses questions: what a person is asked before a call may go on.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::parse::ParseStream;
use syn::{Expr, ExprLit, Lit, LitStr, Token};

use crate::args::{self, Entry};
use crate::errors::Errors;
use crate::facts::Facts;
use crate::message::{self, Known};
use crate::model::{Message, Param, Role};
use crate::predicate::Mentions;

/// A question as written: a text, and the values behind it.
pub(crate) struct WrittenQuestion {
    literal: LitStr,
    args: Vec<TokenStream>,
}

/// What stands in a question.
pub(crate) enum Piece {
    Text(String),
    /// A placeholder as `format_args!` takes it, and which of the values behind the text it shows, if one of them.
    Value(String, Option<usize>),
}

/// Reads the values behind the text of a question, up to the next key.
pub(crate) fn values(
    errors: &mut Errors,
    input: ParseStream<'_>,
    key: &str,
    value: Option<&Expr>,
) -> Vec<TokenStream> {
    let is_text = matches!(
        value.map(args::ungrouped),
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(_),
            ..
        }))
    );
    if is_text && ["ask", "confirm"].contains(&key) {
        message::args(errors, input, args::is_keyed)
    } else {
        Vec::new()
    }
}

/// The value of `ask = ".."` or `confirm = ".."`.
pub(crate) fn parse(errors: &mut Errors, entry: &Entry) -> Option<WrittenQuestion> {
    let name = entry.name();
    let literal = args::string(errors, entry, "\"Cancel order {order_id}?\"")?;
    if literal.value().trim().is_empty() {
        errors.on(
            &literal,
            format_args!(
                "an empty question asks nothing; say what is to be approved, or remove `{name}`"
            ),
        );
        return None;
    }
    Some(WrittenQuestion {
        literal,
        args: entry.behind.clone(),
    })
}

/// Checks a question against what it may show, and says which parameters it names.
pub(crate) fn check(
    errors: &mut Errors,
    written: WrittenQuestion,
    params: &[Param],
) -> Option<(Message, Mentions)> {
    let WrittenQuestion { literal, args } = written;
    let known = Known {
        params,
        result: None,
    };
    let mut message = message::check(errors, literal, args, known)?;
    let mut mentions = Mentions::default();
    let mut add = |shown: String, named: Mentions| {
        let mut params = named.params.iter().filter_map(|&index| params.get(index));
        if params.any(|param| matches!(param.role, Role::Argument { .. })) {
            message.from_model.push(shown);
        }
        mentions.params.extend(named.params);
    };
    for name in &message.placeholders {
        add(
            name.clone(),
            Mentions::of(&BTreeSet::from([name.clone()]), params),
        );
    }
    for (index, arg) in message.args.iter().enumerate() {
        add(
            index.to_string(),
            Mentions::of(&Facts::of_tokens(arg).names, params),
        );
    }
    let pieces = pieces(&message.literal.value());
    let shown = |index: usize| {
        let mut pieces = pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Value(_, Some(at)) if *at == index))
    };
    for (index, arg) in message.args.iter().enumerate() {
        if !shown(index) {
            errors.on(
                arg,
                "the question shows this nowhere; write `{}` where it belongs",
            );
            return None;
        }
    }
    for piece in &pieces {
        if let Piece::Value(written, Some(at)) = piece
            && message.args.get(*at).is_none()
        {
            errors.on(
                &message.literal,
                format_args!("`{written}` has nothing to show; name a parameter in the braces, or write a value after the question"),
            );
            return None;
        }
    }
    Some((message, mentions))
}

/// Takes a text apart that [`message::check`] accepts.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut plain, mut rest, mut next) = (String::new(), text, 0);
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let from = &rest[at..];
        if from.starts_with("{{") || from.starts_with("}}") {
            plain.push_str(&from[..1]);
            rest = &from[2..];
            continue;
        }
        let end = from.find('}').unwrap_or(from.len() - 1);
        let inside = from[1..end].trim();
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        let name = name.trim();
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        let position = if name.is_empty() {
            next += 1;
            Some(next - 1)
        } else {
            name.parse().ok()
        };
        let name = if position.is_some() { "" } else { name };
        let colon = if format.is_empty() { "" } else { ":" };
        pieces.push(Piece::Value(format!("{{{name}{colon}{format}}}"), position));
        rest = &from[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    pieces
}

/// How [`Message::from_model`] knows what a placeholder shows.
pub(crate) fn name(placeholder: &str, position: Option<usize>) -> String {
    let name = || placeholder.split(['{', ':', '}']).nth(1);
    let name = || name().unwrap_or_default().to_owned();
    position.map_or_else(name, |at| at.to_string())
}

/// Whether a key of ours comes next, and no value of a question.
pub(crate) fn is_flag(input: ParseStream<'_>, word: &str) -> bool {
    let alone = input.is_empty() || input.peek(Token![,]);
    alone && FLAGS.contains(&word)
}

/// What stands alone in an attribute.
const FLAGS: &[&str] = &[
    "ask",
    "shown",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "blocking",
    "output_schema",
    "coerce",
];
