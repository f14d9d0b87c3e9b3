//! Translates the events of an agent and of its session to the events of a run.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use contract_agent::{Event, RunError};
use contract_remote::{SessionEvent, Toolbelt};
use contract_runtime::{Status, ToolCall};

use crate::contract::{Finder, Happening};

/// The longest text of an event, in characters: the whole of it is between the model and its tools.
const LONGEST: usize = 2_000;

/// How often the progress of one call is an event of the run: each is kept.
const EVERY: Duration = Duration::from_millis(500);

/// Makes the events of a run of those of its agent and of its session.
#[derive(Debug, Default)]
pub(super) struct Translator {
    /// The tool and the text of each condition.
    clauses: HashMap<String, (String, String)>,
    /// The conditions of the violations that were reported since the last result.
    violated: Vec<String>,
    /// The calls that were stored to be sent, by the model's id.
    began: HashSet<String>,
    /// Whether some of them may have been missed.
    pub(super) missed: bool,
    /// When the progress of each call was last reported.
    progress: HashMap<String, Instant>,
}

/// Returns the event of a call as the model wrote it.
pub(super) fn call_made(call: &ToolCall) -> Happening {
    Happening::ToolCall {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        arguments: shortened(&call.arguments),
    }
}

/// Returns the beginning of a long text.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} [..]", &text[..end]),
        None => text.to_owned(),
    }
}

impl Translator {
    pub(super) fn new(toolbelt: &Toolbelt) -> Self {
        let clauses = toolbelt.tools().flat_map(|tool| {
            let clauses = tool.conditions.iter();
            clauses.map(|one| (one.id.clone(), (tool.name.clone(), one.predicate.clone())))
        });
        Self {
            clauses: clauses.collect(),
            ..Self::default()
        }
    }

    /// Translates an event of the agent.
    pub(super) fn agent(&mut self, event: Event) -> Vec<Happening> {
        let mut all = Vec::new();
        match event {
            Event::TextDelta { text } => all.push(Happening::TextDelta { text }),
            Event::ContractViolation { violation } => {
                let found_by = if !self.clauses.contains_key(&violation.contract) {
                    Finder::Agent
                } else if violation.location.file.is_empty() {
                    // A manifest does not say where a condition is written, so the backend cannot either.
                    Finder::Backend
                } else {
                    Finder::Executor
                };
                all.push(Happening::Violation {
                    clause: violation.contract.clone(),
                    tool: violation.tool.clone(),
                    predicate: violation.predicate.clone(),
                    message: violation.to_string(),
                    found_by,
                });
                self.violated.push(violation.contract.clone());
            }
            // The call waits for a person, and has not ended.
            Event::Observation {
                status: Status::Asked,
                ..
            } => {}
            Event::Observation {
                call_id,
                tool,
                status,
                text,
                ..
            } => {
                self.violated.clear();
                self.progress.remove(&call_id);
                all.push(Happening::ToolResult {
                    // A later call may have the same id.
                    travelled: self.began.remove(&call_id) || self.missed,
                    call_id,
                    tool,
                    status: status.name().to_owned(),
                    text: shortened(&text),
                });
            }
            Event::Retry {
                contract: clause,
                attempt,
                feedback,
            } => {
                all.extend(self.unreported(&clause, feedback));
                all.push(Happening::Retry { clause, attempt });
            }
            Event::Error {
                error:
                    RunError::Contract {
                        contract, message, ..
                    },
            } => all.extend(self.unreported(&contract, message)),
            Event::LoopDetected { repeated, .. } => all.push(Happening::Notice {
                text: format!("the model did the same thing {repeated} times in a row"),
            }),
            _ => {}
        }
        all
    }

    /// Returns a violation that only the executor or the agent knows of, so that no event came before its consequence.
    fn unreported(&self, clause: &str, message: String) -> Option<Happening> {
        if self.violated.iter().any(|one| one == clause) {
            return None;
        }
        let known = self.clauses.get(clause).cloned();
        let found_by = known.as_ref().map_or(Finder::Agent, |_| Finder::Executor);
        let (tool, predicate) = known.unwrap_or_default();
        Some(Happening::Violation {
            clause: clause.to_owned(),
            tool,
            predicate,
            message,
            found_by,
        })
    }

    /// Translates an event of the session.
    pub(super) fn session(&mut self, event: SessionEvent) -> Option<Happening> {
        let text = match event {
            SessionEvent::CallBegan { call_id, .. } => {
                self.began.insert(call_id);
                return None;
            }
            SessionEvent::CallProgress {
                call_id,
                done,
                total,
                message,
                ..
            } => {
                let last = self.progress.get(&call_id);
                if last.is_some_and(|last| last.elapsed() < EVERY) {
                    return None;
                }
                self.progress.insert(call_id.clone(), Instant::now());
                return Some(Happening::ToolProgress {
                    call_id,
                    done,
                    total,
                    message: shortened(&message),
                });
            }
            SessionEvent::Attached { epoch, .. } => {
                format!("an executor has dialled in (connection {epoch})")
            }
            SessionEvent::Lost { grace } => format!(
                "the connection to the executor broke; calls wait {} s for it to come back",
                grace.as_secs()
            ),
            SessionEvent::GivenUp => "the executor did not come back in time".to_owned(),
            _ => return None,
        };
        Some(Happening::Notice { text })
    }
}
