//! Builds the model from the parsed attributes and item.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, Path};

use crate::attributes::{self, AttributeSet, ContractAttribute, Kind};
use crate::clause;
use crate::describe;
use crate::errors::Errors;
use crate::given;
use crate::item::{FunctionItem, ImplItems, Item, Method, RawMember};
use crate::message;
use crate::model::{Contracted, Function, Member, Model, Name, Param, Tool, ToolSet};
use crate::options::{self, ToolArgs};
use crate::param::{self, Owner};
use crate::verify;

pub(crate) fn model(errors: &mut Errors, attributes: &AttributeSet, item: &Item) -> Option<Model> {
    let AttributeSet {
        contracts,
        attrs,
        krate,
        ..
    } = attributes;
    match item {
        Item::Function(function) => {
            if function.is_expanded() {
                too_late(errors, contracts);
                return None;
            }
            let is_tool = contracts.iter().any(|contract| contract.kind == Kind::Tool);
            if is_tool {
                tool(errors, contracts, attrs, function, krate)
                    .map(|tool| Model::Tool(Box::new(tool)))
            } else {
                contracted(errors, contracts, attrs, function, krate)
                    .map(|function| Model::Contracted(Box::new(function)))
            }
        }
        Item::Impl(block) => Some(Model::ToolSet(Box::new(tool_set(
            errors, attributes, block,
        )))),
    }
}

fn too_late(errors: &mut Errors, contracts: &[ContractAttribute]) {
    for ContractAttribute { kind, span, .. } in contracts {
        let message = format!(
            "`{kind}` is applied to a function that is already expanded, so calls by name would not check it; write it directly above the function"
        );
        errors.at(*span, message);
    }
}

fn tool(
    errors: &mut Errors,
    contracts: &[ContractAttribute],
    attrs: &[Attribute],
    item: &FunctionItem,
    krate: &Path,
) -> Option<Tool> {
    let mut tools = contracts
        .iter()
        .filter(|contract| contract.kind == Kind::Tool);
    let args = tools
        .next()
        .map(|contract| options::parse(errors, contract))
        .unwrap_or_default();
    for second in tools {
        let message = "`#[tool]` is given twice; write all its arguments in one";
        errors.at(second.span, message);
    }
    let function = function(errors, contracts, attrs, item, Owner::Tool);
    let params = function
        .as_ref()
        .map_or(&[][..], |function| &function.params);
    let (givens, clauses) = clause::all(errors, contracts, params);
    let verify = verify::parse(errors, contracts);
    let ToolArgs {
        name,
        description,
        options,
        confirm,
        ..
    } = args;
    let confirm = confirm.and_then(|question| {
        let named: Vec<Param> = params
            .iter()
            .cloned()
            .chain(given::as_params(contracts))
            .collect();
        message::check_question(errors, question.value, &named)
    });
    let name = match name {
        Some(name) => Name {
            text: name.value.value(),
            span: name.value.span(),
        },
        None => Name {
            text: item.ident().unraw().to_string(),
            span: item.ident().span(),
        },
    };
    let description = match description {
        Some(description) => describe::from_expr(errors, &description.value),
        None => describe::from_docs(attrs),
    };
    Some(Tool {
        function: function?,
        options,
        name,
        description,
        givens,
        clauses,
        confirm,
        verify,
        krate: krate.clone(),
    })
}

fn contracted(
    errors: &mut Errors,
    contracts: &[ContractAttribute],
    attrs: &[Attribute],
    item: &FunctionItem,
    krate: &Path,
) -> Option<Contracted> {
    verify::only_on_tools(errors, contracts);
    let function = function(errors, contracts, attrs, item, Owner::Contracted);
    let params = function
        .as_ref()
        .map_or(&[][..], |function| &function.params);
    let (givens, clauses) = clause::all(errors, contracts, params);
    Some(Contracted {
        function: function?,
        givens,
        clauses,
        krate: krate.clone(),
    })
}

