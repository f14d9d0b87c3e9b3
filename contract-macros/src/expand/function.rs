//! Expands the forms of one function: the visible one, its body, the checked one and the one in place.
//!
//! If there are no givens, a tool's body and its checked form are functions. A body that may name what is given stands
//! between the conditions, as `rt::run(|| -> Receipt { .. })`, and all of that is an expression of the type
//! `Result<Receipt, rt::Stop>`. If a `?` of a given returns the function's own error, that expression is in the `Ok` of a
//! closure that returns the error.
//!
//! An ordinary function has no checked form: its conditions wrap the body in place, with `rt::settle(frame.pre(0, 1, ..));`
//! for each step. A nested function would be simpler, but inside a method it could name neither `self` nor `Self`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{ReturnType, Type};

use super::span::SpanRange;
use super::types::{result_type, whole_result};
use super::{data, findings, local, portable, shim};
use crate::attributes;
use crate::given;
use crate::model::{Absent, Clause, Contracted, Function, Given, Message, Param, Tool};
use crate::names;
use crate::spelling::holds_impl;

/// Expands a free function as a tool: generated items live inside its own body.
pub(super) fn tool(tool: &Tool) -> TokenStream {
    let (runtime, import) = names::runtime_in_body(&tool.krate);
    let runtime = &runtime;
    let function = &tool.function;
    let [body, checked, call_name, output_name] = ["body", "checked", "call", "output"]
        .map(|what| Ident::new(&format!("{}{what}", names::PREFIX), Span::call_site()));
    let forms = forms(tool, &body, &checked, &quote!(#body), runtime, None);
    let call = local("call");
    let checked = quote!(#checked);
    let running = shim::running(function, &checked, runtime);
    let output = shim::output(tool, runtime);
    let spec = data::spec(tool, runtime);
    let levels = portable::lint_levels(&tool.clauses);
    let findings = findings::of_tool(tool, &quote!(__CONTRACT_SPEC), runtime);
    let name = &function.sig.ident;
    let direct = direct(tool, &quote!(__CONTRACT_SPEC.contract), &checked, runtime);
    let inside = quote! {
        #import
        #forms
        fn #call_name(#call: #runtime::Call<'_>) -> #runtime::Running<'_> {
            #running
        }
        fn #output_name() -> ::core::option::Option<#runtime::Describe> {
            #output
        }
        #levels
        static __CONTRACT_SPEC: #runtime::Spec = #spec;
        #findings
        #runtime::inventory::submit! {
            #runtime::Registered {
                spec: &__CONTRACT_SPEC,
                call: #call_name,
                output: #output_name,
                function: || #runtime::type_of(&#name),
            }
        }
        #direct
    };
    visible(function, &inside)
}

