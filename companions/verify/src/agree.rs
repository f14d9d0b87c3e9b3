//! Checks that the forms of a contract agree. No body runs.
//!
//! Predicates are evaluated through [`check`](super::subject::Subject::check), once as for a caller and once with the policy
//! `observe`, so that one input yields the answer of each. Schemas and rules are evaluated by independent libraries.

use cel::Program;
use contract_manifest::PortableRule;
use contract_runtime::__family::Expression;
use contract_runtime::__family::TypeKind;
use contract_runtime::__family::guard;
use contract_runtime::ConditionKind;
use contract_runtime::Policy;
use contract_runtime::{Condition, Detection, Lowering, Outcome, ProblemKind, Status};
use jsonschema::Validator;
use serde_json::Value;

use super::integer::{any_number, doubles};
use super::problem::{Fault, Problem};
use super::std_types;
use super::subject::{Subject, validator};

/// Integers below it are the same in every reader of JSON (RFC 8259, section 6).
const EXACT: u128 = 1 << 53;

/// From here a double may differ from its shortest text, up to the widest bound of a Rust type, that of `f32`.
const COARSE: f64 = 9_007_199_254_740_992.0;
const WIDEST: f64 = 3.5e38;

/// The evaluators of one tool's contract.
pub(super) struct Judges<'s, 'r> {
    pub(super) subject: &'s Subject<'r>,
    /// The schema of the types alone; `None` if it cannot be read.
    types: Option<Validator>,
    published: Option<Validator>,
    pub(super) clauses: Vec<Clause>,
    functions: cel::Context<'static, 'static>,
    /// For `multipleOf` the validator uses doubles, the standard decimal numbers.
    divides: bool,
    /// A `format` shows that some type checks more than its schema says.
    formats: bool,
}

/// One precondition.
pub(super) struct Clause {
    pub(super) id: String,
    pub(super) condition: Condition,
    lowering: Lowering,
    /// The schema of the types and this condition alone.
    schema: Option<Validator>,
    pub(super) rule: Option<Rule>,
    /// An `f32` is rounded before its predicate sees it.
    single: bool,
    /// Without overflow checks the predicate computes another number than the rule.
    overflows: bool,
}

pub(super) struct Rule {
    pub(super) text: String,
    program: Program,
}

/// The verdicts on one input.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a verdict of its own"
)]
pub(super) struct Verdicts {
    /// How long the input is as JSON text.
    pub(super) bytes: usize,
    /// Whether the dispatcher accepts its types.
    pub(super) typed: bool,
    /// Whether all preconditions hold.
    pub(super) accepted: bool,
    /// Whether all preconditions hold that do not ask for earlier calls.
    pub(super) allowed: bool,
    /// Whether all other preconditions hold, and whatever is looked up is there.
    pub(super) ready: bool,
    /// Whether what was looked up was not there.
    pub(super) lacks_given: bool,
    /// Whether it was not there where no precondition ends a call.
    pub(super) lacks_later: bool,
    /// The result of each precondition that could be evaluated.
    pub(super) predicates: Vec<Option<bool>>,
    /// Whether each rule gave an answer.
    pub(super) decided: Vec<bool>,
    /// The faults, with the index of the clause.
    pub(super) faults: Vec<(Option<usize>, Fault)>,
}

impl Verdicts {
    fn fault(&mut self, clause: Option<usize>, fault: Fault) {
        self.faults.push((clause, fault));
    }
}

impl<'s, 'r> Judges<'s, 'r> {
    pub(super) fn new(subject: &'s Subject<'r>, problems: &mut Vec<Problem>) -> Self {
        let tried = subject.tried;
        let mut unreadable = |clause: Option<&str>, why: String| {
            problems.push(Problem {
                clause: clause.map(str::to_owned),
                ..Problem::of(subject.name(), Fault::Unreadable { why })
            });
        };
        let mut read = |clause: Option<&str>, schema: &Value| match validator(schema) {
            Ok(validator) => Some(validator),
            Err(why) => {
                unreadable(clause, why);
                None
            }
        };
        let types = read(None, tried.types());
        let published = read(None, subject.info.input_schema());
        let mut clauses = Vec::new();
        for one in subject.info.conditions() {
            if one.condition().kind() != ConditionKind::Pre {
                continue;
            }
            let condition = one.condition();
            clauses.push(Clause {
                id: one.id().to_owned(),
                condition: condition.clone(),
                lowering: one.lowering(),
                schema: read(Some(one.id()), &tried.types_with(condition)),
                rule: None,
                single: speaks_of_single(subject, condition),
                overflows: condition.expression().is_some_and(computes),
            });
        }
        for clause in &mut clauses {
            let own = subject
                .info
                .conditions()
                .iter()
                .find(|one| one.id() == clause.id);
            let Some(rule) = own.and_then(PortableRule::of) else {
                continue;
            };
            match guard(|| Program::compile(&rule.rule)) {
                Ok(Ok(program)) => {
                    let text = rule.rule;
                    clause.rule = Some(Rule { text, program });
                }
                Ok(Err(error)) => unreadable(Some(&clause.id), format!("`{}`: {error}", rule.rule)),
                Err(_) => unreadable(Some(&clause.id), format!("`{}`", rule.rule)),
            }
        }
        let text = tried.types().to_string() + &subject.info.input_schema().to_string();
        Self {
            subject,
            types,
            published,
            clauses,
            functions: cel::Context::default(),
            divides: text.contains("\"multipleOf\""),
            formats: text.contains("\"format\""),
        }
    }

