//! Translates the events of an agent to the events of a run.

use std::collections::HashMap;

use contract_agent::{Event, RunError};
use contract_manifest::ConditionManifest;
use contract_remote::Toolbelt;
use contract_runtime::{ToolCall, Violation};

use super::line::Line;
use crate::contract::{Finder, Happening};

/// Makes the events of a run out of those of its agent, and notes what it did.
#[derive(Debug, Default)]
pub(super) struct Translator {
    /// The tool and the text of each condition.
    clauses: HashMap<String, (String, String)>,
    /// Conditions of the last violations that were told.
    told: Vec<String>,
}

/// The longest text of an event, in characters: the whole of it is between the model and its tools.
const LONGEST: usize = 2_000;

/// A call as the model wrote it.
pub(super) fn told_call(call: &ToolCall) -> Happening {
    Happening::ToolCall {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        arguments: shortened(&call.arguments),
    }
}

/// The beginning of a long text.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} [..]", &text[..end]),
        None => text.to_owned(),
    }
}

impl Translator {
    pub(super) fn new(toolbelt: &Toolbelt) -> Self {
        let clauses = toolbelt.tools().flat_map(|tool| {
            let of = |clause: &ConditionManifest| {
                let what = (tool.name.clone(), clause.predicate.clone());
                (clause.id.clone(), what)
            };
            tool.conditions.iter().map(of)
        });
        Self {
            clauses: clauses.collect(),
            ..Self::default()
        }
    }

    /// What an event comes to: nothing, one thing, or a violation and what follows from it.
    pub(super) fn event(&mut self, event: Event, line: &mut Line<'_>) -> Vec<Happening> {
        let ended_by = match &event {
            Event::Retry {
                contract, feedback, ..
            } => Some((contract, feedback)),
            Event::Error {
                error:
                    RunError::Contract {
                        contract, message, ..
                    },
            } => Some((contract, message)),
            _ => None,
        };
        // One that was found elsewhere need not have been told of here.
        let untold = ended_by.filter(|(clause, _)| !self.told.contains(clause));
        let violation = untold.map(|(clause, message)| {
            let (tool, predicate) = self.clauses.get(clause).cloned().unwrap_or_default();
            Happening::Violation {
                clause: clause.clone(),
                found_by: if tool.is_empty() {
                    Finder::Agent
                } else {
                    Finder::Executor
                },
                tool,
                predicate,
                message: message.clone(),
            }
        });
        violation.into_iter().chain(self.one(event, line)).collect()
    }

    fn one(&mut self, event: Event, line: &mut Line<'_>) -> Option<Happening> {
        Some(match event {
            Event::TextDelta { text } => Happening::TextDelta { text },
            Event::ContractViolation { violation } => self.violated(&violation),
            Event::Observation {
                call_id,
                tool,
                status,
                text,
                ..
            } => {
                self.told.clear();
                Happening::ToolResult {
                    travelled: line.has_travelled(&call_id),
                    call_id,
                    tool,
                    status: status.name().to_owned(),
                    text: shortened(&text),
                }
            }
            Event::Retry {
                contract, attempt, ..
            } => Happening::Retry {
                clause: contract,
                attempt,
            },
            Event::LoopDetected { repeated, .. } => Happening::Notice {
                text: format!("the model did the same thing {repeated} times in a row"),
            },
            _ => return None,
        })
    }

    fn violated(&mut self, violation: &Violation) -> Happening {
        let clause = violation.contract.clone();
        let found_by = if !self.clauses.contains_key(&clause) {
            Finder::Agent
        } else if violation.location.file.is_empty() {
            // A manifest does not say where a condition is written, so the backend cannot either.
            Finder::Backend
        } else {
            Finder::Executor
        };
        self.told.push(clause.clone());
        Happening::Violation {
            clause,
            tool: violation.tool.clone(),
            predicate: violation.predicate.clone(),
            message: violation.to_string(),
            found_by,
        }
    }
}
