//! Parses the arguments of all attributes: `key` or `key = value`, separated by commas.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use strsim::osa_distance;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, LitBool, LitStr, Path, Token};

use crate::errors::Errors;
use crate::message;
use crate::model::{Policy, Set, Shown};
use crate::source::{self, literal_text, ungrouped};

pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) value: Option<Expr>,
    /// The expressions that follow a question, for its placeholders.
    pub(crate) behind: Vec<TokenStream>,
}

impl Entry {
    pub(crate) fn name(&self) -> String {
        self.key.unraw().to_string()
    }

    pub(crate) fn span(&self) -> Span {
        self.key.span()
    }
}

/// Parses the rest of the input as arguments. One that cannot be parsed is reported, and parsing continues after the next comma.
pub(crate) fn entries(errors: &mut Errors, input: ParseStream<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    while !input.is_empty() {
        match entry(input) {
            Ok(mut entry) => {
                if ["ask", "confirm"].contains(&entry.name().as_str())
                    && entry.value.as_ref().and_then(literal_text).is_some()
                {
                    entry.behind = message::behind(errors, input, is_keyed);
                }
                entries.push(entry);
            }
            Err(error) => {
                errors.add(error);
                skip(input);
            }
        }
        if !input.is_empty() && input.parse::<Token![,]>().is_err() {
            errors.add(input.error("expected `,`"));
            skip(input);
            let _ = input.parse::<Token![,]>();
        }
    }
    entries
}

pub(crate) fn parse(errors: &mut Errors, tokens: TokenStream) -> Vec<Entry> {
    let parser = |input: ParseStream<'_>| Ok(entries(errors, input));
    parser.parse2(tokens).unwrap_or_default()
}

pub(crate) fn entry(input: ParseStream<'_>) -> syn::Result<Entry> {
    if !input.peek(syn::Ident::peek_any) {
        return Err(input
            .error("an argument is a name, or a name and a value; write `key` or `key = value`"));
    }
    let key = input.call(Ident::parse_any)?;
    if input.peek(syn::token::Paren) {
        let inside;
        syn::parenthesized!(inside in input);
        let message = if inside.is_empty() {
            format!("`{key}` takes no parentheses; write `{key}`")
        } else {
            format!("`{key}` takes its value after `=`; write `{key} = ..`")
        };
        let _ = inside.parse::<TokenStream>();
        return Err(syn::Error::new(key.span(), message));
    }
    let mut value = None;
    if input.parse::<Option<Token![=]>>()?.is_some() {
        if input.is_empty() {
            let message = format!("`{key}` needs a value; write `{key} = ..`");
            return Err(syn::Error::new(key.span(), message));
        }
        let read = source::expression(input);
        value = Some(read.map_err(|error| keyword(&key, input, error))?.0);
    }
    let behind = Vec::new();
    Ok(Entry { key, value, behind })
}

/// Explains a keyword of Rust that is written as a value.
fn keyword(key: &Ident, input: ParseStream<'_>, error: syn::Error) -> syn::Error {
    let Ok(word) = input.fork().call(Ident::parse_any) else {
        return error;
    };
    let message = format!(
        "`{word}` is a keyword of Rust and no value; as a text, write `{key} = \"{word}\"`"
    );
    syn::Error::new(word.span(), message)
}

fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _ = input.parse::<proc_macro2::TokenTree>();
    }
}

/// Whether an argument comes next, `key` or `key = value`, rather than an expression.
pub(crate) fn is_keyed(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).is_ok_and(|word| {
        let is_one = |of: &str| of.split(' ').any(|known| word == known);
        ((ahead.is_empty() || ahead.peek(Token![,])) && is_one(FLAGS))
            || (ahead.peek(Token![=]) && !ahead.peek(Token![==]))
            || (ahead.peek(syn::token::Paren) && is_one(KEYS))
    })
}

