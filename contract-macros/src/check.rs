//! Checks the model: rules that need more than one part of it, one function per rule.

mod arguments;
mod conditions;

use proc_macro2::Span;
use quote::ToTokens;
use syn::visit::Visit;
use syn::{
    GenericParam, Lifetime, ReceiverKind, ReturnType, Safety, Type, TypeParam, TypeParamBound,
    WherePredicate,
};

use crate::errors::Errors;
use crate::model::{Contracted, Description, Model, Name, Tool, ToolSet};
use crate::source;
use crate::spelling::{bare, find_word, holds, holds_impl};

pub(crate) fn all(errors: &mut Errors, model: &Model) {
    match model {
        Model::Tool(tool) => {
            without_receiver(errors, tool);
            without_self_type(errors, tool);
            callable(errors, tool);
        }
        Model::Contracted(function) => checkable(errors, function),
        Model::ToolSet(set) => {
            owns_its_state(errors, set);
            bounds_suffice(errors, set);
            for tool in set.tools() {
                with_shared_receiver(errors, tool);
                callable(errors, tool);
            }
        }
    }
}

fn callable(errors: &mut Errors, tool: &Tool) {
    let Name { text, span } = &tool.name;
    named(errors, text, *span, tool.function.sig.ident == text, true);
    described(errors, tool);
    not_generic(errors, tool);
    safe_and_plain(errors, tool);
    result_known(errors, tool);
    for param in &tool.function.params {
        arguments::plainly_named(errors, param);
        if param.is_argument() && param.pattern.is_none() {
            let own = param.ident == param.name;
            named(errors, &param.name, param.name_span, own, false);
        }
        arguments::owned_or_shared(errors, param);
        arguments::type_known(errors, param);
        arguments::borrowed_for_the_call(errors, param);
        arguments::owned_inside(errors, param);
        arguments::default_stands_alone(errors, param, &tool.function.params);
    }
    arguments::names_differ(errors, tool);
    for clause in &tool.clauses {
        conditions::of_a_tool(errors, clause);
        conditions::of_any(errors, clause, &tool.function.params);
    }
    let of_clauses = tool.clauses.iter();
    let of_clauses = of_clauses.filter_map(|clause| Some(&clause.question.as_ref()?.value));
    let of_tool = tool.confirm.iter().map(|(question, _)| question);
    for question in of_clauses.chain(of_tool) {
        conditions::question_shows_no_history(errors, question);
    }
    conditions::ids_differ(errors, &tool.clauses);
    conditions::stated_once(errors, &tool.clauses, &tool.givens);
    conditions::return_to_somebody(errors, &tool.givens, &tool.function);
    options_agree(errors, tool);
}

/// The rules of a function that is not a tool.
fn checkable(errors: &mut Errors, contracted: &Contracted) {
    let sig = &contracted.function.sig;
    if sig.constness.is_some() {
        errors.on(sig.constness, "a condition cannot be checked in a `const fn`; remove `const`, or use `assert!` in the body");
    }
    if sig.abi.is_some() {
        errors.on(&sig.abi, "a violation must not unwind into foreign code; put the contract on a Rust function and call that");
    }
    conditions::asked_of_a_tool(errors, &contracted.clauses, &contracted.givens);
    conditions::stated_once(errors, &contracted.clauses, &contracted.givens);
    conditions::return_to_somebody(errors, &contracted.givens, &contracted.function);
    for clause in &contracted.clauses {
        conditions::of_a_function(errors, clause);
        conditions::of_any(errors, clause, &contracted.function.params);
    }
}

fn without_receiver(errors: &mut Errors, tool: &Tool) {
    if let Some(receiver) = &tool.function.receiver {
        let message = "a tool cannot take `self`; pass the state as an argument, or make this a free function, \
                       or write `#[tool]` above the `impl` block too";
        errors.on(receiver, message);
    }
}

/// Items that are generated inside a method cannot name its `Self`.
fn without_self_type(errors: &mut Errors, tool: &Tool) {
    let sig = &tool.function.sig;
    let types = tool.function.params.iter().map(|param| &param.ty);
    let types = types.chain(match &sig.output {
        ReturnType::Type(_, ty) => Some(&**ty),
        ReturnType::Default => None,
    });
    for ty in types {
        if let Some(word) = find_word(ty.to_token_stream(), "Self") {
            let message = "a tool here cannot name `Self`; write the type, or write `#[tool]` above the `impl` block too";
            errors.on(word, message);
        }
    }
}

