//! The parser, with an end to its patience.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::Refusal;

/// A longer script belongs in a file.
const LONGEST: usize = 100_000;

/// How long all of one command may be looked at. An ordinary script of the largest size takes a few hundredths of a second.
const PATIENCE: Duration = Duration::from_millis(500);

/// The same in steps, so that the answer does not depend on the machine alone.
const STEPS: u32 = 2_000_000;

/// What is left of the patience with one command.
#[derive(Debug)]
pub(super) struct Budget {
    until: Instant,
    steps: u32,
    bytes: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            until: Instant::now() + PATIENCE,
            steps: STEPS,
            bytes: 4 * LONGEST,
        }
    }

    /// Before each piece of work.
    pub(super) fn step(&mut self) -> Result<(), Refusal> {
        let too_much = Refusal::Tangled {
            why: "too tangled".into(),
        };
        self.steps = self.steps.checked_sub(1).ok_or(too_much.clone())?;
        if self.steps.is_multiple_of(256) && Instant::now() > self.until {
            return Err(too_much);
        }
        Ok(())
    }

    /// Reads a script.
    pub(super) fn parse(&mut self, text: &str) -> Result<Tree, Refusal> {
        let too_long = Refusal::Tangled {
            why: "too long".into(),
        };
        if text.len() > LONGEST {
            return Err(too_long);
        }
        self.bytes = self.bytes.checked_sub(text.len()).ok_or(too_long)?;
        let mut parser = Parser::new();
        let until = self.until;
        let mut patient = |_: &ParseState| {
            if Instant::now() > until {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        parser
            .set_language(&tree_sitter_bash::LANGUAGE.into())
            .ok()
            .and_then(|()| {
                parser.parse_with_options(
                    &mut |at, _| text.get(at..).unwrap_or_default(),
                    None,
                    Some(ParseOptions::new().progress_callback(&mut patient)),
                )
            })
            .ok_or(Refusal::Tangled {
                why: "too tangled".into(),
            })
    }
}

/// The child that has a role in its parent.
pub(super) fn child<'t>(node: Node<'t>, role: &str) -> Option<Node<'t>> {
    node.child_by_field_name(role)
}

/// The children that mean something, in order.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// As it is written.
pub(super) fn raw<'s>(text: &'s str, node: Node<'_>) -> &'s str {
    text.get(node.byte_range()).unwrap_or_default()
}