/// Keys that need no value.
const FLAGS: &str = "ask shown read_only destructive idempotent open_world blocking output_schema coerce run strict";

/// Keys of a condition that are recognised when written as `key(..)`, so that the mistake is reported with the key.
const KEYS: &str = "policy shown requires ensures ask id message msg";

/// Sets a key, and refuses a second value for it.
pub(crate) fn set<T>(
    errors: &mut Errors,
    slot: &mut Option<Set<T>>,
    entry: &Entry,
    read: impl FnOnce(&mut Errors, &Entry) -> Option<T>,
) {
    if slot.is_some() {
        let message = format!("`{}` is given twice", entry.name());
        errors.at(entry.span(), message);
    } else if let Some(value) = read(errors, entry) {
        *slot = Some(Set {
            key: entry.span(),
            value,
        });
    }
}

/// Reports a key that is not one of the `known` words.
pub(crate) fn unknown(errors: &mut Errors, entry: &Entry, owner: &str, known: &str) {
    let (given, known) = (entry.name(), known.split_whitespace().collect::<Vec<_>>());
    let advice = advice(&given, &known, &format!("{owner} takes"));
    let message = format!("unknown argument `{given}`; {advice}");
    errors.at(entry.span(), message);
}

fn advice(given: &str, known: &[&str], otherwise: &str) -> String {
    match nearest(given, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("{otherwise} {}", listed(known)),
    }
}

/// The candidate within two edits of `given`, or within a third of its length; case and underscores do not count.
pub(crate) fn nearest<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let given = folded(given);
    let limit = match given.chars().count() {
        0 => return None,
        1..=3 => 1,
        length => (length / 3).max(2),
    };
    let edits = |candidate: &&str| osa_distance(&given, &folded(candidate));
    let nearest = candidates.iter().copied().min_by_key(edits);
    nearest.filter(|candidate| edits(candidate) <= limit)
}

fn folded(word: &str) -> String {
    word.replace(['_', '-'], "").to_lowercase()
}

/// Words in backticks: "`a`, `b` and `c`".
pub(crate) fn listed(words: &[impl AsRef<str>]) -> String {
    let words = words.iter().map(|word| format!("`{}`", word.as_ref()));
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::from("nothing"),
    }
}

pub(crate) fn value(errors: &mut Errors, entry: &Entry, example: &str) -> Option<Expr> {
    if entry.value.is_none() {
        let name = entry.name();
        let message = format!("`{name}` needs a value; write `{name} = {example}`");
        errors.at(entry.span(), message);
    }
    entry.value.clone()
}

/// `key` or `key = true`.
pub(crate) fn flag(errors: &mut Errors, entry: &Entry) -> Option<bool> {
    let name = entry.name();
    let message = format!("`{name}` is on or off; write `{name}` or `{name} = false`");
    is_on(errors, entry, &message)
}

fn is_on(errors: &mut Errors, entry: &Entry, message: &str) -> Option<bool> {
    let Some(value) = &entry.value else {
        return Some(true);
    };
    let flag = syn::parse2::<LitBool>(ungrouped(value).to_token_stream());
    let flag = flag.map_err(|_| errors.on(ungrouped(value), message));
    flag.map(|flag| flag.value).ok()
}

/// `shown`, or `shown = never`.
pub(crate) fn shown(errors: &mut Errors, entry: &Entry) -> Option<Shown> {
    if matches!(entry.value.as_ref().map(ungrouped), Some(Expr::Path(word)) if word.path.is_ident("never"))
    {
        return Some(Shown::Never);
    }
    let message = "`shown` stands alone, or is `never`; write `shown` or `shown = never`";
    let demanded = is_on(errors, entry, message)?;
    Some(if demanded {
        Shown::Fully
    } else {
        Shown::Possibly
    })
}

