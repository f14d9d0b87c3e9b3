//! What contracts would have stopped in recorded conversations, counted and listed.

use std::collections::BTreeMap;

use crate::golden::why_wrong;
use crate::policy::PARAGRAPHS;
use crate::recording::Conversation;
use crate::replay::{Replayed, Write};

/// How a conversation ended when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// The suite counted it as solved.
    Solved,
    /// The suite counted it as solved because of a write that breaks its own policy.
    SolvedAgainstPolicy,
    /// A write that the task does not expect went through.
    WroteWrong,
    /// It was not solved, and wrote nothing that the task does not expect.
    FellShort,
}

/// What contracts would have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// A condition about arguments and state stops a write.
    Stopped,
    /// Only the question to the user stops a write: no yes was found.
    Asked,
    /// Only the question about the reason stops a write: none that insurance covers was found.
    AskedWhy,
    /// Nothing.
    Untouched,
}

/// Counts of conversations and of broken conditions.
#[derive(Clone, Debug, Default)]
pub struct Report {
    conversations: BTreeMap<(Ending, Effect), usize>,
    conditions: BTreeMap<String, usize>,
    beside: usize,
    beside_solved: usize,
    writes: usize,
    differences: usize,
}

/// Returns how a conversation ended.
#[must_use]
pub fn ending(conversation: &Conversation, replayed: &Replayed) -> Ending {
    let against = |write: &Write| {
        write.expected && !write.breaks.is_empty() && why_wrong(&write.call).is_some()
    };
    if conversation.solved && replayed.writes.iter().any(against) {
        Ending::SolvedAgainstPolicy
    } else if conversation.solved {
        Ending::Solved
    } else if replayed.writes.iter().any(|write| !write.expected) {
        Ending::WroteWrong
    } else {
        Ending::FellShort
    }
}

/// Returns what contracts would have done.
#[must_use]
pub fn effect(replayed: &Replayed) -> Effect {
    if replayed.writes.iter().any(|write| !write.breaks.is_empty()) {
        Effect::Stopped
    } else if replayed.writes.iter().any(|write| !write.agreed) {
        Effect::Asked
    } else if replayed.writes.iter().any(|write| !write.reason) {
        Effect::AskedWhy
    } else {
        Effect::Untouched
    }
}

impl Report {
    /// Counts a conversation.
    pub fn count(&mut self, conversation: &Conversation, replayed: &Replayed) {
        *self
            .conversations
            .entry((ending(conversation, replayed), effect(replayed)))
            .or_default() += 1;
        let beside = usize::from(replayed.writes.iter().any(|write| write.beside));
        self.beside += beside;
        self.beside_solved += beside * usize::from(conversation.solved);
        self.writes += replayed.writes.len();
        self.differences += replayed.differences;
        let first = replayed
            .writes
            .iter()
            .filter_map(|write| write.breaks.first());
        for (condition, _) in first {
            *self.conditions.entry(condition.clone()).or_default() += 1;
        }
    }

    /// Prints the counts.
    pub fn print(&self) {
        println!(
            "{:40} {:>9} {:>8} {:>10} {:>10}",
            "", "stopped", "asked", "asked why", "untouched"
        );
        let rows = [
            (Ending::Solved, "solved"),
            (
                Ending::SolvedAgainstPolicy,
                "solved by breaking the written policy",
            ),
            (Ending::WroteWrong, "not solved, an unexpected write"),
            (Ending::FellShort, "not solved, no unexpected write"),
        ];
        for (ending, name) in rows {
            let count = |effect| {
                self.conversations
                    .get(&(ending, effect))
                    .copied()
                    .unwrap_or_default()
            };
            let (stopped, asked) = (count(Effect::Stopped), count(Effect::Asked));
            let (asked_why, untouched) = (count(Effect::AskedWhy), count(Effect::Untouched));
            println!("{name:40} {stopped:>9} {asked:>8} {asked_why:>10} {untouched:>10}");
        }
        println!(
            "{} writes went through; {} with another result than here",
            self.writes, self.differences
        );
        println!(
            "{} conversations, {} of them solved, have a write beside other calls",
            self.beside, self.beside_solved
        );
        for (condition, count) in &self.conditions {
            println!("  {count:4} stopped first by {condition}");
        }
    }
}

/// Prints the first write of a conversation that is stopped, as a row: task, call, sentence, paragraph of the policy.
pub fn row(conversation: &Conversation, replayed: &Replayed) {
    let stopped = replayed
        .writes
        .iter()
        .find_map(|write| Some((&write.call, write.breaks.first()?)));
    let Some((call, (condition, sentence))) = stopped else {
        return;
    };
    let paragraph = PARAGRAPHS
        .iter()
        .find(|(name, _)| condition.starts_with(name))
        .map_or("", |(_, paragraph)| paragraph);
    let task = conversation.task.number;
    println!(
        "| {task} | `{} {}` | {sentence} | {paragraph} |",
        call.name, call.arguments
    );
}

/// Prints the writes of a conversation that are stopped or not expected.
pub fn list(conversation: &Conversation, replayed: &Replayed) {
    for write in replayed.writes.iter().filter(|write| {
        !write.expected || !write.breaks.is_empty() || !write.agreed || !write.reason
    }) {
        let Write {
            call,
            expected,
            breaks,
            agreed,
            reason,
            ..
        } = write;
        println!(
            "task {} trial {} {:?}{}{}{}: {} {}",
            conversation.task.number,
            conversation.trial,
            ending(conversation, replayed),
            if *expected { ", expected" } else { "" },
            if *agreed { "" } else { ", no yes" },
            if *reason { "" } else { ", no reason" },
            call.name,
            call.arguments,
        );
        for (condition, sentence) in breaks {
            println!("    {condition}: {sentence}");
        }
    }
}
