//! Expands the static data of a function.

use std::fmt::Write as _;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Expr, ExprLit, Lit, ReturnType, Type, UnOp};

use super::portable;
use super::shim::anonymous_lifetimes;
use crate::model::{
    Clause, ClauseKind, Contracted, Description, Given, HistoryUse, Message, Param, Policy,
    Portable, Role, Set, Shown, Tool, Verify,
};
use crate::source;

/// `rt::Contract { .. }`. What its predicates compute is rendered only for tools, which have a type `returned`.
pub(super) fn contract(
    name: &str,
    policy: Option<&Set<Policy>>,
    of: &Contracted,
    returned: Option<&ReturnType>,
    runtime: &TokenStream,
) -> TokenStream {
    let (policy, params) = (self::policy(policy, runtime), &of.function.params);
    let conditions = of.clauses.iter().map(|clause| {
        let condition = condition(clause, params, runtime);
        let read = returned.map(|_| read(clause, params, runtime));
        let post = returned.filter(|_| clause.kind == ClauseKind::Post);
        let returning = post.and_then(|returned| portable::returning(returned, runtime));
        let asking = clause.history.as_ref();
        let asking = asking.map(|used| asking_tools(used, runtime));
        quote!(#condition #read #returning #asking)
    });
    let absences = of.givens.iter();
    let absences = absences.filter_map(|given| absence(given, params, runtime));
    let conditions = conditions.chain(absences);
    let secrets = params.iter().filter(|param| param.is_secret());
    let secrets = secrets.map(|param| &param.name);
    quote! {
        #runtime::Contract {
            name: #name,
            file: ::core::file!(),
            policy: #policy,
            conditions: &[#(#conditions),*],
            secrets: &[#(#secrets),*],
        }
    }
}

pub(super) fn condition(clause: &Clause, params: &[Param], runtime: &TokenStream) -> TokenStream {
    let kind = match clause.kind {
        ClauseKind::Pre => quote!(Pre),
        ClauseKind::Post | ClauseKind::PostErr => quote!(Post),
    };
    let (text, message) = (&clause.text, template(clause.message.as_ref()));
    let policy = policy(clause.policy.as_ref(), runtime);
    let head = quote!(#runtime::ConditionKind::#kind, #text, #message, #policy);
    new_condition(&head, &clause.mentions, params, clause.span, runtime)
}

/// A given that can end the call, among the conditions.
fn absence(given: &Given, params: &[Param], runtime: &TokenStream) -> Option<TokenStream> {
    if !given.is_condition() {
        return None;
    }
    let (text, message) = (&given.text, template(given.message()));
    let policy = policy(None, runtime);
    let head = quote!(#runtime::ConditionKind::Given, #text, #message, #policy);
    let condition = new_condition(&head, &given.mentions, params, given.span, runtime);
    let asking = given.history.iter().map(|used| asking_tools(used, runtime));
    let demand = given.demand.iter();
    Some(quote!(#condition #(.demanding(#demand))* #(#asking)*))
}

fn template(message: Option<&Message>) -> TokenStream {
    option(message.map(|message| message.literal.value()))
}

/// `rt::Condition::new(..)`, and `.renaming(&[("start", "begin")])` where the author's name of an argument is not the model's.
fn new_condition(
    head: &TokenStream,
    mentions: &[usize],
    params: &[Param],
    place: Span,
    runtime: &TokenStream,
) -> TokenStream {
    let (line, column) = position(place);
    let named = mentions.iter().filter_map(|&index| params.get(index));
    let named: Vec<&Param> = named.filter(|param| param.is_argument()).collect();
    let all = named.iter().map(|param| &param.name);
    let pairs = named
        .iter()
        .map(|param| (param.ident.unraw().to_string(), &param.name));
    let other = pairs.filter(|(own, name)| own != *name);
    let pairs: Vec<TokenStream> = other.map(|(own, name)| quote!((#own, #name))).collect();
    let renaming = (!pairs.is_empty()).then(|| quote!(.renaming(&[#(#pairs),*])));
    quote!(#runtime::Condition::new(#head, &[#(#all),*], (#line, #column)) #renaming)
}

/// `.over_history(&[rt::AskedTool { function: Some(|| rt::type_of(&refund)), name: "refund", arguments: &["order_id"] }])`
fn asking_tools(used: &HistoryUse, runtime: &TokenStream) -> TokenStream {
    let tools = used.tools.iter().map(|tool| {
        let (path, name, arguments) = (tool.path.as_ref(), &tool.name, &tool.arguments);
        let function = option(path.map(|path| quote!(|| #runtime::type_of(&#path))));
        quote! {
            #runtime::AskedTool {
                function: #function,
                name: #name,
                arguments: &[#(#arguments),*],
            }
        }
    });
    quote!(.over_history(&[#(#tools),*]))
}

/// `.reading(&expression).probing(probe).shown().demanding("..").identified("limit").asking("..")`
fn read(clause: &Clause, params: &[Param], runtime: &TokenStream) -> TokenStream {
    let portable = clause.portable.as_ref();
    let portable = portable.filter(|portable| !matches!(portable, Portable::Opaque(_)));
    let reading = portable.map(|portable| {
        let expression = portable::expression(portable, params, runtime);
        quote!(.reading(&#expression))
    });
    let probing = probed(clause, params).map(|index| {
        let probe = portable::probe(index, params, &clause.predicate, runtime);
        quote!(.probing(#probe))
    });
    let shown = clause.shown.as_ref().and_then(|shown| match shown.value {
        Shown::Fully => Some(quote!(.shown())),
        Shown::Never => Some(quote!(.hidden())),
        Shown::Possibly => None,
    });
    let (demand, id) = (clause.demand.iter(), clause.id.iter());
    let question = clause.question.iter();
    let question = question.map(|question| &question.value.literal);
    quote! {
        #reading #probing #shown #(.demanding(#demand))* #(.identified(#id))* #(.asking(#question))*
    }
}

/// The parameter a precondition mentions alone, if it has a default or an example to be judged.
fn probed(clause: &Clause, params: &[Param]) -> Option<usize> {
    let [index] = clause.mentions.as_slice() else {
        return None;
    };
    let judged = params.get(*index).is_some_and(|param| {
        matches!(&param.role, Role::Argument { default, examples, .. } if default.is_some() || !examples.is_empty())
    });
    // A condition over the history is judged in a run only.
    let alone = clause.kind == ClauseKind::Pre && !clause.mentions_self && clause.history.is_none();
    (judged && alone).then_some(*index)
}

pub(super) fn spec(tool: &Tool, runtime: &TokenStream) -> TokenStream {
    let options = &tool.options;
    let (policy, returned) = (options.policy.as_ref(), &tool.function.sig.output);
    let contract = contract(&tool.name.text, policy, tool, Some(returned), runtime);
    // In a constant of its own: as an argument of `Some` a wrong type would be explained by the types of `Option`.
    let title = option(options.title.as_ref().map(|title| {
        quote!({
            const __CONTRACT_TITLE: &str = #title;
            __CONTRACT_TITLE
        })
    }));
    let description = match &tool.description {
        Description::Text(text) => quote!(#text),
        Description::Parts(parts) => match parts.as_slice() {
            [one] => quote!(#one),
            parts => quote!(::core::concat!(#(#parts),*)),
        },
    };
    let hints = ["read_only", "destructive", "idempotent", "open_world"];
    let hints = hints.map(|hint| option(options.flag(hint)));
    let is_async = tool.function.is_async;
    let [blocking, coerce, output_schema, alone] =
        ["blocking", "coerce", "output_schema", "alone"].map(|key| options.on(key).is_some());
    let timeout = option(options.timeout.as_ref());
    let mut named = Vec::new();
    for clause in &tool.clauses {
        match &clause.portable {
            Some(portable) => portable::named(portable, &mut named),
            None => named.extend(&clause.mentions),
        }
    }
    let parameters = tool.function.params.iter().enumerate();
    let parameters =
        parameters.filter_map(|(index, param)| parameter(param, named.contains(&index), runtime));
    let verify = tool.verify.as_ref();
    let verify = option(verify.map(|verify| self::verify(verify, runtime)));
    let confirm = option(tool.confirm.as_ref().map(|(question, _)| &question.literal));
    let (line, column) = position(tool.function.sig.ident.span());
    quote! {
        #runtime::Spec {
            contract: #contract,
            title: #title,
            description: #description,
            hints: #runtime::Hints::new(#(#hints),*),
            is_async: #is_async,
            blocking: #blocking,
            coerce: #coerce,
            output_schema: #output_schema,
            alone: #alone,
            timeout: #timeout,
            parameters: &[#(#parameters),*],
            confirm: #confirm,
            verify: #verify,
            package: #runtime::package(::core::option_env!("CARGO_PKG_NAME"), ::core::module_path!()),
            position: (#line, #column),
        }
    }
}

/// `rt::Verify::new(Some(true)).setup(const { &on_paper })`
fn verify(verify: &Verify, runtime: &TokenStream) -> TokenStream {
    let run = option(verify.run.as_ref());
    let setup = verify.setup.iter();
    let setup = setup.map(|setup| self::setup(&setup.value, runtime));
    quote!(#runtime::Verify::new(#run) #(.setup(const { &#setup }))*)
}

/// A `let` with a type: as an argument, a value of the wrong type would be explained by the function that takes it.
fn setup(setup: &Expr, runtime: &TokenStream) -> TokenStream {
    let value = super::local("setup");
    quote! {{
        let #value: fn(#runtime::Builder) -> #runtime::Builder = #setup;
        #value
    }}
}

fn parameter(param: &Param, named: bool, runtime: &TokenStream) -> Option<TokenStream> {
    let Role::Argument {
        default,
        examples,
        secret,
    } = &param.role
    else {
        return None;
    };
    let (cfgs, name) = (&param.cfgs, &param.name);
    let description = param.docs.as_deref().unwrap_or_default();
    let constant = |expr: &Expr| constant(expr, &param.ty, runtime);
    let default = option(default.as_ref().map(constant));
    let examples = examples.iter().map(constant);
    let kind = if named {
        portable::type_kind(param, runtime)
    } else {
        quote!(#runtime::TypeKind::Opaque)
    };
    Some(quote! {
        #(#cfgs)*
        #runtime::Parameter {
            name: #name,
            description: #description,
            default: #default,
            examples: &[#(#examples),*],
            secret: #secret,
            kind: #kind,
        }
    })
}

/// A literal as JSON text; any other expression as code that writes it.
fn constant(expr: &Expr, ty: &Type, runtime: &TokenStream) -> TokenStream {
    if let Some(text) = literal(expr) {
        return quote!(#runtime::Constant::Text(#text));
    }
    let ty = anonymous_lifetimes(ty);
    quote! {
        #runtime::Constant::Code(|| {
            // A wrong type is reported as where the default is used, so the compiler says it once.
            let value = ::core::option::Option::<#ty>::unwrap_or_else(::core::option::Option::None, || #expr);
            #runtime::constant::<#ty>(&value)
        })
    }
}

pub(super) fn literal(expr: &Expr) -> Option<String> {
    let text = source::literal_text(expr).map(|text| json(&text.value()));
    text.or_else(|| no_text(expr))
}

fn no_text(expr: &Expr) -> Option<String> {
    match source::ungrouped(expr) {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            Lit::Float(number) => {
                let number: f64 = number.base10_parse().ok()?;
                number.is_finite().then(|| format!("{number:?}"))
            }
            Lit::Bool(value) => Some(value.value.to_string()),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            no_text(&unary.expr).map(|number| format!("-{number}"))
        }
        _ => None,
    }
}

fn json(text: &str) -> String {
    let mut json = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => json.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

/// The policy that is set, as an option.
pub(super) fn policy(policy: Option<&Set<Policy>>, runtime: &TokenStream) -> TokenStream {
    option(policy.map(|policy| {
        let name = Ident::new(&format!("{:?}", policy.value), Span::call_site());
        quote!(#runtime::Policy::#name)
    }))
}

pub(super) fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        None => quote!(::core::option::Option::None),
        Some(value) => quote!(::core::option::Option::Some(#value)),
    }
}

/// Line and column, from 1; zeros outside a compiler.
pub(super) fn position(span: Span) -> (u32, u32) {
    if !proc_macro::is_available() {
        return (0, 0);
    }
    let start = span.unwrap().start();
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    (number(start.line()), number(start.column()))
}
