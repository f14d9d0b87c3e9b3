//! What the walker found out about one value.

use std::sync::Arc;

use super::edit::{Coercion, Edit};
use super::node::Node;
use super::path::Path;
use super::problem::{ArgumentProblem, ProblemKind};
use super::refusal::KEPT;

/// How well a value fits, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// As it was given.
    Fits,
    /// It is admitted, but has to be written in another way (`5.0` for an integer).
    Normalised,
    /// Only after a coercion, or without members that are null for absent.
    Coerced,
    /// It is not admitted.
    Refused,
}

impl Verdict {
    /// Whether the schema admits the value as it was given.
    pub(super) fn is_valid(self) -> bool {
        self <= Self::Normalised
    }
}

/// What one walk collects. A quiet one only wants the verdict and stops at the first refusal.
pub(super) struct Found {
    pub(super) loud: bool,
    pub(super) verdict: Verdict,
    pub(super) problems: Vec<ArgumentProblem>,
    pub(super) total: usize,
    pub(super) edits: Vec<Edit>,
    pub(super) coercions: Vec<Coercion>,
}

impl Found {
    pub(super) fn new(loud: bool) -> Self {
        Self {
            loud,
            verdict: Verdict::Fits,
            problems: Vec::new(),
            total: 0,
            edits: Vec::new(),
            coercions: Vec::new(),
        }
    }

    /// Whether nothing that follows could change the answer.
    pub(super) fn is_settled(&self) -> bool {
        !self.loud && self.verdict == Verdict::Refused
    }

    pub(super) fn problem(&mut self, problem: impl FnOnce() -> ArgumentProblem) {
        self.verdict = Verdict::Refused;
        self.total += 1;
        if self.loud && self.problems.len() < KEPT {
            self.problems.push(problem());
        }
    }

    /// A problem of `node` itself, which is at `path`.
    pub(super) fn refuse(
        &mut self,
        kind: ProblemKind,
        path: &Path<'_>,
        node: &Node,
        expected: impl FnOnce() -> String,
    ) {
        self.problem(|| {
            let got = super::escape::given(node, path.is_secret());
            ArgumentProblem::new(path.pointer(), kind, expected(), got)
        });
    }

    /// The member that holds `node` is to be left out.
    pub(super) fn leave_out(&mut self, node: &Node) {
        self.verdict = self.verdict.max(Verdict::Coerced);
        if self.loud {
            self.edits.push(Edit::new(node, None));
        }
    }

    /// `node` is to be written as `to`.
    pub(super) fn edit(&mut self, verdict: Verdict, node: &Node, to: Arc<Node>) {
        self.verdict = self.verdict.max(verdict);
        if self.loud {
            self.edits.push(Edit::new(node, Some(to)));
        }
    }
}