pub(crate) fn sentence(errors: &mut Errors, entry: &Entry) -> Option<LitStr> {
    let literal = string(errors, entry, "\"..\"")?;
    if literal.value().trim().is_empty() {
        let advice = match entry.name().as_str() {
            "id" => "an empty id names nothing; name the condition, or remove `id`".to_owned(),
            name => format!("an empty sentence says nothing; say what holds, or remove `{name}`"),
        };
        return errors.refuse(&literal, advice);
    }
    Some(literal)
}

pub(crate) fn string(errors: &mut Errors, entry: &Entry, example: &str) -> Option<LitStr> {
    let expr = value(errors, entry, example)?;
    let literal = literal_text(&expr).cloned();
    if literal.is_none() {
        let name = entry.name();
        let message = format!("`{name}` takes a string; write `{name} = {example}`");
        errors.on(expr, message);
    }
    literal
}

/// A string literal, or an expression that may be a string.
pub(crate) fn constant_text(errors: &mut Errors, entry: &Entry, example: &str) -> Option<Expr> {
    let expr = value(errors, entry, example)?;
    match ungrouped(&expr) {
        Expr::Lit(_) => string(errors, entry, example).map(|_| expr),
        _ => Some(expr),
    }
}

/// A function from a builder to a builder; a literal is refused.
pub(crate) fn setup(errors: &mut Errors, entry: &Entry) -> Option<Expr> {
    let expr = value(errors, entry, "on_paper")?;
    if let Expr::Lit(literal) = ungrouped(&expr) {
        let message =
            "`setup` takes a function from a `Builder` to a `Builder`; write `setup = on_paper`";
        return errors.refuse(literal, message);
    }
    Some(expr)
}

const POLICIES: [(&str, Policy); 4] = [
    ("ignore", Policy::Ignore),
    ("observe", Policy::Observe),
    ("enforce", Policy::Enforce),
    ("quick_enforce", Policy::QuickEnforce),
];

pub(crate) fn policy(errors: &mut Errors, entry: &Entry) -> Option<Policy> {
    let expr = value(errors, entry, "observe")?;
    let words = POLICIES.map(|(word, _)| word);
    let Expr::Path(path) = ungrouped(&expr) else {
        let known = listed(&words);
        let message = format!("`policy` takes a bare word; write one of {known}");
        return errors.refuse(expr, message);
    };
    let given = path.path.segments.last()?.ident.to_string();
    let found = POLICIES.iter().find(|(word, _)| *word == given);
    if found.is_none() {
        let advice = advice(&given, &words, "write one of");
        errors.on(expr, format_args!("unknown policy `{given}`; {advice}"));
    }
    found.map(|(_, policy)| *policy)
}

pub(crate) fn is_policy(path: &Path) -> bool {
    POLICIES.iter().any(|(word, _)| path.is_ident(word))
}

/// The path of the runtime crate.
pub(crate) fn path(errors: &mut Errors, entry: &Entry) -> Option<Path> {
    let expr = value(errors, entry, "my_crate::contracts")?;
    let path = Path::parse_mod_style.parse2(ungrouped(&expr).to_token_stream());
    let message = "`crate` takes a path; write `crate = my_crate::contracts`";
    path.map_err(|_| errors.on(expr, message)).ok()
}

/// A duration in milliseconds: `"250ms"`, `"30s"`, `"2m"`, `"1h"`.
pub(crate) fn duration(errors: &mut Errors, entry: &Entry) -> Option<u64> {
    let text = string(errors, entry, "\"30s\"")?;
    let milliseconds = |written: &str| {
        let unit_at = written.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, unit) = written.split_at(unit_at);
        let factor = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(factor)
    };
    let message = match milliseconds(&text.value()) {
        Some(0) => "a timeout must be longer than zero; write `timeout = \"30s\"`",
        None => {
            "this is not a duration; write a whole number and a unit, such as `\"250ms\"`, `\"30s\"`, `\"2m\"` or `\"1h\"`"
        }
        read => return read,
    };
    errors.refuse(&text, message)
}
