//! Builds the model from the parsed attributes and item.

use quote::ToTokens;
use syn::{Attribute, FnArg, Path};

use crate::attributes::{self, AttributeSet, ContractAttribute, Kind, of_kind};
use crate::clause;
use crate::describe;
use crate::errors::Errors;
use crate::given;
use crate::item::{FunctionItem, ImplItems, Item, RawMember};
use crate::message;
use crate::model::{Contracted, Function, Member, Model, Name, Param, Tool, ToolSet};
use crate::options;
use crate::param;

/// A function and what stands above it.
#[derive(Clone, Copy)]
struct Annotated<'a> {
    contracts: &'a [ContractAttribute],
    attrs: &'a [Attribute],
    item: &'a FunctionItem,
    krate: &'a Path,
}

pub(crate) fn model(errors: &mut Errors, attributes: &AttributeSet, item: &Item) -> Option<Model> {
    let contracts = &attributes.contracts;
    let item = match item {
        Item::Function(item) => item,
        Item::Impl(block) => {
            let set = tool_set(errors, attributes, block);
            return Some(Model::ToolSet(Box::new(set)));
        }
    };
    if item.is_expanded() {
        for ContractAttribute { kind, span, .. } in contracts {
            let message = format!(
                "`{kind}` is applied to a function that is already expanded, so calls by name would not check it; write it directly above the function"
            );
            errors.at(*span, message);
        }
        return None;
    }
    let written = Annotated {
        contracts,
        attrs: &attributes.attrs,
        item,
        krate: &attributes.krate,
    };
    Some(if of_kind(contracts, Kind::Tool).next().is_some() {
        Model::Tool(Box::new(tool(errors, written)?))
    } else {
        options::only_on_tools(errors, contracts);
        let (contracted, _) = contracted(errors, written, false);
        Model::Contracted(Box::new(contracted?))
    })
}

fn tool(errors: &mut Errors, written: Annotated<'_>) -> Option<Tool> {
    let only = attributes::only(errors, written.contracts, Kind::Tool);
    let args = only.map(|contract| options::parse(errors, contract));
    let args = args.unwrap_or_default();
    let (contracted, named) = contracted(errors, written, true);
    let verify = options::verify(errors, written.contracts);
    let confirm = args.confirm.map(|question| question.value);
    let confirm = confirm.and_then(|question| message::check_question(errors, question, &named));
    let description = match args.description {
        Some(description) => describe::from_expr(errors, &description.value),
        None => describe::from_docs(written.attrs),
    };
    Some(Tool {
        contracted: contracted?,
        options: args.options,
        name: Name::new(args.name, written.item.ident()),
        description,
        confirm,
        verify,
    })
}

/// Reads a function with its conditions, and returns what these may name: parameters and givens.
fn contracted(
    errors: &mut Errors,
    written: Annotated<'_>,
    is_tool: bool,
) -> (Option<Contracted>, Vec<Param>) {
    let function = function(errors, written, is_tool);
    let params = function.as_ref().map_or(&[][..], |one| &one.params);
    let mut named = params.to_vec();
    named.extend(given::as_params(written.contracts));
    let (givens, clauses) = clause::all(errors, written.contracts, params, &named);
    let contracted = function.map(|function| Contracted {
        function,
        givens,
        clauses,
        krate: written.krate.clone(),
    });
    (contracted, named)
}

fn function(errors: &mut Errors, written: Annotated<'_>, is_tool: bool) -> Option<Function> {
    let item = written.item;
    let mut sig = item.sig.clone();
    let (mut receiver, mut params) = (None, Vec::new());
    for input in &mut sig.inputs {
        match input {
            FnArg::Receiver(written) => {
                written.attrs.clear();
                receiver = Some(written.clone());
            }
            FnArg::Typed(typed) => {
                params.push(param::parse(errors, typed, params.len(), is_tool));
                typed.attrs.clear();
            }
        }
    }
    let (attrs_outer, attrs_inner) = written.attrs.iter().cloned().partition(stays_outside);
    let Some(body) = &item.body else {
        let what = if is_tool {
            "a tool"
        } else {
            "a contracted function"
        };
        let message = format!("{what} needs a body; write it in `{{ .. }}`");
        return errors.refuse(item.ident(), message);
    };
    Some(Function {
        uses: attributes::uses(written.contracts),
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
    let (contracts, krate) = (&attributes.contracts, &attributes.krate);
    let mut seen = false;
    for contract in contracts {
        let message = match contract.kind {
            Kind::Tool if !seen => {
                seen = true;
                options::parse_block(errors, contract);
                continue;
            }
            Kind::Tool => "`#[tool]` is given twice; once above the block is enough".to_owned(),
            Kind::Verify => "`#[verify]` belongs to one tool; write it above the method".to_owned(),
            kind => format!("`{kind}` belongs above a function, not an `impl` block"),
        };
        errors.at(contract.span, message);
    }
    if let Some(path) = &block.trait_ {
        let own = crate::source::text(&block.self_ty.to_token_stream());
        let advice = format!("write them in `impl {own} {{ .. }}`");
        errors.on(
            path,
            format!("tools cannot be methods of a trait; {advice}"),
        );
    } else if seen && block.members.iter().all(|member| member.tool().is_none()) {
        let message =
            "no method of this block is a tool; write `#[tool]` above those the model may call";
        errors.each(contracts.first().map(|contract| contract.span), message);
    }
    let members = block.members.iter();
    ToolSet {
        uses: attributes::uses(contracts),
        attrs: attributes.attrs.clone(),
        generics: block.generics.clone(),
        self_ty: block.self_ty.clone(),
        members: members
            .filter_map(|raw| member(errors, raw, krate))
            .collect(),
        krate: krate.clone(),
    }
}

fn member(errors: &mut Errors, raw: &RawMember, krate: &Path) -> Option<Member> {
    if let Some(method) = raw.tool() {
        options::no_conditional_sibling(errors, &method.attrs);
        let written = Annotated {
            contracts: &method.contracts,
            attrs: &method.attrs,
            item: &method.function,
            krate,
        };
        return tool(errors, written).map(|tool| Member::Tool(Box::new(tool)));
    }
    let method = match raw {
        RawMember::Function(method) => method,
        RawMember::Other(tokens) => return Some(Member::Other(tokens.clone())),
    };
    // A method with conditions of its own reports this itself.
    let inputs = method
        .function
        .sig
        .inputs
        .iter()
        .filter(|_| method.contracts.is_empty());
    for input in inputs {
        let FnArg::Typed(typed) = input else { continue };
        for attr in typed.attrs.iter().filter(|attr| param::is_helper(attr)) {
            let message = "only a tool takes this; write `#[tool]` above the method, or remove it";
            errors.on(attr.path(), message);
        }
    }
    Some(Member::Other(method.tokens.clone()))
}
