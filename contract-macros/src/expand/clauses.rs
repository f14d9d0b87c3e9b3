//! Expands conditions: each becomes one call with the author's expression in a closure.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::Token;
use syn::spanned::Spanned;

use super::span::SpanRange;
use super::{data, local, question};
use crate::model::{Clause, ClauseKind, Message, Param, Role};
use crate::predicate;

/// What the conditions of one function are rendered with.
pub(super) struct Clauses<'m> {
    pub(super) all: &'m [Clause],
    pub(super) params: &'m [Param],
    pub(super) runtime: &'m TokenStream,
    /// A body that takes its arguments by value leaves none behind; one that is run in place leaves the references.
    pub(super) body_in_place: bool,
    /// The receiver, where the body takes it by value.
    pub(super) given_self: Option<&'m Token![self]>,
    /// What is asked before every call.
    pub(super) confirm: Option<&'m Message>,
}

impl Clauses<'_> {
    /// The condition's own policy, as a constant that the compiler folds into the check.
    fn own_policy(&self, clause: &Clause) -> TokenStream {
        let own = clause.policy.as_ref();
        data::option(own.map(|own| data::policy(own.value, self.runtime)))
    }

    fn numbered(&self) -> impl Iterator<Item = (usize, &Clause)> {
        self.all.iter().enumerate()
    }

    /// `rt::Precondition::pre(|| rate > 0.0, &mut frame, 0, None, |details| ..)`
    pub(super) fn before(&self) -> Vec<TokenStream> {
        self.numbered()
            .filter(|(_, clause)| clause.kind == ClauseKind::Pre)
            .map(|(index, clause)| self.pre(index, clause))
            .collect()
    }

    pub(super) fn pre(&self, index: usize, clause: &Clause) -> TokenStream {
        let (frame, seen) = (local("frame"), local("details"));
        let details = self.details(clause, &seen);
        let condition = condition(&clause.predicate, self.runtime);
        let holds = quote_spanned!(clause.span=> || #condition);
        let (own, runtime) = (self.own_policy(clause), self.runtime);
        let judge = match (&clause.history, &clause.question) {
            (Some(_), _) => quote!(pre_over_history),
            (None, Some(_)) => quote!(pre_or_ask),
            (None, None) => quote!(pre),
        };
        quote!(#runtime::Precondition::#judge(#holds, &mut #frame, #index, #own, |#seen| { #details }))
    }

    /// `frame.confirm(|text| ..);`
    pub(super) fn confirm(&self) -> Option<TokenStream> {
        let frame = local("frame");
        let write = question::write(self.confirm?);
        Some(quote!(#frame.confirm(#write);))
    }

    /// `let kept = frame.keep(1, || (rt::keep(&amount), old));`
    pub(super) fn keep(&self) -> Vec<TokenStream> {
        let runtime = self.runtime;
        self.after_clauses()
            .filter(|(_, clause)| !self.keeps_nothing(clause))
            .map(|(index, clause)| {
                let (frame, kept) = (local("frame"), old_value_ident(index));
                let copies = self.copied(clause).map(|param| {
                    let ident = &param.ident;
                    quote_spanned!(param.ty.span()=> #runtime::keep(&#ident))
                });
                let this = self
                    .copied_self(clause)
                    .map(|this| quote_spanned!(this.span=> #runtime::keep(&#this),));
                let olds = clause.olds.iter().map(|old| &old.tokens);
                let keep = quote_spanned!(clause.span=> || (#(#copies,)* #this #(#olds,)*));
                let own = self.own_policy(clause);
                quote!(let #kept = #frame.keep(#own, #keep);)
            })
            .collect()
    }

    /// `frame.post(1, rt::SuccessProbe::new(&out).success(), kept, |judge, value, (amount, old)| ..)`
    pub(super) fn after(&self, result: SpanRange) -> Vec<TokenStream> {
        let runtime = self.runtime;
        self.after_clauses()
            .map(|(index, clause)| {
                let (frame, out, judge) = (local("frame"), local("out"), local("judge"));
                let (value, seen) = (local("value"), local("details"));
                let side = if clause.kind == ClauseKind::PostErr {
                    let failure = result.begin(quote!(#runtime::failure));
                    let out = result.holding(result.lent(quote!(&), &out));
                    quote!(#failure #out)
                } else {
                    quote!(#runtime::SuccessProbe::new(&#out).success())
                };
                let copied: Vec<&Ident> = self.copied(clause).map(|param| &param.ident).collect();
                let this = self.copied_self(clause).map(|_| local("this"));
                let olds: Vec<&Ident> = clause.olds.iter().map(|old| &old.ident).collect();
                let kept_names = copied.iter().copied().chain(&this).chain(olds);
                let kept_names: Vec<&Ident> = kept_names.collect();
                let (kept, pattern, used) = if self.keeps_nothing(clause) {
                    (quote!(#runtime::Kept::nothing()), quote!(()), None)
                } else {
                    let kept = old_value_ident(index);
                    // A name that the message alone shows is used only when the condition fails.
                    let used = quote!(let _ = (#(&#kept_names,)*););
                    (quote!(#kept), quote!((#(#kept_names,)*)), Some(used))
                };
                let head = &clause.result;
                let predicate = clause.predicate.clone();
                let predicate = match &this {
                    Some(this) => predicate::with_self_as(this, predicate),
                    None => predicate,
                };
                let bar = bar(clause.span);
                let condition = condition(&predicate, runtime);
                let holds = quote!(#bar #head #bar #condition);
                let (details, own) = (self.details(clause, &seen), self.own_policy(clause));
                let shown = if clause.message.iter().any(|message| message.shows_result) {
                    quote!(#head)
                } else {
                    quote!(_)
                };
                quote! {
                    #frame.post(#index, #own, #side, #kept, |#judge, #value, #pattern| {
                        #used
                        #judge.judge(#value, #holds, |#seen, #shown| { #details })
                    })
                }
            })
            .collect()
    }

    fn after_clauses(&self) -> impl Iterator<Item = (usize, &Clause)> {
        self.numbered()
            .filter(|(_, clause)| clause.kind != ClauseKind::Pre)
    }

    /// The parameters of which a copy must be kept until after the body.
    fn copied<'s>(&'s self, clause: &'s Clause) -> impl Iterator<Item = &'s Param> {
        clause
            .mentions_after
            .iter()
            .filter_map(|&index| self.params.get(index))
            .filter(|param| {
                let stays = matches!(param.ty, syn::Type::Reference(_)) || param.pattern.is_some();
                !(self.body_in_place && stays)
            })
    }

    /// The receiver, if a copy must be kept until after the body.
    fn copied_self(&self, clause: &Clause) -> Option<&Token![self]> {
        self.given_self.filter(|_| clause.mentions_self)
    }

    fn keeps_nothing(&self, clause: &Clause) -> bool {
        clause.olds.is_empty()
            && self.copied_self(clause).is_none()
            && self.copied(clause).next().is_none()
    }

    /// What a violation says: values that are at hand, and the message if it must be put together.
    fn details(&self, clause: &Clause, seen: &Ident) -> TokenStream {
        let at_hand = match clause.kind {
            ClauseKind::Pre => &clause.mentions,
            _ => &clause.mentions_after,
        };
        let details = self.details_of(at_hand, clause.message.as_ref(), seen);
        let asked = clause.question.as_ref().map(|asked| {
            let write = question::write(&asked.value);
            quote!(#seen.question(#write);)
        });
        quote!(#details #asked)
    }

    pub(super) fn details_of(
        &self,
        at_hand: &[usize],
        message: Option<&Message>,
        seen: &Ident,
    ) -> TokenStream {
        let runtime = self.runtime;
        let values = at_hand
            .iter()
            .filter_map(|&index| self.params.get(index))
            .filter(|param| matches!(param.role, Role::Argument { .. }) && param.pattern.is_none())
            .map(|param| {
                let (name, ident) = (&param.name, &param.ident);
                if param.is_secret() {
                    quote!(#seen.secret(#name);)
                } else {
                    quote!(#seen.value(#name, #runtime::JsonProbe::new(&#ident).json());)
                }
            });
        let message = message.filter(|message| message.is_formatted());
        let message = message.map(|message| {
            let (literal, args) = (&message.literal, &message.args);
            quote!(#seen.message(::core::format_args!(#literal #(, #args)*));)
        });
        quote!(#(#values)* #message)
    }
}

/// `rt::ConditionResult::checked(predicate)`, so that a wrong type is reported at the predicate.
pub(super) fn condition(predicate: &TokenStream, runtime: &TokenStream) -> TokenStream {
    let place = SpanRange::of(predicate);
    let path = quote!(#runtime::ConditionResult::);
    place.called(path, "checked", returning(predicate, place))
}

/// The predicate, in a closure of its own if a `return` ends it.
pub(super) fn returning(predicate: &TokenStream, place: SpanRange) -> TokenStream {
    if !predicate::returns(predicate) {
        return predicate.clone();
    }
    let (closure, call) = (place.holding(quote!(|| #predicate)), place.end(quote!(())));
    quote!(#closure #call)
}

/// The bar of a closure that linters know is ours: of one like `|value| value.is_none()` they would advise to write it as a
/// path, which no condition can be.
fn bar(span: Span) -> TokenTree {
    let mut bar = Punct::new('|', Spacing::Alone);
    bar.set_span(Span::mixed_site().located_at(span));
    TokenTree::Punct(bar)
}

fn old_value_ident(index: usize) -> Ident {
    local(&format_ident!("kept_{index}").to_string())
}
