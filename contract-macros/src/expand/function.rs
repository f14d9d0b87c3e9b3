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

use super::clauses::question;
use super::shim::{result_type, whole_result};
use super::span::SpanRange;
use super::{data, findings, local, portable, shim};
use crate::attributes;
use crate::given;
use crate::model::{Absent, Contracted, Function, Given, Message, Param, Tool};
use crate::names;
use crate::spelling::holds_impl;

/// Expands a free function as a tool: generated items live inside its own body.
pub(super) fn tool(tool: &Tool) -> TokenStream {
    let (runtime, import) = names::runtime_in_body(&tool.krate);
    let runtime = &runtime;
    let [body, checked, call_name, output_name] = ["body", "checked", "call", "output"]
        .map(|what| Ident::new(&format!("{}{what}", names::PREFIX), Span::call_site()));
    let forms = forms(tool, &body, &checked, &quote!(#body), runtime, None);
    let (call, checked) = (local("call"), quote!(#checked));
    let running = shim::running(&tool.function, &checked, runtime);
    let output = shim::output(tool, runtime);
    let spec = data::spec(tool, runtime);
    let levels = portable::lint_levels(&tool.clauses);
    let findings = findings::of_tool(tool, &quote!(__CONTRACT_SPEC), runtime);
    let name = &tool.function.sig.ident;
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
    visible(&tool.function, &inside)
}

pub(super) fn contracted(contracted: &Contracted) -> TokenStream {
    let (runtime, import) = names::runtime_in_body(&contracted.krate);
    let runtime = &runtime;
    let function = &contracted.function;
    let (sig, vis) = (&function.sig, &function.vis);
    let name = sig.ident.unraw().to_string();
    let contract = data::contract(&name, None, contracted, None, runtime);
    let findings = findings::of_contracted(contracted, runtime);
    let mut judged = Judged::new(contracted, runtime);
    judged.body_in_place = true;
    let inside = if contracted.givens.is_empty() {
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
        let (settle, expression) = (settle(contracted, runtime), judged.expression());
        quote!(#settle(#expression))
    };
    let (outer, inner) = (&function.attrs_outer, &function.attrs_inner);
    let params = function.params.iter().map(parameter);
    let signature = signature(function, &sig.ident, None, params, &sig.output);
    let uses = attributes::run_on_nothing(&function.uses);
    let opened = frame(contracted, &quote!(__CONTRACT), runtime);
    let frame = local("frame");
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
    let own = || quote!(#mutable #ident);
    let name = param
        .pattern
        .as_ref()
        .map_or_else(own, ToTokens::to_token_stream);
    quote!(#(#cfgs)* #(#attrs)* #name: #ty)
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
    let params = passed(function, |ident| visible_name(function, ident), true);
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
    let (frame, settle) = (frame(tool, contract, runtime), settle(tool, runtime));
    let waited = function.is_async.then(|| quote!(.await));
    let arguments = passed(function, |ident| visible_name(function, ident), false);
    quote!(#settle(#checked(#frame, #(#arguments),*) #waited))
}

/// The parameters by their names, as arguments that pass them on or with their types.
fn passed(
    function: &Function,
    named: impl Fn(&Ident) -> Ident,
    typed: bool,
) -> impl Iterator<Item = TokenStream> {
    function.params.iter().map(move |param| {
        let (cfgs, ident, ty) = (&param.cfgs, named(&param.ident), &param.ty);
        let ty = typed.then(|| quote!(: #ty));
        quote!(#(#cfgs)* #ident #ty)
    })
}

fn frame(of: &Contracted, contract: &TokenStream, runtime: &TokenStream) -> TokenStream {
    // What is looked up may wait.
    if of.function.is_async && !of.givens.is_empty() {
        quote!(#runtime::Frame::direct_later(&#contract))
    } else {
        quote!(#runtime::Frame::direct(&#contract))
    }
}

/// The function that ends a direct call. A function without a result can return early if a given is absent.
fn settle(of: &Contracted, runtime: &TokenStream) -> TokenStream {
    match of.function.sig.output {
        ReturnType::Default if !of.givens.is_empty() => quote!(#runtime::settle_unit),
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
    let mut judged = Judged::new(tool, runtime);
    judged.confirm = tool.confirm.as_ref().map(|(question, _)| question);
    let (sig, attrs, frame) = (&function.sig, &function.attrs_inner, local("frame"));
    let in_question = tool.confirm.iter().flat_map(|(_, mentions)| mentions);
    let mut mentioned: Vec<usize> = in_question.copied().collect();
    mentioned.extend(tool.clauses.iter().flat_map(|clause| &clause.mentions));
    let params = function.params.iter().enumerate().map(|(index, param)| {
        let is_used = judged.body_in_place || mentioned.contains(&index);
        let used = is_used.then(
            // A parameter that only a condition looks at is used, though not in the body.
            || quote!(#[allow(unused_variables, reason = "a condition looks at it")]),
        );
        let param = parameter(param);
        quote!(#used #param)
    });
    let mut params: Vec<TokenStream> = params.collect();
    let (own, attrs_checked, inside) = if judged.body_in_place {
        (None, &attrs[..], judged.expression())
    } else {
        let plain = passed(function, Ident::clone, true).collect();
        let own = std::mem::replace(&mut params, plain).into_iter();
        let signature = signature(function, body_name, None, own, &sig.output);
        let written = &function.body;
        let own = quote!(#head #(#attrs)* #signature #written);
        let arguments = passed(function, Ident::clone, false);
        let waited = sig.asyncness.as_ref().map(|_| quote!(.await));
        let (before, out, after) = (judged.before(), local("out"), judged.after());
        let inside = quote! {
            #before
            let #out = #body(#(#arguments),*) #waited;
            #after
            ::core::result::Result::Ok(#out)
        };
        (Some(own), &[][..], inside)
    };
    let output = result_type(&sig.output);
    let output = quote!(-> ::core::result::Result<#output, #runtime::Stop>);
    let frame = Some(quote!(mut #frame: #runtime::Frame));
    let signature = signature(function, checked_name, frame, params.into_iter(), &output);
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
    pub(super) of: &'m Contracted,
    /// What is asked before every call.
    pub(super) confirm: Option<&'m Message>,
    pub(super) runtime: &'m TokenStream,
    /// Whether the body is run in place, so that references among the parameters are still there after it.
    pub(super) body_in_place: bool,
    ending: Ending,
}

impl<'m> Judged<'m> {
    fn new(of: &'m Contracted, runtime: &'m TokenStream) -> Self {
        let can_fail = given::can_fail(&of.givens);
        Self {
            of,
            confirm: None,
            runtime,
            body_in_place: !of.givens.is_empty(),
            ending: if can_fail {
                Ending::ReturnOk
            } else {
                Ending::Return
            },
        }
    }

    /// An expression of the type `Result<Output, rt::Stop>`; it needs the frame and the parameters in scope.
    fn expression(&self) -> TokenStream {
        let (runtime, function) = (self.runtime, &self.of.function);
        let ty = result_type(&function.sig.output);
        // `impl Trait` has no name.
        let unnamed = holds_impl(&ty).then(|| quote!(_));
        let output = unnamed.unwrap_or_else(|| ty.clone());
        let (of, out) = (whole_result(&function.sig), local("out"));
        let can_fail = matches!(self.ending, Ending::ReturnOk);
        let mut returned = quote!(::core::result::Result<#output, #runtime::Stop>);
        let mut end = quote!(::core::result::Result::Ok(#out));
        if can_fail {
            let form = quote!(#runtime::JudgedForm<#output);
            returned = of.around(form, TokenStream::new(), quote!(>));
            end = of.called(quote!(<#ty as #runtime::Fallible>::), "judged", &out);
        }
        let (before, body, after) = (self.before(), self.body(), self.after());
        let inside = quote!(#before let #out = #body; #after #end);
        let judged = if function.is_async {
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
        let all = self.of.clauses.len();
        let mut steps = TokenStream::new();
        let mut givens = self.of.givens.iter().peekable();
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
        let confirm = self.confirm.map(|asked| {
            let write = question(asked);
            quote!(#frame.confirm(#write);)
        });
        let keep = self.keep();
        quote!(#steps #confirm #enter #(#keep)*)
    }

    fn body(&self) -> TokenStream {
        let (runtime, function) = (self.runtime, &self.of.function);
        let (ty, body) = (result_type(&function.sig.output), &function.body);
        // `impl Trait` has no name, so the closure's own type has to do.
        match (function.is_async, holds_impl(&ty)) {
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
        let after = self.after_clauses(whole_result(&self.of.function.sig));
        let after = after.iter().map(|judged| self.step(judged));
        let then = self.of.givens.iter().filter_map(|given| {
            let then = given.then.as_ref()?;
            Some(quote! {
                if #frame.is_awaited() && #runtime::Type::of(&#out).success_of(&#out).is_some() {
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
        let (option, result) = (
            quote!(::core::option::Option),
            quote!(::core::result::Result),
        );
        let (opened, present, missing, sentence) = match absent {
            Absent::Message(_) => {
                let opened = place.called(quote!(#runtime::Present::), "present", value);
                let none = quote!(#option::None);
                (opened, quote!(#option::Some), none.clone(), none)
            }
            Absent::Error => {
                let opened = place.called(quote!(#runtime::Opened::), "opened", value);
                let (missing, why) = (quote!(#result::Err(#why)), quote!(#option::Some(#why)));
                (opened, quote!(#result::Ok), missing, why)
            }
        };
        let shown = self.details_of(&given.mentions, given.message(), &details);
        let end = self.end(&quote!(#frame.absent(#index, #sentence, |#details| { #shown })));
        quote! {
            #frame.look_up(#index);
            let #mutable #ident = match #opened {
                #present(#found) => #found,
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
