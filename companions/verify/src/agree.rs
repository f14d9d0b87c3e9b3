//! Whether the forms of a contract say the same. No body runs.
//!
//! The predicates are asked through [`check`](super::subject::Subject::check), once as a caller meets them and once with all
//! of them observed, so that one input tells what each of them says. Schemas and rules are judged by libraries that nobody
//! here wrote.

use cel::Program;
use jsonschema::Validator;
use serde_json::Value;

use super::foreign;
use super::integer::{any_number, doubles};
use super::problem::{Fault, Layer, Problem};
use super::subject::{Subject, validator};
use crate::contract::condition::ConditionKind;
use crate::contract::expression::Expression;
use crate::contract::panics::guard;
use crate::contract::policy::Policy;
use crate::registry::entry;
use crate::tool::arguments;
use crate::tool::form::Form;
use crate::{Condition, Detection, Lowering, Outcome, ProblemKind, Status};

/// Integers below it are the same in every reader of JSON (RFC 8259, section 6).
const EXACT: u128 = 1 << 53;

/// From here a double is no longer what its shortest text says, up to the widest bound of a type of Rust, that of `f32`.
const COARSE: f64 = 9_007_199_254_740_992.0;
const WIDEST: f64 = 3.5e38;

/// The judges of one tool.
pub(super) struct Judges<'s, 'r> {
    pub(super) subject: &'s Subject<'r>,
    /// Of the types alone; none if its schema cannot be read.
    types: Option<Validator>,
    published: Option<Validator>,
    pub(super) clauses: Vec<Clause>,
    functions: cel::Context<'static, 'static>,
    /// The judge of schemas takes remainders of doubles, the standard those of decimal numbers.
    divides: bool,
    /// Some type checks more than a schema can say, and a `format` tells so.
    formats: bool,
}

/// One precondition.
pub(super) struct Clause {
    pub(super) id: String,
    pub(super) condition: Condition,
    lowering: Lowering,
    /// Of the types and this condition alone.
    schema: Option<Validator>,
    pub(super) rule: Option<Rule>,
    /// An `f32` is rounded before its predicate sees it.
    single: bool,
    /// Without overflow checks the predicate goes on with another number than the rule.
    overflows: bool,
}

pub(super) struct Rule {
    pub(super) text: String,
    program: Program,
}

/// What the judges say of one input.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// How long the input is as JSON text.
    pub(super) bytes: usize,
    /// The dispatcher takes it for arguments of the tool.
    pub(super) typed: bool,
    /// All preconditions hold of it.
    pub(super) accepted: bool,
    /// What each precondition says, where it could be asked.
    pub(super) verdicts: Vec<Option<bool>>,
    /// Whether each rule gave an answer.
    pub(super) decided: Vec<bool>,
    /// What is wrong, with the place of the clause.
    pub(super) faults: Vec<(Option<usize>, Fault)>,
}