fn with_shared_receiver(errors: &mut Errors, tool: &Tool) {
    let Some(receiver) = &tool.function.receiver else {
        let ident = &tool.function.sig.ident;
        let message =
            "a tool in an `impl` block has a receiver; make it a free function or take `&self`";
        errors.on(ident, message);
        return;
    };
    let written = source::text(&receiver.to_token_stream());
    let message = match &receiver.kind {
        ReceiverKind::Reference(_, Some(lifetime), None) if lifetime.ident == "static" => {
            "a tool borrows its state for the duration of the call; write `&self`"
        }
        ReceiverKind::Reference(_, _, None) => return,
        ReceiverKind::Reference(_, _, Some(_)) => {
            "a tool cannot take `&mut self`, because calls share the state; write `&self` and keep what changes behind a `Mutex`"
        }
        ReceiverKind::Typed(_, ty) if is_shared_self(ty) => return,
        ReceiverKind::Typed(..) => &format!("a tool cannot take `{written}`; write `&self`"),
        _ => "a tool cannot take `self`, because it is called more than once; write `&self`",
    };
    errors.on(receiver, message);
}

fn is_shared_self(ty: &Type) -> bool {
    let Type::Reference(reference) = bare(ty) else {
        return false;
    };
    reference.mutability.is_none()
        && matches!(bare(&reference.elem), Type::Path(path) if path.path.is_ident("Self"))
}

const LONGEST_NAME: usize = 64;

/// A name that the model reads: of a tool, or of an argument. `own` says that it is the name in the source.
fn named(errors: &mut Errors, name: &str, place: Span, own: bool, is_tool: bool) {
    let (noun, letters, key) = if is_tool {
        ("a tool", "digits, `_` and `-`", "name = \"..\"")
    } else {
        ("an argument", "digits and `_`", "#[arg(name = \"..\")]")
    };
    let advice = format!("use ASCII letters, {letters}, and begin with a letter or `_`");
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let is_next =
        |letter: char| is_first(letter) || letter.is_ascii_digit() || (is_tool && letter == '-');
    let length = name.chars().count();
    let message = if length == 0 {
        format!("{noun} name cannot be empty; {advice}")
    } else if length > LONGEST_NAME {
        format!(
            "this name has {length} characters; not every model accepts more than {LONGEST_NAME}"
        )
    } else if name.starts_with(is_first) && name.chars().all(is_next) {
        return;
    } else {
        let add = if own {
            format!("add `{key}`, and ")
        } else {
            String::new()
        };
        format!("`{name}` is not {noun} name every model accepts; {add}{advice}")
    };
    errors.at(place, message);
}

fn described(errors: &mut Errors, tool: &Tool) {
    if matches!(&tool.description, Description::Text(text) if text.is_empty()) {
        let ident = &tool.function.sig.ident;
        let name = &tool.name.text;
        let advice = "add a `///` comment saying what it does, its units and when it fails";
        let message = format!("tool `{name}` has no description; {advice}");
        errors.on(ident, message);
    }
}

fn not_generic(errors: &mut Errors, tool: &Tool) {
    for param in &tool.function.sig.generics.params {
        let ident = match param {
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
            GenericParam::Lifetime(_) => continue,
        };
        let message = format!(
            "a tool cannot be generic, because its schema needs concrete types; write the type instead of `{ident}`"
        );
        errors.on(ident, message);
    }
}

fn safe_and_plain(errors: &mut Errors, tool: &Tool) {
    let sig = &tool.function.sig;
    if let Safety::Unsafe(token) = &sig.safety {
        errors.on(token, "a tool cannot be `unsafe`, because a model keeps no promises; check what is needed in a safe function");
    }
    if let Some(token) = &sig.constness {
        errors.on(
            token,
            "a tool cannot be `const`, because a registry calls it at run time; remove `const`",
        );
    }
    if let Some(abi) = &sig.abi {
        errors.on(
            abi,
            "a tool cannot be `extern`; write a Rust function that calls it",
        );
    }
    if let Some(variadic) = &sig.variadic {
        errors.on(variadic, "a tool cannot be variadic; take a `Vec`");
    }
}

fn result_known(errors: &mut Errors, tool: &Tool) {
    let ReturnType::Type(_, ty) = &tool.function.sig.output else {
        return;
    };
    if let Type::Never(never) = bare(ty) {
        let message = "a tool must return to its caller; return `()` or a `Result`";
        errors.on(never, message);
    } else if holds_impl(ty) {
        errors.on(ty, "a tool cannot return `impl Trait`, because its schema needs a concrete type; write the type");
    }
}

fn options_agree(errors: &mut Errors, tool: &Tool) {
    let (options, is_async) = (&tool.options, tool.function.is_async);
    let (read_only, blocking) = (options.on("read_only"), options.on("blocking"));
    let destructive = options.on("destructive").filter(|_| read_only.is_some());
    let message = "a tool cannot be both `read_only` and `destructive`; keep one of them";
    errors.each(destructive, message);
    let timeout = options.timeout.as_ref().map(|timeout| timeout.key);
    let timeout = timeout.filter(|_| !is_async && blocking.is_none());
    let message = "`timeout` cannot apply to a sync function, which nothing can interrupt; add `blocking`, or make it `async`";
    errors.each(timeout, message);
    let message = "`blocking` is for sync functions, which would hold up an async thread; remove it, or remove `async`";
    errors.each(blocking.filter(|_| is_async), message);
}