    /// Evaluates every form of the contract for one input.
    pub(super) fn judge(&self, input: &Value) -> Verdicts {
        let mut verdicts = Verdicts::default();
        let text = input.to_string();
        verdicts.bytes = text.len();
        let tried = self.subject.tried;
        let outcome = self.subject.check_text(text.clone(), Policy::Enforce);
        match outcome.status() {
            Status::InvalidArguments => {
                self.refused(input, &outcome, &mut verdicts);
                return verdicts;
            }
            Status::Ok | Status::Violation => {}
            other => {
                let why = outcome.error().unwrap_or_default();
                let why = format!("{other}: {why}");
                verdicts.fault(None, Fault::Unjudged { why });
                return verdicts;
            }
        }
        verdicts.typed = true;
        // As the dispatcher reads it: `null` for an absent optional argument, and coerced values.
        let read = tried.read(&text).unwrap_or_else(|| input.clone());
        let by_types = self
            .types
            .as_ref()
            .is_none_or(|types| types.is_valid(&read));
        if !by_types && !self.is_unsure(&read) {
            let dispatcher = "these are arguments of the tool".to_owned();
            let schema = false;
            verdicts.fault(None, Fault::Types { schema, dispatcher });
        }
        self.ask(input, &outcome, &mut verdicts);
        verdicts.allowed = verdicts.accepted || self.only_history_refuses(&verdicts);
        verdicts.ready = verdicts.allowed && !verdicts.lacks_later;
        verdicts.lacks_given = lacks_given(&outcome);
        if !self.is_unsure(&read) {
            self.schemas(&read, by_types, &mut verdicts);
        }
        let sent = if self.subject.info.coerces() {
            &read
        } else {
            input
        };
        self.rules(sent, &mut verdicts);
        verdicts
    }

    fn only_history_refuses(&self, verdicts: &Verdicts) -> bool {
        let asks = |clause: &Clause| clause.condition.asks_history();
        let mut all = self.clauses.iter().zip(&verdicts.predicates);
        self.clauses.iter().any(asks)
            && all.all(|(clause, verdict)| *verdict == Some(true) || asks(clause))
    }

    /// Whether the validator may read a number differently: it is not exact as a double, or neither is its remainder.
    fn is_unsure(&self, input: &Value) -> bool {
        any_number(input, |number| {
            let size = number.as_f64().unwrap_or_default().abs();
            number.as_i128().is_none() && (self.divides || (COARSE..=WIDEST).contains(&size))
        })
    }

    fn refused(&self, input: &Value, outcome: &Outcome, verdicts: &mut Verdicts) {
        let valid = self
            .types
            .as_ref()
            .is_some_and(|types| types.is_valid(input));
        let Some(invalid) = outcome.invalid_arguments().filter(|_| valid) else {
            return;
        };
        let excused = |kind| match kind {
            ProblemKind::TooLarge | ProblemKind::TooComplex | ProblemKind::Malformed => true,
            ProblemKind::Rejected | ProblemKind::Format => {
                self.formats || std_types::is_known(&invalid.to_string())
            }
            _ => false,
        };
        if !self.is_unsure(input)
            && !invalid
                .problems()
                .iter()
                .all(|problem| excused(problem.kind))
        {
            let dispatcher = invalid.to_string();
            let schema = true;
            verdicts.fault(None, Fault::Types { schema, dispatcher });
        }
    }

    /// Fills in the result of each predicate, and whether what is looked up behind a refusal is not there.
    fn ask(&self, input: &Value, outcome: &Outcome, verdicts: &mut Verdicts) {
        verdicts.accepted = outcome.is_ok();
        verdicts.predicates = vec![Some(true); self.clauses.len()];
        let place = |id: &str| self.clauses.iter().position(|clause| clause.id == id);
        let Some(violation) = outcome.violation() else {
            let again = self.subject.check(input, Policy::Enforce);
            let broken = again
                .violation()
                .and_then(|violation| place(&violation.contract));
            if let Some(place) = broken {
                verdicts.fault(Some(place), Fault::Unsteady);
            }
            return;
        };
        let observed = self.subject.check(input, Policy::Observe);
        verdicts.lacks_later = lacks_given(&observed);
        verdicts.predicates.truncate(self.evaluated(&observed));
        verdicts.predicates.resize(self.clauses.len(), None);
        let Some(first) = place(&violation.contract) else {
            // A function that a predicate calls has a contract of its own.
            if !lacks_given(outcome) {
                verdicts.predicates.fill(None);
            }
            return;
        };
        let mut failed = vec![false; self.clauses.len()];
        let broken = observed
            .observed()
            .iter()
            .filter_map(|broken| Some((place(&broken.contract)?, broken)));
        for (place, broken) in broken {
            let (Some(failed), Some(verdict)) =
                (failed.get_mut(place), verdicts.predicates.get_mut(place))
            else {
                continue;
            };
            *failed = true;
            *verdict = (broken.detection == Detection::PredicateFalse).then_some(false);
        }
        if violation.detection != Detection::PredicateFalse {
            verdicts.fault(Some(first), Fault::ConditionPanicked);
        } else if !failed.get(first).copied().unwrap_or_default() && self.accepts_at_times(input) {
            verdicts.fault(Some(first), Fault::Unsteady);
        }
        if let Some(verdict) = verdicts.predicates.get_mut(first) {
            *verdict = (violation.detection == Detection::PredicateFalse).then_some(false);
        }
    }

