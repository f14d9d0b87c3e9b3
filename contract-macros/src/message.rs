//! Parses messages and questions: string literals that show parameters by name and expressions by position, as `format!` does.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use syn::parse::ParseStream;
use syn::{Expr, LitStr, Token};

use crate::args::{self, Entry, listed};
use crate::errors::Errors;
use crate::facts::Facts;
use crate::format_string::{Piece, pieces, placeholders};
use crate::model::{Message, Param};
use crate::predicate::Mentions;
use crate::source;

/// A message or a question as written: a text, and the expressions for its placeholders.
pub(crate) struct Written {
    pub(crate) literal: LitStr,
    pub(crate) args: Vec<TokenStream>,
}

/// Parses a literal and the expressions after it. `wrong` reports an expression that is not a literal.
pub(crate) fn parse(
    errors: &mut Errors,
    input: ParseStream<'_>,
    is_other: fn(ParseStream<'_>) -> bool,
    wrong: impl FnOnce(&mut Errors, &Expr),
) -> Option<Written> {
    let (expr, _) = errors.ok(source::expression(input))?;
    let Some(literal) = source::literal_text(&expr).cloned() else {
        wrong(errors, source::ungrouped(&expr));
        return None;
    };
    let args = behind(errors, input, is_other);
    Some(Written { literal, args })
}

/// Parses `, expression` repeatedly, until `is_other` accepts what follows a comma.
pub(crate) fn behind(
    errors: &mut Errors,
    input: ParseStream<'_>,
    is_other: fn(ParseStream<'_>) -> bool,
) -> Vec<TokenStream> {
    let mut args = Vec::new();
    while input.peek(Token![,]) {
        let ahead = input.fork();
        let _ = ahead.parse::<Token![,]>();
        if ahead.is_empty() || is_other(&ahead) {
            break;
        }
        let _ = input.parse::<Token![,]>();
        match source::expression(input) {
            Ok((_, tokens)) => args.push(tokens),
            Err(error) => {
                errors.add(error);
                let _ = input.parse::<TokenStream>();
            }
        }
    }
    args
}

/// The value of `ask = ".."` or `confirm = ".."`.
pub(crate) fn question(errors: &mut Errors, entry: &Entry) -> Option<Written> {
    let literal = args::string(errors, entry, "\"Cancel order {order_id}?\"")?;
    if literal.value().trim().is_empty() {
        let name = entry.name();
        let message = format!(
            "an empty question asks nothing; say what is to be approved, or remove `{name}`"
        );
        return errors.refuse(&literal, message);
    }
    let args = entry.behind.clone();
    Some(Written { literal, args })
}

/// Checks a message against what it may show: parameters, and the result by its name.
pub(crate) fn check(
    errors: &mut Errors,
    written: Written,
    params: &[Param],
    result: Option<&str>,
) -> Option<Message> {
    let Written { literal, args } = written;
    let text = literal.value();
    if text.trim().is_empty() {
        let message = "an empty message says nothing; say what went wrong, or leave it out";
        return errors.refuse(&literal, message);
    }
    let read = placeholders(&text).map_err(|message| errors.on(&literal, message));
    let mut placeholders = read.ok()?;
    // The compiler reports a wrong number of them in the generated `format_args!`.
    if !args.is_empty() {
        placeholders.retain(|name| !is_position(name));
    }
    let mut fine = true;
    for name in &placeholders {
        let param = params.iter().find(|param| param.bindings.contains(name));
        let problem = match param {
            Some(param) if param.is_secret() => is_secret(name),
            None if Some(name.as_str()) != result => unknown(name, params, result),
            _ => continue,
        };
        errors.on(&literal, problem);
        fine = false;
    }
    for arg in &args {
        let mentions = Mentions::of(&Facts::of_tokens(arg).names, params);
        let mut named = mentions.params(params);
        if let Some(secret) = named.find(|param| param.is_secret()) {
            errors.on(arg, is_secret(&secret.ident.to_string()));
            fine = false;
        }
    }
    fine.then_some(Message {
        literal,
        placeholders,
        args,
        shows_result: false,
        from_model: Vec::new(),
    })
}

/// Checks a question against what it may show, and says which parameters it names.
pub(crate) fn check_question(
    errors: &mut Errors,
    written: Written,
    params: &[Param],
) -> Option<(Message, Vec<usize>)> {
    let mut message = check(errors, written, params, None)?;
    let by_name = message.placeholders.iter();
    let by_name = by_name.map(|name| (name.clone(), BTreeSet::from([name.clone()])));
    let args = message.args.iter().enumerate();
    let by_position = args.map(|(index, arg)| (index.to_string(), Facts::of_tokens(arg).names));
    let mut named = BTreeSet::new();
    for (key, names) in by_name.chain(by_position) {
        let mentions = Mentions::of(&names, params);
        let is_argument = |param: &Param| param.is_argument();
        if mentions.params(params).any(is_argument) {
            message.from_model.push(key);
        }
        named.extend(mentions.params);
    }
    let pieces = pieces(&message.literal.value()).unwrap_or_default();
    let values = || {
        pieces.iter().filter_map(|piece| match piece {
            Piece::Value(value) => Some((value, value.position?)),
            Piece::Text(_) => None,
        })
    };
    for (index, arg) in message.args.iter().enumerate() {
        if !values().any(|(_, at)| at == index) {
            let message = "the question shows this nowhere; write `{}` where it belongs";
            return errors.refuse(arg, message);
        }
    }
    if let Some((value, _)) = values().find(|(_, at)| *at >= message.args.len()) {
        let written = value.written();
        let problem = format!(
            "`{written}` has nothing to show; name a parameter in the braces, or write a value after the question"
        );
        return errors.refuse(&message.literal, problem);
    }
    Some((message, named.into_iter().collect()))
}

impl Message {
    /// The names that it shows or computes with.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let args = self.args.iter().flat_map(|arg| Facts::of_tokens(arg).names);
        args.chain(self.placeholders.iter().cloned()).collect()
    }
}

fn is_position(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_secret(name: &str) -> String {
    format!("`{name}` is secret, and this message would show it; leave it out")
}

fn unknown(name: &str, params: &[Param], result: Option<&str>) -> String {
    if is_position(name) {
        return format!(
            "`{{{name}}}` has nothing to show; name a parameter in the braces, or write a value after the message"
        );
    }
    if syn::parse_str::<Ident>(name).is_err() && syn::parse_str::<Expr>(name).is_ok() {
        return format!(
            "`{{{name}}}` is an expression, and braces take a name; write `{{}}`, and `{name}` after the message"
        );
    }
    let shown = params.iter().filter(|param| !param.is_secret());
    let shown = shown.flat_map(|param| param.bindings.iter());
    let known: Vec<&str> = shown.map(String::as_str).chain(result).collect();
    if known.is_empty() {
        return format!("`{{{name}}}` names no parameter; write `{{{{` and `}}}}` for braces");
    }
    let known = listed(&known);
    format!("`{{{name}}}` names no parameter; a message here can show {known}")
}
