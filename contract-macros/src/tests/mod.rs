//! Parsing and error reports of the steps before expansion.

mod assertions;
mod attribute_sets;
mod clauses;
mod facts;
mod functions;
mod givens;
mod grammar;
mod portable;
mod robust;
mod rules;
mod sets;
mod texts;
mod verify;

use proc_macro2::TokenStream;

use crate::attributes::{self, AttributeSet};
use crate::model::{Clause, Contracted, Model, Tool, ToolSet};

fn tokens(source: &str) -> TokenStream {
    source.parse().expect("a test's own source is lexed")
}

fn attribute_set(source: &str) -> AttributeSet {
    attributes::finish(TokenStream::new(), &tokens(source))
        .unwrap_or_else(|_| panic!("a test's own attributes are read"))
}

fn messages(error: syn::Error) -> Vec<String> {
    error.into_iter().map(|error| error.to_string()).collect()
}

fn model(source: &str) -> Result<Model, Vec<String>> {
    crate::read(&attribute_set(source)).1.map_err(messages)
}

#[track_caller]
fn tool(source: &str) -> Tool {
    match model(source) {
        Ok(Model::Tool(tool)) => *tool,
        Ok(_) => panic!("not a tool"),
        Err(messages) => panic!("{messages:#?}"),
    }
}

#[track_caller]
fn contracted(source: &str) -> Contracted {
    match model(source) {
        Ok(Model::Contracted(function)) => *function,
        Ok(_) => panic!("not a contracted function"),
        Err(messages) => panic!("{messages:#?}"),
    }
}

#[track_caller]
fn set(source: &str) -> ToolSet {
    match model(source) {
        Ok(Model::ToolSet(set)) => *set,
        Ok(_) => panic!("not a tool set"),
        Err(messages) => panic!("{messages:#?}"),
    }
}

/// The clause of a contracted `fn f(a: i64, b: String)`.
#[track_caller]
fn clause(attribute: &str) -> Clause {
    let source = format!("#[{attribute}] fn f(a: i64, b: String) -> i64 {{ a }}");
    contracted(&source).clauses.pop().expect("one clause")
}

#[track_caller]
fn refused(source: &str, expected: &[&str]) {
    match model(source) {
        Ok(_) => panic!("accepted, expected {expected:#?}"),
        Err(messages) => assert_eq!(messages, expected),
    }
}

/// Refusals of a clause on `fn f(a: i64, b: String)`.
#[track_caller]
fn refused_clause(attribute: &str, expected: &str) {
    refused(
        &format!("#[{attribute}] fn f(a: i64, b: String) -> i64 {{ a }}"),
        &[expected],
    );
}