pub(super) fn contracted(contracted: &Contracted) -> TokenStream {
    let (runtime, import) = names::runtime_in_body(&contracted.krate);
    let runtime = &runtime;
    let (function, givens) = (&contracted.function, &contracted.givens);
    let sig = &function.sig;
    let contract = data::contract(
        &sig.ident.unraw().to_string(),
        None,
        (&contracted.clauses, givens),
        &function.params,
        None,
        runtime,
    );
    let findings = findings::of_contracted(contracted, runtime);
    let mut judged = Judged::new(function, givens, &contracted.clauses, runtime);
    judged.body_in_place = true;
    let inside = if givens.is_empty() {
        judged.ending = Ending::Settle;
        let (before, body) = (judged.before(), judged.body());
        // After a body that never returns, nothing can be judged.
        if matches!(&sig.output, ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_))) {
            quote!(#before #body)
        } else {
            let (out, after) = (local("out"), judged.after());
            quote!(#before let #out = #body; #after #out)
        }
    } else {
        let (settle, expression) = (settle(function, givens, runtime), judged.expression());
        quote!(#settle(#expression))
    };
    let (outer, inner, vis) = (&function.attrs_outer, &function.attrs_inner, &function.vis);
    let params = function.params.iter().map(|param| match &param.pattern {
        None => parameter(param),
        Some(pattern) => {
            let (cfgs, attrs, ty) = (&param.cfgs, &param.attrs, &param.ty);
            quote!(#(#cfgs)* #(#attrs)* #pattern: #ty)
        }
    });
    let signature = signature(function, &sig.ident, None, params, &sig.output);
    let uses = attributes::run_on_nothing(&function.uses);
    let (frame, opened) = (
        local("frame"),
        frame(function, givens, &quote!(__CONTRACT), runtime),
    );
    quote! {
        #(#outer)*
        #(#inner)*
        #vis #signature {
            #uses
            #import
            static __CONTRACT: #runtime::Contract = #contract;
            #findings
            let mut #frame = #opened;
            #inside
        }
    }
}

/// `cfgs attrs mut ident: Type`, as the author wrote it.
fn parameter(param: &Param) -> TokenStream {
    let (cfgs, attrs, ident, ty) = (&param.cfgs, &param.attrs, &param.ident, &param.ty);
    let mutable = param.mutable.then(|| quote!(mut));
    quote!(#(#cfgs)* #(#attrs)* #mutable #ident: #ty)
}

/// `async unsafe fn name<T>(&self, frame, params) -> Output where ..`
fn signature(
    function: &Function,
    name: &Ident,
    frame: Option<TokenStream>,
    params: impl Iterator<Item = TokenStream>,
    output: &impl ToTokens,
) -> TokenStream {
    let sig = &function.sig;
    let (asyncness, unsafety, generics) = (&sig.asyncness, &sig.safety, &sig.generics);
    let bounds = &sig.generics.where_clause;
    let receiver = function.receiver.iter().map(ToTokens::to_token_stream);
    let params = receiver.chain(frame).chain(params);
    quote!(#asyncness #unsafety fn #name #generics (#(#params),*) #output #bounds)
}

pub(super) fn visible(function: &Function, inside: &TokenStream) -> TokenStream {
    let (attrs, vis, sig) = (&function.attrs_outer, &function.vis, &function.sig);
    let params = function.params.iter().map(|param| {
        let (cfgs, ident, ty) = (&param.cfgs, visible_name(function, &param.ident), &param.ty);
        quote!(#(#cfgs)* #ident: #ty)
    });
    let signature = signature(function, &sig.ident, None, params, &sig.output);
    let uses = attributes::run_on_nothing(&function.uses);
    quote! {
        #(#attrs)*
        #vis #signature {
            #uses
            #inside
        }
    }
}

/// A parameter that is called like the function would hide it from its own registration, so there no other token sees it.
fn visible_name(function: &Function, ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    if ident == function.sig.ident {
        ident.set_span(Span::mixed_site().located_at(ident.span()));
    }
    ident
}

/// The call of the checked form in the visible function.
pub(super) fn direct(
    tool: &Tool,
    contract: &TokenStream,
    checked: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    let function = &tool.function;
    let frame = frame(function, &tool.givens, contract, runtime);
    let settle = settle(function, &tool.givens, runtime);
    let waited = function.is_async.then(|| quote!(.await));
    let arguments = arguments(function, |ident| visible_name(function, ident));
    quote!(#settle(#checked(#frame, #(#arguments),*) #waited))
}

/// The arguments that pass all parameters on.
fn arguments(
    function: &Function,
    named: impl Fn(&Ident) -> Ident,
) -> impl Iterator<Item = TokenStream> {
    function.params.iter().map(move |param| {
        let (cfgs, ident) = (&param.cfgs, named(&param.ident));
        quote!(#(#cfgs)* #ident)
    })
}

fn frame(
    function: &Function,
    givens: &[Given],
    contract: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    // What is looked up may wait.
    if function.is_async && !givens.is_empty() {
        quote!(#runtime::Frame::direct_later(&#contract))
    } else {
        quote!(#runtime::Frame::direct(&#contract))
    }
}

/// The function that ends a direct call. A function without a result can return early if a given is absent.
fn settle(function: &Function, givens: &[Given], runtime: &TokenStream) -> TokenStream {
    match function.sig.output {
        ReturnType::Default if !givens.is_empty() => quote!(#runtime::settle_unit),
        _ => quote!(#runtime::settle),
    }
}

/// The body of a tool and its checked form: one function if there are givens, else two. `head` is put above each.
pub(super) fn forms(
    tool: &Tool,
    body_name: &Ident,
    checked_name: &Ident,
    body: &TokenStream,
    runtime: &TokenStream,
    head: Option<&TokenStream>,
) -> TokenStream {
    let function = &tool.function;
    let mut judged = Judged::new(function, &tool.givens, &tool.clauses, runtime);
    judged.confirm = tool.confirm.as_ref().map(|(question, _)| question);
    let (sig, attrs, frame) = (&function.sig, &function.attrs_inner, local("frame"));
    // A parameter that only a condition looks at is used, though not in the body.
    let used = quote!(#[allow(unused_variables, reason = "a condition looks at it")]);
    let params = |is_used: &dyn Fn(usize) -> bool| -> Vec<TokenStream> {
        let params = function.params.iter().enumerate().map(|(index, param)| {
            let used = is_used(index).then_some(&used);
            let param = parameter(param);
            quote!(#used #param)
        });
        params.collect()
    };
    let (own, attrs_checked, params, inside) = if judged.body_in_place {
        (None, &attrs[..], params(&|_| true), judged.expression())
    } else {
        let in_question = || tool.confirm.iter().flat_map(|(_, mentions)| mentions);
        let in_conditions = || tool.clauses.iter().flat_map(|clause| &clause.mentions);
        let named = |index| {
            in_conditions()
                .chain(in_question())
                .any(|&named| named == index)
        };
        let signature = signature(
            function,
            body_name,
            None,
            params(&named).into_iter(),
            &sig.output,
        );
        let written = &function.body;
        let own = quote!(#head #(#attrs)* #signature #written);
        let plain = function.params.iter().map(|param| {
            let (cfgs, ident, ty) = (&param.cfgs, &param.ident, &param.ty);
            quote!(#(#cfgs)* #ident: #ty)
        });
        let arguments = arguments(function, Ident::clone);
        let waited = sig.asyncness.as_ref().map(|_| quote!(.await));
        let (before, out, after) = (judged.before(), local("out"), judged.after());
        let inside = quote! {
            #before
            let #out = #body(#(#arguments),*) #waited;
            #after
            ::core::result::Result::Ok(#out)
        };
        (Some(own), &[][..], plain.collect(), inside)
    };
    let output = result_type(&sig.output);
    let signature = signature(
        function,
        checked_name,
        Some(quote!(mut #frame: #runtime::Frame)),
        params.into_iter(),
        &quote!(-> ::core::result::Result<#output, #runtime::Stop>),
    );
    // The frame is one argument more than the author has written.
    let many = (sig.inputs.len() == 7)
        .then(|| quote!(#[allow(clippy::too_many_arguments, reason = "one of them is ours")]));
    quote!(#own #head #many #(#attrs_checked)* #signature { #inside })
}

enum Ending {
    /// `step?;`
    Return,
    /// An explicit `return`, because `?` returns the function's own error.
    ReturnOk,
    /// `rt::settle(step);`
    Settle,
}

/// A function with the conditions and lookups around its body.
pub(super) struct Judged<'m> {
    pub(super) function: &'m Function,
    givens: &'m [Given],
    pub(super) clauses: &'m [Clause],
    /// What is asked before every call.
    pub(super) confirm: Option<&'m Message>,
    pub(super) runtime: &'m TokenStream,
    /// Whether the body is run in place, so that references among the parameters are still there after it.
    pub(super) body_in_place: bool,
    ending: Ending,
}

impl<'m> Judged<'m> {
    fn new(
        function: &'m Function,
        givens: &'m [Given],
        clauses: &'m [Clause],
        runtime: &'m TokenStream,
    ) -> Self {
        Self {
            function,
            givens,
            clauses,
            confirm: None,
            runtime,
            body_in_place: !givens.is_empty(),
            ending: if given::can_fail(givens) {
                Ending::ReturnOk
            } else {
                Ending::Return
            },
        }
    }

    /// An expression of the type `Result<Output, rt::Stop>`; it needs the frame and the parameters in scope.
    fn expression(&self) -> TokenStream {
        let runtime = self.runtime;
        let ty = result_type(&self.function.sig.output);
        // `impl Trait` has no name.
        let output = if holds_impl(&ty) {
            quote!(_)
        } else {
            ty.clone()
        };
        let of = whole_result(&self.function.sig);
        let out = local("out");
        let can_fail = matches!(self.ending, Ending::ReturnOk);
        let (returned, end) = if can_fail {
            let end = of.called(quote!(<#ty as #runtime::Fallible>::), "judged", &out);
            let form = quote!(#runtime::JudgedForm<#output);
            let form = of.around(form, TokenStream::new(), quote!(>));
            (form, end)
        } else {
            (
                quote!(::core::result::Result<#output, #runtime::Stop>),
                quote!(::core::result::Result::Ok(#out)),
            )
        };
        let (before, body, after) = (self.before(), self.body(), self.after());
        let inside = quote!(#before let #out = #body; #after #end);
        let judged = if self.function.is_async {
            quote!(#runtime::run_async::<#returned, _>(async { #inside }).await)
        } else {
            let (run, head) = (of.begin(quote!(#runtime::run)), of.begin(quote!(|| ->)));
            let closure = of.holding(quote!(#head #returned { #inside }));
            quote!(#run #closure)
        };
        if !can_fail {
            return judged;
        }
        let form = Ident::new(&local("judged").to_string(), of.place());
        let flatten = of.called(quote!(<#output as #runtime::Fallible>::), "flatten", &form);
        quote!({
            let #form = #judged;
            #flatten
        })
    }

    /// Everything before the body: givens and preconditions in order, and the values that postconditions need.
    fn before(&self) -> TokenStream {
        let frame = local("frame");
        let all = self.clauses.len();
        let mut steps = TokenStream::new();
        let mut givens = self.givens.iter().peekable();
        let (mut index, mut position) = (all, 0);
        loop {
            while let Some(given) = givens.next_if(|given| given.position == position) {
                steps.extend(self.given(given, index));
                index += usize::from(given.is_condition());
            }
            let next = givens.peek().map_or(all, |given| given.position);
            let judged = self.pres(position..next);
            steps.extend(judged.iter().map(|judged| self.step(judged)));
            if givens.peek().is_none() {
                break;
            }
            position = next;
        }
        let enter = self.step(&quote!(#frame.enter()));
        let (keep, confirm) = (self.keep(), self.confirm());
        quote!(#steps #confirm #enter #(#keep)*)
    }

    fn body(&self) -> TokenStream {
        let (runtime, body) = (self.runtime, &self.function.body);
        let ty = result_type(&self.function.sig.output);
        // `impl Trait` has no name, so the closure's own type has to do.
        match (self.function.is_async, holds_impl(&ty)) {
            (false, false) => quote!(#runtime::run(|| -> #ty #body)),
            (false, true) => quote!(#runtime::run(|| #body)),
            (true, false) => quote!(#runtime::run_async::<#ty, _>(async #body).await),
            (true, true) => quote!(#runtime::run_async(async #body).await),
        }
    }

    /// Everything after the body except the returned value.
    fn after(&self) -> TokenStream {
        let runtime = self.runtime;
        let (frame, out) = (local("frame"), local("out"));
        let after = self.after_clauses(whole_result(&self.function.sig));
        let after = after.iter().map(|judged| self.step(judged));
        let then = self.givens.iter().filter_map(|given| {
            let then = given.then.as_ref()?;
            Some(quote! {
                if #frame.is_awaited() && #runtime::SuccessProbe::new(&#out).success().is_some() {
                    #then;
                }
            })
        });
        quote! {
            #(#after)*
            #(#then)*
            #frame.close();
            #runtime::end(#frame);
        }
    }

    /// One given, with the check that the history has answered its questions.
    fn given(&self, given: &Given, index: usize) -> TokenStream {
        let looked_up = self.look_up(given, index);
        if given.history.is_none() {
            return looked_up;
        }
        let frame = local("frame");
        let ask = self.step(&quote!(#frame.ask_history(#index)));
        let answered = self.step(&quote!(#frame.history_asked(#index)));
        quote!(#ask #looked_up #answered)
    }

    /// One given. If it can end the call, it is the condition number `index`.
    ///
    /// `let order = match rt::Present::present(find(&id)) { Some(found) => found, None => return Err(frame.absent(2, ..)) };`
    fn look_up(&self, given: &Given, index: usize) -> TokenStream {
        let runtime = self.runtime;
        let (ident, mutable, value) = (&given.ident, &given.mutable, &given.value);
        let Some(absent) = &given.absent else {
            return quote!(let #mutable #ident = #value;);
        };
        let (frame, details) = (local("frame"), local("details"));
        let (found, why) = (local("found"), local("why"));
        let place = SpanRange::of(value);
        let (opened, present, missing, sentence, message) = match absent {
            Absent::Message(message) => (
                place.called(quote!(#runtime::Present::), "present", value),
                quote!(::core::option::Option::Some(#found)),
                quote!(::core::option::Option::None),
                quote!(::core::option::Option::None),
                Some(message),
            ),
            Absent::Error => (
                place.called(quote!(#runtime::Opened::), "opened", value),
                quote!(::core::result::Result::Ok(#found)),
                quote!(::core::result::Result::Err(#why)),
                quote!(::core::option::Option::Some(#why)),
                None,
            ),
        };
        let shown = self.details_of(&given.mentions, message, &details);
        let end = self.end(&quote!(#frame.absent(#index, #sentence, |#details| { #shown })));
        quote! {
            #frame.look_up(#index);
            let #mutable #ident = match #opened {
                #present => #found,
                #missing => { #end }
            };
        }
    }

    fn step(&self, judged: &TokenStream) -> TokenStream {
        match self.ending {
            Ending::Return => quote!(#judged?;),
            Ending::ReturnOk => {
                let stop = local("stop");
                let end = self.end(&quote!(#stop));
                quote!(if let ::core::result::Result::Err(#stop) = #judged { #end })
            }
            Ending::Settle => {
                let runtime = self.runtime;
                quote!(#runtime::settle(#judged);)
            }
        }
    }

    fn end(&self, stop: &TokenStream) -> TokenStream {
        let mut returned = quote!(::core::result::Result::Err(#stop));
        if matches!(self.ending, Ending::ReturnOk) {
            returned = quote!(::core::result::Result::Ok(#returned));
        }
        quote!(return #returned;)
    }
}