    /// How many preconditions stand above the lookup that found nothing; all, if there is none.
    fn evaluated(&self, observed: &Outcome) -> usize {
        let given = observed.violation().filter(|_| lacks_given(observed));
        let ended = given.map(|one| (one.location.line, one.location.column));
        let is_above = |one: &&Clause| ended.is_none_or(|ended| one.condition.position() < ended);
        self.clauses.iter().take_while(is_above).count()
    }

    /// A predicate that catches nested violations may differ under `observe`; evaluated the same way, it must not.
    fn accepts_at_times(&self, input: &Value) -> bool {
        (0..3).any(|_| self.subject.accepts(input))
    }

    fn schemas(&self, read: &Value, by_types: bool, verdicts: &mut Verdicts) {
        let mut together = by_types;
        for (place, clause) in self.clauses.iter().enumerate() {
            let Some(schema) = clause.schema.as_ref().map(|schema| schema.is_valid(read)) else {
                continue;
            };
            together &= schema;
            let Some(predicate) = verdicts.predicates.get(place).copied().flatten() else {
                continue;
            };
            let stricter = by_types && predicate && !schema;
            let weaker = clause.lowering == Lowering::Exact && !predicate && schema;
            if stricter || weaker {
                let fault = Fault::Schema {
                    schema,
                    predicate,
                    lowering: clause.lowering,
                };
                verdicts.fault(Some(place), fault);
            }
        }
        let published = self
            .published
            .as_ref()
            .map(|published| published.is_valid(read));
        if let Some(published) = published.filter(|published| *published != together) {
            verdicts.fault(None, Fault::Published { published });
        }
    }

    fn rules(&self, input: &Value, verdicts: &mut Verdicts) {
        let exact = !any_number(input, |number| match number.as_i128() {
            Some(whole) => whole.unsigned_abs() >= EXACT,
            None => number.as_f64().unwrap_or_default().abs() >= COARSE,
        });
        for (place, clause) in self.clauses.iter().enumerate() {
            let Some(rule) = &clause.rule else {
                verdicts.decided.push(false);
                continue;
            };
            let says = self.evaluate(rule, input);
            verdicts.decided.push(says.is_some());
            let Some(predicate) = verdicts.predicates.get(place).copied().flatten() else {
                continue;
            };
            let checked = !clause.overflows || cfg!(debug_assertions);
            let whole = exact && !clause.single && checked;
            let says = match (says, predicate) {
                (Some(false), true) => Some(false),
                (Some(true), false) if whole => Some(true),
                // Some readers of JSON treat every number as a double.
                (_, true) if !exact => self.evaluate(rule, &doubles(input)).filter(|says| !says),
                _ => None,
            };
            if let Some(says) = says {
                let fault = Fault::Rule {
                    rule: rule.text.clone(),
                    says,
                    predicate,
                };
                verdicts.fault(Some(place), fault);
            }
        }
    }

    /// Evaluates a rule; `None` for an error, and for anything but `true` and `false`.
    fn evaluate(&self, rule: &Rule, input: &Value) -> Option<bool> {
        let evaluated = guard(|| {
            let mut context = self.functions.new_inner_scope();
            context.add_variable("args", input).ok()?;
            match rule.program.execute(&context) {
                Ok(cel::Value::Bool(says)) => Some(says),
                _ => None,
            }
        });
        evaluated.ok().flatten()
    }
}

/// Whether a call ended because what was looked up is not there.
fn lacks_given(outcome: &Outcome) -> bool {
    let refused = outcome.violation();
    refused.is_some_and(|one| one.kind == ConditionKind::Given)
}

/// Whether the condition uses a parameter that is rounded to 32 bits.
fn speaks_of_single(subject: &Subject<'_>, condition: &Condition) -> bool {
    fn single(kind: TypeKind) -> bool {
        match kind {
            TypeKind::Float { single } => single,
            TypeKind::List(inner) | TypeKind::Optional(inner) => single(*inner),
            _ => false,
        }
    }
    let named = subject
        .tried
        .parameters()
        .iter()
        .filter(|one| condition.parameters().contains(&one.name));
    named.map(|one| one.kind).any(single)
}

fn computes(expression: &'static Expression) -> bool {
    use Expression::{Absolute, Arithmetic, Negative};
    let computed = |part: &&Expression| matches!(part, Arithmetic(..) | Negative(_) | Absolute(_));
    expression.all().iter().any(computed)
}
