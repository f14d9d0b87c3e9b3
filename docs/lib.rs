//! The pages of the guide, and the README, as documentation: `cargo test -p guide` compiles and runs every snippet.

#![allow(clippy::doc_markdown, reason = "names of companies are no code")]

pub mod train;

macro_rules! pages {
    ($($(#[$doc:meta])* $page:ident)*) => {
        $($(#[$doc])* pub mod $page {})*
    };
}

pages! {
    #[doc = include_str!("../README.md")]
    readme
    #[doc = include_str!("src/first-tool.md")]
    first_tool
    #[doc = include_str!("src/contracts.md")]
    contracts
    #[doc = include_str!("src/policies.md")]
    policies
    #[doc = include_str!("src/violations.md")]
    violations
    #[doc = include_str!("src/context.md")]
    context
    #[doc = include_str!("src/state.md")]
    state
    #[doc = include_str!("src/asking.md")]
    asking
    #[doc = include_str!("src/history.md")]
    history
    #[doc = include_str!("src/parameters.md")]
    parameters
    #[doc = include_str!("src/model.md")]
    model
    #[doc = include_str!("src/rules.md")]
    rules
    #[doc = include_str!("src/errors.md")]
    errors
    #[doc = include_str!("src/batches.md")]
    batches
    #[doc = include_str!("src/agents.md")]
    agents
    #[doc = include_str!("src/recipes.md")]
    recipes
    #[doc = include_str!("src/testing-agents.md")]
    testing_agents
    #[doc = include_str!("src/libraries.md")]
    libraries
    #[allow(clippy::test_attr_in_doctest, reason = "it shows what stands in a test file")]
    #[doc = include_str!("src/freezing.md")]
    freezing
    #[doc = include_str!("src/proving.md")]
    proving
    #[doc = include_str!("src/mcp.md")]
    mcp
    #[doc = include_str!("src/importing.md")]
    importing
    #[doc = include_str!("src/program.md")]
    program
    #[doc = include_str!("src/remote.md")]
    remote
    #[doc = include_str!("src/operating.md")]
    operating
    #[doc = include_str!("src/limits.md")]
    limits
    #[doc = include_str!("src/semantics.md")]
    semantics
}