impl<'s, 'r> Judges<'s, 'r> {
    pub(super) fn new(subject: &'s Subject<'r>, problems: &mut Vec<Problem>) -> Self {
        let entry = subject.entry;
        let mut unreadable = |clause: Option<&str>, why: String| {
            problems.push(Problem {
                tool: subject.name().to_owned(),
                layer: Layer::Agreement,
                clause: clause.map(str::to_owned),
                input: None,
                fault: Fault::Unreadable { why },
            });
        };
        let mut read = |clause: Option<&str>, schema: &Value| match validator(schema) {
            Ok(validator) => Some(validator),
            Err(why) => {
                unreadable(clause, why);
                None
            }
        };
        let types = read(None, entry.inputs.schema.json());
        let published = read(None, subject.info.input_schema());
        let mut clauses = Vec::new();
        for one in subject.info.conditions() {
            if one.condition().kind() != ConditionKind::Pre {
                continue;
            }
            let condition = *one.condition();
            let alone = entry::published(&entry.tool, &entry.inputs.schema, &[condition]);
            clauses.push(Clause {
                id: one.id().to_owned(),
                condition,
                lowering: one.lowering(),
                schema: read(Some(one.id()), &alone.input),
                rule: None,
                single: speaks_of_single(subject, &condition),
                overflows: condition.expression().is_some_and(computes),
            });
        }
        for clause in &mut clauses {
            let own = subject
                .info
                .conditions()
                .iter()
                .find(|one| one.id() == clause.id);
            let Some(rule) = own.and_then(|one| one.rule()) else {
                continue;
            };
            match guard(|| Program::compile(&rule.rule)) {
                Ok(Ok(program)) => {
                    let text = rule.rule.clone();
                    clause.rule = Some(Rule { text, program });
                }
                Ok(Err(error)) => unreadable(Some(&clause.id), format!("`{}`: {error}", rule.rule)),
                Err(_) => unreadable(Some(&clause.id), format!("`{}`", rule.rule)),
            }
        }
        let text =
            entry.inputs.schema.json().to_string() + &subject.info.input_schema().to_string();
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

    /// Looks at one input from all sides.
    pub(super) fn look(&self, input: &Value) -> Look {
        let mut look = Look::default();
        let text = input.to_string();
        look.bytes = text.len();
        let inputs = &self.subject.entry.inputs;
        let outcome = self.subject.check_text(text.clone(), Policy::Enforce);
        match outcome.status() {
            Status::InvalidArguments => {
                self.refused(input, &outcome, &mut look);
                return look;
            }
            Status::Ok | Status::Violation => {}
            other => {
                let why = outcome.error().unwrap_or_default();
                let why = format!("{other}: {why}");
                look.faults.push((None, Fault::Unjudged { why }));
                return look;
            }
        }
        look.typed = true;
        // As the dispatcher reads it: `null` is nothing where it is no value, and what is coerced is what it became.
        let read = arguments::read(&text, &inputs.schema, inputs.coerce);
        let read = read
            .ok()
            .and_then(|read| serde_json::from_str(&read.text).ok());
        let read: Value = read.unwrap_or_else(|| input.clone());
        let by_types = self
            .types
            .as_ref()
            .is_none_or(|types| types.is_valid(&read));
        if !by_types && !self.is_unsure(&read) {
            let dispatcher = "these are arguments of the tool".to_owned();
            look.faults.push((
                None,
                Fault::Types {
                    schema: false,
                    dispatcher,
                },
            ));
        }
        self.ask(input, &outcome, &mut look);
        if !self.is_unsure(&read) {
            self.schemas(&read, by_types, &mut look);
        }
        let sent = if inputs.coerce { &read } else { input };
        self.rules(sent, &mut look);
        look
    }

    /// Whether a judge of schemas reads a number of it as another one: as text it is no double, or its remainder is none.
    fn is_unsure(&self, input: &Value) -> bool {
        any_number(input, &|number| {
            let size = number.as_f64().unwrap_or_default().abs();
            number.as_i128().is_none() && (self.divides || (COARSE..=WIDEST).contains(&size))
        })
    }

    fn refused(&self, input: &Value, outcome: &Outcome, look: &mut Look) {
        let valid = self
            .types
            .as_ref()
            .is_some_and(|types| types.is_valid(input));
        let Some(invalid) = outcome.invalid_arguments().filter(|_| valid) else {
            return;
        };
        let excused = |kind| match kind {
            ProblemKind::TooLarge | ProblemKind::TooComplex | ProblemKind::Malformed => true,
            ProblemKind::Rejected => self.formats || foreign::is_known(&invalid.to_string()),
            _ => false,
        };
        if !self.is_unsure(input)
            && !invalid
                .problems()
                .iter()
                .all(|problem| excused(problem.kind))
        {
            let dispatcher = invalid.to_string();
            look.faults.push((
                None,
                Fault::Types {
                    schema: true,
                    dispatcher,
                },
            ));
        }
    }

    /// Fills in what each predicate says.
    fn ask(&self, input: &Value, outcome: &Outcome, look: &mut Look) {
        look.accepted = outcome.is_ok();
        look.verdicts = vec![Some(true); self.clauses.len()];
        let place = |id: &str| self.clauses.iter().position(|clause| clause.id == id);
        let Some(violation) = outcome.violation() else {
            let again = self.subject.check(input, Policy::Enforce);
            let broken = again
                .violation()
                .and_then(|violation| place(&violation.contract));
            if let Some(place) = broken {
                look.faults.push((Some(place), Fault::Unsteady));
            }
            return;
        };
        let Some(first) = place(&violation.contract) else {
            // A function that a predicate calls has a contract of its own.
            look.verdicts = vec![None; self.clauses.len()];
            return;
        };
        let observed = self.subject.check(input, Policy::Observe);
        let mut failed = vec![false; self.clauses.len()];
        let broken = observed
            .observed()
            .iter()
            .filter_map(|broken| Some((place(&broken.contract)?, broken)));
        for (place, broken) in broken {
            let (Some(failed), Some(verdict)) =
                (failed.get_mut(place), look.verdicts.get_mut(place))
            else {
                continue;
            };
            *failed = true;
            *verdict = (broken.detection == Detection::PredicateFalse).then_some(false);
        }
        if violation.detection == Detection::Panicked {
            look.faults.push((Some(first), Fault::ConditionPanicked));
        } else if !failed.get(first).copied().unwrap_or_default() && self.accepts_at_times(input) {
            look.faults.push((Some(first), Fault::Unsteady));
        }
        if let Some(verdict) = look.verdicts.get_mut(first) {
            *verdict = (violation.detection == Detection::PredicateFalse).then_some(false);
        }
    }

    /// A predicate that catches violations below it may answer otherwise while all are observed; asked alike it must not.
    fn accepts_at_times(&self, input: &Value) -> bool {
        (0..3).any(|_| self.subject.accepts(input))
    }

    fn schemas(&self, read: &Value, by_types: bool, look: &mut Look) {
        let mut together = by_types;
        for (place, clause) in self.clauses.iter().enumerate() {
            let Some(schema) = clause.schema.as_ref().map(|schema| schema.is_valid(read)) else {
                continue;
            };
            together &= schema;
            let Some(predicate) = look.verdicts.get(place).copied().flatten() else {
                continue;
            };
            let stricter = by_types && predicate && !schema;
            let weaker = clause.lowering == Lowering::Exact && !predicate && schema;
            if stricter || weaker {
                let lowering = clause.lowering;
                look.faults.push((
                    Some(place),
                    Fault::Schema {
                        schema,
                        predicate,
                        lowering,
                    },
                ));
            }
        }
        let published = self
            .published
            .as_ref()
            .map(|published| published.is_valid(read));
        if let Some(published) = published.filter(|published| *published != together) {
            look.faults.push((None, Fault::Published { published }));
        }
    }

    fn rules(&self, input: &Value, look: &mut Look) {
        let exact = !any_number(input, &|number| match number.as_i128() {
            Some(whole) => whole.unsigned_abs() >= EXACT,
            None => number.as_f64().unwrap_or_default().abs() >= COARSE,
        });
        for (place, clause) in self.clauses.iter().enumerate() {
            let Some(rule) = &clause.rule else {
                look.decided.push(false);
                continue;
            };
            let says = self.evaluate(rule, input);
            look.decided.push(says.is_some());
            let Some(predicate) = look.verdicts.get(place).copied().flatten() else {
                continue;
            };
            let checked = !clause.overflows || cfg!(debug_assertions);
            let whole = exact && !clause.single && checked;
            let says = match (says, predicate) {
                (Some(false), true) => Some(false),
                (Some(true), false) if whole => Some(true),
                // To some readers every number is a double.
                (_, true) if !exact => self.evaluate(rule, &doubles(input)).filter(|says| !says),
                _ => None,
            };
            if let Some(says) = says {
                let rule = rule.text.clone();
                look.faults.push((
                    Some(place),
                    Fault::Rule {
                        rule,
                        says,
                        predicate,
                    },
                ));
            }
        }
    }

    /// What a rule says; an error decides nothing, nor does anything but `true` and `false`.
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

/// Whether it is made of a parameter that is rounded to 32 bits.
fn speaks_of_single(subject: &Subject<'_>, condition: &Condition) -> bool {
    fn single(form: Form) -> bool {
        match form {
            Form::Float { single } => single,
            Form::List(inner) | Form::Optional(inner) => single(*inner),
            _ => false,
        }
    }
    let named = subject
        .tool()
        .parameters
        .iter()
        .filter(|one| condition.parameters().contains(&one.name));
    named.map(|one| one.form).any(single)
}

fn computes(expression: &Expression) -> bool {
    let own = matches!(
        expression,
        Expression::Arithmetic(..) | Expression::Negative(_)
    );
    own || expression.parts().into_iter().any(computes)
}
