//! Expands conditions: those that stand together become one call, with the author's expressions in a closure.

use std::ops::Range;

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::{LitStr, Receiver, ReceiverKind, Token, Type};

use super::function::Judged;
use super::span::SpanRange;
use super::{data, local};
use crate::facts::Facts;
use crate::format_string::{Piece, pieces};
use crate::model::{Assertion, Clause, ClauseKind, Message, Param};
use crate::names;
use crate::predicate;

impl Judged<'_> {
    /// The condition's own policy, as a constant that the compiler folds into the check.
    fn own_policy(&self, clause: &Clause) -> TokenStream {
        data::policy(clause.policy.as_ref(), self.runtime)
    }

    /// Judges the preconditions among the conditions at these places; neighbours are judged by one call.
    pub(super) fn pres(&self, places: Range<usize>) -> Vec<TokenStream> {
        let mut rest = self.of.clauses.get(places.clone()).unwrap_or_default();
        let mut first = places.start;
        let mut judged = Vec::new();
        while let Some(clause) = rest.first() {
            let count = neighbours(rest);
            let (together, others) = rest.split_at(count);
            if clause.kind == ClauseKind::Pre {
                judged.push(self.pre(first, together));
            }
            first += count;
            rest = others;
        }
        judged
    }

    /// `frame.pre(0, 2, None, &|pass, details| match details { None => {..}, Some(details) => {..} })`
    fn pre(&self, first: usize, together: &[Clause]) -> TokenStream {
        let (frame, pass, seen) = (local("frame"), local("pass"), local("details"));
        let Some(clause) = together.first() else {
            return TokenStream::new();
        };
        let (own, runtime) = (self.own_policy(clause), self.runtime);
        let steps = together.iter().enumerate().map(|(place, clause)| {
            let judged = self.looking(clause);
            quote! {
                if #pass.reaches(#place) {
                    #judged
                }
            }
        });
        let details = together.iter().enumerate();
        let details = details.map(|(place, clause)| (place, self.details(clause, &seen)));
        let details = details.filter(|(_, details)| !details.is_empty());
        let details = details.map(|(place, details)| quote!(#place => { #details }));
        let conditions = quote! {
            &|#pass, #seen| {
                if let ::core::option::Option::Some(#seen) = #seen {
                    match #pass.place() {
                        #(#details)*
                        _ => {}
                    }
                } else {
                    #(#steps)*
                }
                #runtime::Checked::Holds
            }
        };
        if clause.history.is_some() || clause.question.is_some() {
            return quote!(#frame.pre_or_ask(#first, #own, #conditions));
        }
        let count = together.len();
        quote!(#frame.pre(#first, #count, #own, #conditions))
    }

    /// `let holds = || rate > 0.0; .. if let fails @ Checked::Fails(_) = holds() { return fails; }`
    fn looking(&self, clause: &Clause) -> TokenStream {
        let runtime = self.runtime;
        let condition = condition(&clause.predicate, runtime);
        let closure = quote_spanned!(clause.span=> || #condition);
        let (holds, fails) = (local("holds"), local("fails"));
        // In code that never runs, so that nothing is compiled for it. From the first token to the last: that is what the
        // compiler points at.
        let copied = SpanRange::of(&clause.predicate).lent(quote!(*&), &holds);
        quote! {
            let #holds = #closure;
            if false {
                #[allow(clippy::deref_addrof, reason = "it begins and ends where the condition does")]
                let () = #runtime::Precondition::looks(#copied);
            }
            if let #fails @ #runtime::Checked::Fails(_) = #holds() {
                return #fails;
            }
        }
    }

    /// `let kept = frame.keep(1, || (rt::keep(&amount), old));`
    pub(super) fn keep(&self) -> Vec<TokenStream> {
        let runtime = self.runtime;
        let posts = self
            .posts()
            .filter(|(_, clause)| !self.keeps_nothing(clause));
        let kept = posts.map(|(index, clause)| {
            let (frame, kept) = (local("frame"), old_value_ident(index));
            let copies = self.copied(clause).map(|param| {
                let ident = &param.ident;
                quote_spanned!(param.ty.span()=> #runtime::keep(&#ident))
            });
            let this = self.copied_self(clause);
            let this = this.map(|this| quote_spanned!(this.span=> #runtime::keep(&#this),));
            let olds = clause.olds.iter().map(|old| &old.tokens);
            let keep = quote_spanned!(clause.span=> || (#(#copies,)* #this #(#olds,)*));
            let own = self.own_policy(clause);
            quote!(let #kept = #frame.keep(#own, #keep);)
        });
        kept.collect()
    }

    /// `match rt::Type::of(&out).success_of(&out) { Some(value) => frame.post(1, None, &|_, details| ..), None => Ok(()) }`
    pub(super) fn after_clauses(&self, result: SpanRange) -> Vec<TokenStream> {
        let posts = self.posts();
        posts
            .map(|(index, clause)| self.post(index, clause, result))
            .collect()
    }

    fn post(&self, index: usize, clause: &Clause, result: SpanRange) -> TokenStream {
        let runtime = self.runtime;
        let (frame, out) = (local("frame"), local("out"));
        let (value, seen, stop) = (local("value"), local("details"), local("stop"));
        let side = if clause.kind == ClauseKind::PostErr {
            let failure = result.begin(quote!(#runtime::failure));
            let out = result.holding(result.lent(quote!(&), &out));
            quote!(#failure #out)
        } else {
            quote!(#runtime::Type::of(&#out).success_of(&#out))
        };
        let this = self.copied_self(clause).map(|_| local("this"));
        let head = &clause.result;
        let mut predicate = clause.predicate.clone();
        if let Some(this) = &this {
            predicate = predicate::with_self_as(this, predicate);
        }
        let bar = bar(clause.span);
        let condition = condition(&predicate, runtime);
        let holds = quote!(#bar #head #bar #condition);
        let (details, own) = (self.details(clause, &seen), self.own_policy(clause));
        let shown = clause.message.iter().any(|message| message.shows_result);
        let shown = shown.then(|| quote!(let #head = #value;));
        let name = result_name(quote!(#head));
        let judge = quote! {
            &|_, #seen| match #seen {
                ::core::option::Option::None => #runtime::look(#value, #holds),
                ::core::option::Option::Some(#seen) => {
                    #seen.result(#name, #runtime::JsonProbe::new(#value).json());
                    #shown
                    #details
                    #runtime::Checked::Holds
                }
            }
        };
        let judged = if self.keeps_nothing(clause) {
            quote!(#frame.post(#index, #own, #judge))
        } else {
            let copied = self.copied(clause).map(|param| &param.ident);
            let olds = clause.olds.iter().map(|old| &old.ident);
            let names: Vec<&Ident> = copied.chain(&this).chain(olds).collect();
            let kept = old_value_ident(index);
            quote! {
                match #frame.kept(#index, #own, #kept) {
                    ::core::result::Result::Ok(::core::option::Option::Some((#(#names,)*))) => {
                        // A name that the message alone shows is used only when the condition fails.
                        let _ = (#(&#names,)*);
                        #frame.post_of_kept(#index, #judge)
                    }
                    ::core::result::Result::Ok(::core::option::Option::None) => {
                        ::core::result::Result::Ok(())
                    }
                    ::core::result::Result::Err(#stop) => ::core::result::Result::Err(#stop),
                }
            }
        };
        quote! {
            match #side {
                ::core::option::Option::Some(#value) => #judged,
                ::core::option::Option::None => ::core::result::Result::Ok(()),
            }
        }
    }

    fn posts(&self) -> impl Iterator<Item = (usize, &Clause)> {
        let all = self.of.clauses.iter().enumerate();
        all.filter(|(_, clause)| clause.kind != ClauseKind::Pre)
    }

    /// The parameters whose copies a postcondition needs.
    fn copied<'s>(&'s self, clause: &'s Clause) -> impl Iterator<Item = &'s Param> {
        let mentioned = clause.mentions_after.iter();
        let params = mentioned.filter_map(|&index| self.of.function.params.get(index));
        params.filter(|param| {
            let stays = matches!(param.ty, Type::Reference(_)) || param.pattern.is_some();
            !(self.body_in_place && stays)
        })
    }

    /// The receiver, if a postcondition needs a copy of it.
    fn copied_self(&self, clause: &Clause) -> Option<&Token![self]> {
        let receiver = self.of.function.receiver.as_ref();
        let receiver = receiver.filter(|_| self.body_in_place && clause.mentions_self);
        receiver.and_then(self_by_value)
    }

    fn keeps_nothing(&self, clause: &Clause) -> bool {
        clause.olds.is_empty()
            && self.copied_self(clause).is_none()
            && self.copied(clause).next().is_none()
    }

    /// What a violation says: the values, and the message if it is formatted.
    fn details(&self, clause: &Clause, seen: &Ident) -> TokenStream {
        let at_hand = match clause.kind {
            ClauseKind::Pre => &clause.mentions,
            _ => &clause.mentions_after,
        };
        let details = self.details_of(at_hand, clause.message.as_ref(), seen);
        let asked = clause.question.as_ref().map(|asked| {
            let write = question(&asked.value);
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
            .filter_map(|&index| self.of.function.params.get(index));
        let values = values.filter(|param| param.is_argument() && param.pattern.is_none());
        let values = values.map(|param| {
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

/// `self`, unless it is a reference.
fn self_by_value(receiver: &Receiver) -> Option<&Token![self]> {
    let is_reference = match &receiver.kind {
        ReceiverKind::Reference(..) => true,
        ReceiverKind::Typed(_, ty) => matches!(**ty, Type::Reference(_)),
        _ => false,
    };
    (!is_reference).then_some(&receiver.self_token)
}

/// How many of these preconditions one call can judge: neighbours without a policy, a question or a use of the history.
fn neighbours(clauses: &[Clause]) -> usize {
    let is_plain = |clause: &Clause| {
        clause.kind == ClauseKind::Pre
            && clause.policy.is_none()
            && clause.history.is_none()
            && clause.question.is_none()
    };
    let plain = clauses.iter().take_while(|clause| is_plain(clause));
    plain.count().max(1)
}

/// `rt::ConditionResult::checked(predicate)`, so that a wrong type is reported at the predicate.
pub(super) fn condition(predicate: &TokenStream, runtime: &TokenStream) -> TokenStream {
    let place = SpanRange::of(predicate);
    let path = quote!(#runtime::ConditionResult::);
    place.called(path, "checked", returning(predicate, place))
}

/// The predicate, in a closure of its own if a `return` ends it.
fn returning(predicate: &TokenStream, place: SpanRange) -> TokenStream {
    if !Facts::of_tokens(predicate).returns {
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

/// The name of the result among the values of a violation: the author's, or `result`.
fn result_name(head: TokenStream) -> String {
    match syn::parse2::<Ident>(head) {
        Ok(name) => name.unraw().to_string(),
        Err(_) => "result".to_owned(),
    }
}

fn old_value_ident(index: usize) -> Ident {
    local(&format_ident!("kept_{index}").to_string())
}

/// `|text| { text.text("Refund "); text.value(&cents, format_args!("{cents}")); text.text("?"); }`
///
/// The values are those that a model may have written; any other is written with `text.computed(format_args!(..));`.
pub(super) fn question(question: &Message) -> TokenStream {
    let (text, span) = (local("text"), question.literal.span());
    let pieces = pieces(&question.literal.value()).unwrap_or_default();
    let pieces = pieces.iter().map(|piece| {
        let shown = match piece {
            Piece::Text(plain) => return quote!(#text.text(#plain);),
            Piece::Value(shown) => shown,
        };
        let key = shown.key();
        let placeholder = LitStr::new(&shown.written(), span);
        let arg = shown.position.and_then(|at| question.args.get(at));
        if !question.from_model.contains(&key) {
            let arg = arg.map(|arg| quote!(, #arg));
            return quote!(#text.computed(::core::format_args!(#placeholder #arg)););
        }
        let Some(arg) = arg else {
            // The placeholder omits `r#`.
            let word = syn::parse_str::<Ident>(&key);
            let ident =
                word.map_or_else(|_| Ident::new_raw(&key, span), |_| Ident::new(&key, span));
            return quote!(#text.value(&#ident, ::core::format_args!(#placeholder),););
        };
        // Evaluated once: its size is looked at as well.
        let mut value = local("value");
        if let Some(first) = arg.clone().into_iter().next() {
            value.set_span(value.span().located_at(first.span()));
        }
        quote! {
            match &(#arg) {
                #value => #text.value(#value, ::core::format_args!(#placeholder, #value),),
            }
        }
    });
    quote!(|#text| { #(#pieces)* })
}

/// `contract_assert!(total >= 0, "the total is {total}")`
pub(crate) fn assertion(assertion: &Assertion) -> TokenStream {
    let runtime = names::runtime(&assertion.krate);
    let (text, condition) = (&assertion.text, &assertion.condition);
    let format = assertion.format.as_ref();
    let message = data::option(format.and_then(|format| format.clone().into_iter().next()));
    let policy = data::policy(assertion.policy.as_ref(), &runtime);
    let (line, column) = data::position(assertion.span);
    let seen = local("details");
    let say = format.map(|format| quote!(#seen.message(::core::format_args!(#format));));
    let shown = format.map_or_else(|| quote!(_), |_| quote!(#seen));
    // Not by a path: `$crate` in it would keep its place, and every error would point at all of the macro.
    let result = Ident::new("__ContractConditionResult", Span::mixed_site());
    let place = SpanRange::of(condition);
    let condition = place.called(quote!(#result::), "checked", returning(condition, place));
    let holds = quote_spanned!(assertion.span=> || #condition);
    quote! {{
        use #runtime::ConditionResult as #result;
        static __CONTRACT_CONDITION: #runtime::Condition = #runtime::Condition::new(
            #runtime::ConditionKind::Assert, #text, #message, #policy, &[], (#line, #column),
        );
        #runtime::assert(&__CONTRACT_CONDITION, ::core::file!(), #holds, |#shown| { #say });
    }}
}