// What follows is about `#[tool]` on an `impl` block, whose state a registry shares between threads.

fn owns_its_state(errors: &mut Errors, set: &ToolSet) {
    let mut named = set
        .generics
        .lifetimes()
        .filter(|param| param.bounds.is_empty());
    let mut borrowed = Borrowed(named.next().map(|param| param.lifetime.clone()));
    borrowed.visit_type(&set.self_ty);
    if let Some(lifetime) = borrowed.0 {
        let message = format!(
            "a state with tools cannot borrow, because a registry keeps it; own what `{lifetime}` borrows, or share it in an `Arc`"
        );
        errors.on(lifetime, message);
    }
}

/// A lifetime by which a state borrows: a parameter of the block, or `'_`.
struct Borrowed(Option<Lifetime>);

impl Visit<'_> for Borrowed {
    fn visit_lifetime(&mut self, lifetime: &Lifetime) {
        if lifetime.ident == "_" {
            self.0.get_or_insert_with(|| lifetime.clone());
        }
    }
}

/// Traits without bounds on threads and lifetimes. What another trait requires, only the compiler knows.
const PLAIN: &str = "Clone Copy Debug Default Deserialize DeserializeOwned Display Eq Fn FnMut FnOnce Hash JsonSchema Ord \
    PartialEq PartialOrd Send Serialize Sized Sync ToString";

fn bounds_suffice(errors: &mut Errors, set: &ToolSet) {
    for param in set.generics.type_params() {
        let Some(bounds) = bounds_of(param, set) else {
            continue;
        };
        let names: Vec<String> = bounds.iter().filter_map(bound_name).collect();
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let mut params = set.tools().flat_map(|tool| &tool.function.params);
        let read = params.any(|one| one.is_argument() && holds(&one.ty, &param.ident));
        let mut results = set.tools().map(|tool| &tool.function.sig.output);
        let written = results
            .any(|output| matches!(output, ReturnType::Type(_, ty) if holds(ty, &param.ident)));
        // A state need not be of its `T`, as one of `PhantomData<fn() -> T>`: then it lives as long, and no more.
        let kept = has("static");
        let needed = [
            ("DeserializeOwned", read && !has("Deserialize")),
            ("JsonSchema", read),
            ("Serialize", written),
            ("Send", !kept),
            ("Sync", !kept),
            ("'static", !kept),
        ];
        let missing = needed
            .iter()
            .filter(|(bound, is_needed)| *is_needed && !has(bound));
        let missing: Vec<String> = missing.map(|(bound, _)| String::from(*bound)).collect();
        if missing.is_empty() {
            continue;
        }
        let why = if kept {
            "what a tool takes and gives is read from JSON and written as JSON"
        } else {
            "a state with tools is kept and shared between threads"
        };
        let bounds = bounds
            .iter()
            .map(|bound| source::text(&bound.to_token_stream()));
        let all: Vec<String> = bounds.chain(missing).collect();
        let ident = &param.ident;
        let message = format!("{why}; write `{ident}: {}`", all.join(" + "));
        errors.on(ident, message);
    }
}

/// The bounds of a type parameter, if all of them are plain and no other predicate mentions it.
fn bounds_of(param: &TypeParam, set: &ToolSet) -> Option<Vec<TypeParamBound>> {
    let mut bounds: Vec<TypeParamBound> = param.bounds.iter().cloned().collect();
    let predicates = set.generics.where_clause.iter();
    for predicate in predicates.flat_map(|clause| &clause.predicates) {
        match predicate {
            WherePredicate::Type(of) if matches!(&of.bounded_ty, Type::Path(path) if path.path.is_ident(&param.ident)) =>
            {
                bounds.extend(of.bounds.iter().cloned());
            }
            other if find_word(other.to_token_stream(), &param.ident.to_string()).is_some() => {
                return None;
            }
            _ => {}
        }
    }
    let plain = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(_) => {
            bound_name(bound).is_some_and(|name| PLAIN.split(' ').any(|plain| name == plain))
        }
        other => matches!(other, TypeParamBound::Lifetime(_)),
    };
    bounds.iter().all(plain).then_some(bounds)
}

fn bound_name(bound: &TypeParamBound) -> Option<String> {
    match bound {
        TypeParamBound::Trait(bound) => Some(bound.path.segments.last()?.ident.to_string()),
        TypeParamBound::Lifetime(lifetime) => Some(lifetime.ident.to_string()),
        _ => None,
    }
}