fn function(
    errors: &mut Errors,
    contracts: &[ContractAttribute],
    attrs: &[Attribute],
    item: &FunctionItem,
    owner: Owner,
) -> Option<Function> {
    let mut sig = item.sig.clone();
    let (mut receiver, mut params) = (None, Vec::new());
    for input in &mut sig.inputs {
        match input {
            FnArg::Receiver(written) => {
                written.attrs.clear();
                receiver = Some(written.clone());
            }
            FnArg::Typed(typed) => {
                params.push(param::parse(errors, typed, params.len(), owner));
                typed.attrs.clear();
            }
        }
    }
    let (attrs_outer, attrs_inner) = attrs.iter().cloned().partition(stays_outside);
    let Some(body) = &item.body else {
        let what = if owner == Owner::Tool {
            "a tool"
        } else {
            "a contracted function"
        };
        let message = format!("{what} needs a body; write it in `{{ .. }}`");
        return errors.refuse(item.ident(), message);
    };
    Some(Function {
        uses: attributes::uses(contracts),
        attrs_outer,
        attrs_inner,
        vis: item.vis.clone(),
        is_async: sig.asyncness.is_some(),
        sig,
        receiver,
        params,
        body: body.to_token_stream(),
    })
}

/// Whether an attribute is for readers, lints or the linker, and so stays on the visible function.
fn stays_outside(attr: &Attribute) -> bool {
    const OUTSIDE: &str = "allow cfg cfg_attr deny deprecated doc expect export_name forbid link_section must_use \
        no_mangle unsafe warn";
    let mut outside = OUTSIDE.split_whitespace();
    outside.any(|word| attr.path().is_ident(word))
}

fn tool_set(errors: &mut Errors, attributes: &AttributeSet, block: &ImplItems) -> ToolSet {
    let AttributeSet {
        contracts,
        attrs,
        krate,
        ..
    } = attributes;
    let mut seen = false;
    for contract in contracts {
        match contract.kind {
            Kind::Tool if seen => errors.at(
                contract.span,
                "`#[tool]` is given twice; once above the block is enough",
            ),
            Kind::Tool => {
                seen = true;
                options::parse_block(errors, contract);
            }
            Kind::Verify => errors.at(
                contract.span,
                "`#[verify]` belongs to one tool; write it above the method",
            ),
            Kind::Given | Kind::Pre | Kind::Post => {
                let message = format!(
                    "`{}` belongs above a function, not an `impl` block",
                    contract.kind
                );
                errors.at(contract.span, message);
            }
        }
    }
    if let Some(path) = &block.trait_ {
        let own = crate::source::text(&block.self_ty.to_token_stream());
        let message =
            format!("tools cannot be methods of a trait; write them in `impl {own} {{ .. }}`");
        errors.on(path, message);
    } else if seen
        && !block
            .members
            .iter()
            .any(|member| matches!(member, RawMember::Tool(_)))
    {
        let message =
            "no method of this block is a tool; write `#[tool]` above those the model may call";
        errors.at(
            contracts
                .first()
                .map_or_else(Span::call_site, |contract| contract.span),
            message,
        );
    }
    let members = block
        .members
        .iter()
        .filter_map(|raw| member(errors, raw, krate))
        .collect();
    ToolSet {
        uses: attributes::uses(contracts),
        attrs: attrs.clone(),
        generics: block.generics.clone(),
        self_ty: block.self_ty.clone(),
        members,
        krate: krate.clone(),
    }
}

fn member(errors: &mut Errors, raw: &RawMember, krate: &Path) -> Option<Member> {
    match raw {
        RawMember::Tool(method) => {
            let Method {
                contracts,
                attrs,
                function,
                ..
            } = &**method;
            verify::no_conditional_sibling(errors, attrs);
            tool(errors, contracts, attrs, function, krate).map(|tool| Member::Tool(Box::new(tool)))
        }
        RawMember::Method(method) => {
            // A method with conditions of its own reports this itself.
            if method.contracts.is_empty() {
                without_helpers(errors, &method.function);
            }
            Some(Member::Other(method.tokens.clone()))
        }
        RawMember::Other(tokens) => Some(Member::Other(tokens.clone())),
    }
}

fn without_helpers(errors: &mut Errors, function: &FunctionItem) {
    for input in &function.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        for attr in typed.attrs.iter().filter(|attr| param::is_helper(attr)) {
            let message = "only a tool takes this; write `#[tool]` above the method, or remove it";
            errors.on(attr.path(), message);
        }
    }
}
