//! Parses the arguments of `#[given(..)]`: a name, the value that it is given, `else ..` and `then ..`.

use std::iter;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Token, parse_quote};

use crate::args;
use crate::attributes::{ContractAttribute, Kind, of_kind};
use crate::errors::Errors;
use crate::facts::Facts;
use crate::message;
use crate::model::{Absent, Clause, ClauseKind, Given, Param, Role};
use crate::predicate::Mentions;
use crate::source;

const FORM: &str =
    "write `#[given(order = find(&order_id), else \"there is no order {order_id}\")]`";

/// The givens as parameters, because conditions and messages may name them.
pub(crate) fn as_params(contracts: &[ContractAttribute]) -> Vec<Param> {
    let names = of_kind(contracts, Kind::Given).filter_map(|given| name(&given.args));
    let params = names.map(|ident| Param {
        pattern: None,
        bindings: vec![ident.unraw().to_string()],
        mutable: false,
        ty: parse_quote!(_),
        name: ident.unraw().to_string(),
        name_span: ident.span(),
        docs: None,
        cfgs: Vec::new(),
        attrs: Vec::new(),
        // The model does not supply it.
        role: Role::Context,
        ident,
    });
    params.collect()
}

fn name(args: &TokenStream) -> Option<Ident> {
    let words = args.clone().into_iter().map(|tree| match tree {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    words.map_while(|word| word).find(|word| word != "mut")
}

/// Reads one given; `position` conditions stand above it.
pub(crate) fn parse(
    errors: &mut Errors,
    contract: &ContractAttribute,
    params: &[Param],
    position: usize,
) -> Option<Given> {
    let (args, place) = (contract.args.clone(), contract.span);
    errors.read(args, |errors, input| {
        read(errors, place, params, position, input)
    })
}

fn read(
    errors: &mut Errors,
    attribute: Span,
    params: &[Param],
    position: usize,
    input: ParseStream<'_>,
) -> Option<Given> {
    let start = input.fork();
    let mutable = input.parse().ok()?;
    let named = input.peek(syn::Ident::peek_any) || input.peek(Token![_]);
    if !(named && input.peek2(Token![=]) && !input.peek2(Token![==])) {
        let place = input.fork().parse::<TokenTree>();
        let place = place.map_or(attribute, |tree| tree.span());
        let message = format!("a given has a name and a value; {FORM}");
        errors.at(place, message);
        return None;
    }
    if let Ok(word) = input.parse::<Token![_]>() {
        let message = "`_` drops the value at once; give it a name, such as `_guard`";
        return errors.refuse(word, message);
    }
    let ident = input.call(Ident::parse_any).ok()?;
    input.parse::<Token![=]>().ok()?;
    let (expr, value) = errors.ok(source::expression(input))?;
    let facts = Facts::of(&expr);
    if let Some(span) = facts.olds.first() {
        let message =
            "`old(..)` belongs to a postcondition; a given is evaluated before the function runs";
        errors.at(*span, message);
    }
    let text = source::text(&source::since(&start, input));
    let mut given = Given {
        mutable,
        text,
        absent: None,
        demand: None,
        then: None,
        history: facts.history,
        position,
        mentions: Vec::new(),
        span: expr.span(),
        ident,
        value,
    };
    while !input.is_empty() {
        if input.parse::<Token![,]>().is_err() {
            errors.add(input.error("expected `,`, and then `else ..` or `then ..`"));
            return None;
        }
        if input.is_empty() {
            break;
        }
        given.part(errors, params, input)?;
    }
    if let Some(demand) = given.demand.as_ref().filter(|_| given.absent.is_none()) {
        let message = "`requires` says to a model when there is a value, and this lookup refuses no call; add `else`, or remove `requires`";
        errors.at(demand.key, message);
    }
    let mut used = Facts::of_tokens(&given.value).names;
    used.extend(given.message().iter().flat_map(|message| message.names()));
    let mentions = Mentions::of(&used, params).params;
    given.mentions = mentions.into_iter().collect();
    Some(given)
}

impl Given {
    /// `else ..`, `requires = ".."`, `then ..` or `crate = ..`.
    fn part(
        &mut self,
        errors: &mut Errors,
        params: &[Param],
        input: ParseStream<'_>,
    ) -> Option<()> {
        let ahead = input.fork();
        let Ok(word) = ahead.call(Ident::parse_any) else {
            errors.add(input.error("expected `else ..` or `then ..`"));
            return None;
        };
        if word == "requires" || word == "crate" {
            let entry = errors.ok(args::entry(input))?;
            if word == "crate" {
                return args::path(errors, &entry).map(|_| ());
            }
            args::set(errors, &mut self.demand, &entry, args::sentence);
            return Some(());
        }
        input.call(Ident::parse_any).ok()?;
        let message = match word.to_string().as_str() {
            "else" if self.absent.is_none() => {
                self.absent = Some(absent(errors, &self.ident, params, input)?);
                return Some(());
            }
            "then" if self.then.is_none() && input.is_empty() => {
                String::from("`then` needs an expression; write `then tx.commit()?`")
            }
            "then" if self.then.is_none() && input.peek(Token![=]) => {
                String::from("`then` takes its expression without `=`; write `then tx.commit()?`")
            }
            "then" if self.then.is_none() => {
                self.then = Some(errors.ok(source::expression(input))?.1);
                return Some(());
            }
            "else" | "then" => format!("`{word}` is given twice"),
            "policy" => {
                String::from("a given is looked up in every call and has no policy; remove it")
            }
            "ask" => String::from(
                "a given asks nobody; write `ask` in a `#[pre]` below it, which can name what it gives",
            ),
            other => {
                format!("unknown word `{other}`; behind the value comes `else ..` or `then ..`")
            }
        };
        errors.refuse(word, message)
    }
}

/// Whether a lookup or a `then` can return the function's own error.
///
/// A `?` in a closure belongs to the closure.
pub(crate) fn can_fail(givens: &[Given]) -> bool {
    let mut parts = givens
        .iter()
        .flat_map(|given| iter::once(&given.value).chain(&given.then));
    parts.any(|part| !Facts::of_tokens(part).questions.is_empty())
}

fn absent(
    errors: &mut Errors,
    own: &Ident,
    params: &[Param],
    input: ParseStream<'_>,
) -> Option<Absent> {
    if input.is_empty() || input.peek(Token![,]) {
        return Some(Absent::Error);
    }
    let written = message::parse(errors, input, is_part, |errors, expr| {
        errors.on(expr, "behind `else` comes the sentence of a refusal; write `else \"there is no order {order_id}\"`, or `else` alone for the error of a `Result`");
    });
    let message = message::check(errors, written?, params, None)?;
    let own = own.unraw().to_string();
    if message.names().contains(&own) {
        let problem = format!(
            "`{{{own}}}` names what is not there; name a parameter, or something given above"
        );
        return errors.refuse(&message.literal, problem);
    }
    Some(Absent::Message(message))
}

/// Whether another part of the given comes next, rather than an expression.
fn is_part(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).is_ok_and(|word| {
        word == "else"
            || (word == "then" && !ahead.peek(Token![,]) && !ahead.is_empty())
            || (["crate", "policy", "ask", "requires"]
                .iter()
                .any(|key| word == key)
                && ahead.peek(Token![=]))
    })
}

/// A condition cannot name a value that is looked up after it.
pub(crate) fn stand_above(errors: &mut Errors, givens: &[Given], clauses: &[Clause]) {
    let before = clauses.iter().enumerate();
    for (index, clause) in before.filter(|(_, clause)| clause.kind == ClauseKind::Pre) {
        for given in givens.iter().filter(|given| given.position > index) {
            let name = given.ident.to_string();
            let mut named = Facts::of_tokens(&clause.predicate).variables.into_iter();
            if let Some(word) = named.find(|word| *word == name) {
                let message = format!(
                    "`{name}` is looked up below this condition; move its `#[given]` above it"
                );
                errors.on(word, message);
            }
        }
    }
}

/// The names of givens must differ from each other and from those of the parameters.
pub(crate) fn names_differ(errors: &mut Errors, givens: &[Given], params: &[Param]) {
    for (index, given) in givens.iter().enumerate() {
        let name = &given.ident;
        let mut bindings = params.iter().flat_map(|param| &param.bindings);
        if bindings.any(|binding| *name == binding) {
            let message = format!("`{name}` is a parameter; give what is looked up another name");
            errors.on(name, message);
        } else if givens.iter().take(index).any(|other| other.ident == *name) {
            let message = format!("`{name}` is given twice; choose another name");
            errors.on(name, message);
        }
    }
    if let Some(second) = givens.iter().filter_map(|given| given.then.as_ref()).nth(1) {
        errors.on(second, "only one given can have a `then`, because it decides whether the call takes effect; run both in one");
    }
}
