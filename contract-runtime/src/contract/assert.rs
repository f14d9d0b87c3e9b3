//! The runtime half of `contract_assert!`.

use super::condition::{Condition, ConditionKind};
use super::condition_result::Checked;
use super::counts::Counts;
use super::details::{Details, Sentence};
use super::frame::{Stop, conclude};
use super::nesting::Judging;
use super::observer;
use super::policy::{Policy, Resolved};
use super::scope::ContractScope;
use super::unwind::{unless_fatal, unwind};
use super::violation::{Blame, Detection, Location, Violation};

/// Judges an assertion where it stands.
#[track_caller]
#[inline]
pub fn assert(
    condition: &'static Condition,
    file: &'static str,
    holds: impl Fn() -> Checked,
    details: impl FnOnce(&mut Details<'_>),
) {
    if cfg!(contract_strip) {
        return;
    }
    let scope = ContractScope::current();
    let policy = scope.policy().of_condition(condition.policy());
    if policy.policy == Policy::Ignore {
        return count(
            &scope,
            Counts {
                skipped: 1,
                ..Counts::default()
            },
        );
    }
    if observer::is_watched(scope.get()) {
        observer::tell_of_check(scope.get(), name(&scope, condition, file), condition);
    }
    let Some(_judging) = Judging::begin() else {
        return;
    };
    let (detection, why) = match scope.guard(holds) {
        Ok(Checked::Holds) => {
            return count(
                &scope,
                Counts {
                    evaluated: 1,
                    ..Counts::default()
                },
            );
        }
        Ok(Checked::Fails(why)) => (Detection::PredicateFalse, why.map(|why| *why)),
        Err(panicked) => (panicked.detection(), None),
    };
    let mut seen = Details::new(None);
    if scope.guard(|| details(&mut seen)).is_err() {
        seen.leave_out_message();
    }
    let sentence = match why {
        Some(why) => Sentence::computed(why),
        None => Sentence::of(condition, seen.into_message()),
    };
    let concluded = failed(&scope, condition, file, policy, detection, sentence);
    if let Err(stop) = concluded.or_else(|stop| unless_fatal(&scope, stop)) {
        unwind(stop);
    }
}

fn count(scope: &ContractScope, counts: Counts) {
    if let Some(scope) = scope.get() {
        scope.count(counts);
    }
}

/// Such as `divide.assert@src/tools.rs:7:5`.
fn name(scope: &ContractScope, condition: &Condition, file: &str) -> String {
    let (line, column) = condition.position();
    match scope.get() {
        Some(scope) if !scope.tool.is_empty() => {
            format!("{}.assert@{file}:{line}:{column}", scope.tool)
        }
        _ => format!("assert@{file}:{line}:{column}"),
    }
}

#[cold]
fn failed(
    scope: &ContractScope,
    condition: &'static Condition,
    file: &'static str,
    Resolved { policy, origin }: Resolved,
    detection: Detection,
    sentence: Sentence,
) -> Result<(), Stop> {
    count(
        scope,
        Counts {
            evaluated: 1,
            ..Counts::default()
        },
    );
    let (line, column) = condition.position();
    let tool = scope.get().map_or("", |scope| &*scope.tool);
    conclude(
        scope,
        Violation {
            contract: name(scope, condition, file),
            id: None,
            kind: ConditionKind::Assert,
            tool: tool.to_owned(),
            predicate: condition.predicate().to_owned(),
            template: sentence.template,
            demand: None,
            message: sentence.message,
            location: Location {
                file: file.to_owned(),
                line,
                column,
            },
            policy,
            origin,
            detection,
            blame: Blame::Callee,
            values: super::values::Values::new(),
            call_id: None,
        },
    )
}
