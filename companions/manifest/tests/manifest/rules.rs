//! The native predicate, its rule and its schema agree, on values near every bound.

mod shape;
mod tools;
mod values;

use std::env;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::{panic, thread};

use cel::{Context, Program};
use contract_manifest::PortableRule;
use contract_runtime::{Detection, Lowering, Registry, Status, ToolCall};
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use tools::{CLAUSES, Clause, registry};
use values::{Chance, Values};

/// Cases for each clause, and where other judges wait for them.
const CASES: usize = 1_000;
const WRITTEN_CASES: usize = 2_000;

/// Where to write all cases, for judges that are not written in Rust: see `.ci/nightly.d/cel.sh`.
const WRITTEN: &str = "CONTRACT_RULE_CASES";

/// What the native contract says of a call whose arguments are of the right types.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Native {
    Accepts,
    Refuses,
    /// It refuses, but not because of what it computed.
    Panics,
}

struct Judges {
    registry: Registry,
    runtime: Runtime,
    functions: Context<'static, 'static>,
}

impl Judges {
    fn native(&self, name: &str, arguments: &str) -> Option<Native> {
        let call = ToolCall::new("1", name, arguments);
        let outcome = self.runtime.block_on(self.registry.check(call));
        match (outcome.status(), outcome.violation()) {
            (Status::Ok, _) => Some(Native::Accepts),
            (Status::InvalidArguments, _) => None,
            (Status::Violation, Some(violation)) => Some(match violation.detection {
                Detection::Panicked => Native::Panics,
                _ => Native::Refuses,
            }),
            (status, _) => panic!("{name}({arguments}) ended as {status}"),
        }
    }
}

/// The forms of one clause.
struct Forms {
    clause: &'static Clause,
    rule: String,
    program: Program,
    schema: Validator,
    lowering: Lowering,
}

impl Forms {
    fn of(clause: &'static Clause, registry: &Registry) -> Self {
        let tool = registry.tool(clause.name).unwrap();
        let [condition] = tool.conditions() else {
            panic!("`{}` has one clause", clause.name);
        };
        let Some(rule) = PortableRule::of(condition) else {
            panic!("`{}` has no rule: {}", clause.name, clause.predicate);
        };
        let program = Program::compile(&rule.rule);
        Self {
            clause,
            program: program.unwrap_or_else(|error| panic!("{}: {error}", rule.rule)),
            rule: rule.rule,
            schema: jsonschema::draft202012::new(tool.input_schema()).unwrap(),
            lowering: condition.lowering(),
        }
    }

    /// What the rule says, if anything.
    fn rule(&self, judges: &Judges, arguments: &Value) -> Option<bool> {
        let mut context = judges.functions.new_inner_scope();
        context.add_variable("args", arguments).unwrap();
        match self.program.execute(&context) {
            Ok(cel::Value::Bool(answer)) => Some(answer),
            Ok(other) => panic!("{} is {other:?} of {arguments}", self.rule),
            Err(_) => None,
        }
    }

    /// The arguments as the dispatcher reads them: `null` is nothing where it is no value.
    fn read(&self, arguments: &Value) -> Value {
        let mut arguments = arguments.clone();
        let members = arguments.as_object_mut().unwrap();
        for (name, of) in self.clause.parameters {
            if !of.starts_with("Option") && members.get(*name).is_some_and(Value::is_null) {
                members.shift_remove(*name);
            }
        }
        arguments
    }

    /// Whether the rule says all that the predicate says of these arguments.
    fn is_whole(&self, arguments: &Value) -> bool {
        let single = self.clause.parameters.iter().any(|(_, of)| *of == "f32");
        !single && !is_wide(arguments)
    }
}

/// Whether a number is in it that not every reader of JSON keeps.
fn is_wide(value: &Value) -> bool {
    match value {
        Value::Number(number) => number
            .as_i128()
            .is_some_and(|number| number.unsigned_abs() >= 1 << 53),
        Value::Array(items) => items.iter().any(is_wide),
        Value::Object(members) => members.values().any(is_wide),
        _ => false,
    }
}

fn doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(doubles).collect(),
        Value::Object(members) => {
            let double = |(name, value): (&String, &Value)| (name.clone(), doubles(value));
            members.iter().map(double).collect()
        }
        other => other.clone(),
    }
}

#[derive(Debug, Default)]
struct Counts {
    judged: usize,
    accepted: usize,
    decided: usize,
}

#[test]
fn native_predicate_rule_and_schema_agree() {
    quiet();
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let chunks = CLAUSES.chunks(CLAUSES.len().div_ceil(threads));
    let cases: Vec<Value> = thread::scope(|scope| {
        let chunks: Vec<_> = chunks
            .map(|chunk| scope.spawn(|| judge_all(chunk)))
            .collect();
        let join = |chunk: thread::ScopedJoinHandle<'_, _>| match chunk.join() {
            Ok(cases) => cases,
            Err(panic) => panic::resume_unwind(panic),
        };
        chunks.into_iter().flat_map(join).collect::<Vec<_>>()
    });
    if let Some(path) = env::var_os(WRITTEN) {
        let mut file = BufWriter::new(File::create(path).unwrap());
        for case in cases {
            writeln!(file, "{case}").unwrap();
        }
    }
}

fn judge_all(clauses: &'static [Clause]) -> Vec<Value> {
    let judges = Judges {
        registry: registry(),
        runtime: tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap(),
        functions: Context::default(),
    };
    let number = env::var_os(WRITTEN).map_or(CASES, |_| WRITTEN_CASES);
    let mut cases = Vec::new();
    for (index, clause) in (1..).zip(clauses) {
        let forms = Forms::of(clause, &judges.registry);
        let mut chance = Chance(index);
        let types = judges.registry.tool(clause.name).unwrap();
        let values = Values::of(clause, types.input_schema(), &mut chance);
        let mut counts = Counts::default();
        for _ in 0..number {
            let arguments = values.arguments(&mut chance);
            cases.extend(judge(&forms, &judges, arguments, &mut counts));
        }
        println!(
            "{:<20} {counts:?} {:?} {}",
            clause.name, forms.lowering, forms.rule
        );
        let refused = counts.judged - counts.accepted;
        assert!(
            counts.decided * 20 > counts.judged * 19,
            "{}: {counts:?}",
            forms.rule
        );
        let constant = matches!(forms.rule.as_str(), "true" | "false");
        assert!(
            constant || counts.accepted > 10 && refused > 10,
            "{}: {counts:?}",
            forms.rule
        );
    }
    cases
}

/// Predicates that overflow do so thousands of times.
fn quiet() {
    let loud = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let expected = panic.location().is_some_and(|at| {
            at.file().ends_with("rules/tools.rs") || at.file().contains("/core/src/num/")
        });
        if !expected {
            loud(panic);
        }
    }));
}

/// The case, unless the arguments are of other types than the parameters.
fn judge(
    forms: &Forms,
    judges: &Judges,
    arguments: Map<String, Value>,
    counts: &mut Counts,
) -> Option<Value> {
    let arguments = Value::Object(arguments);
    let text = arguments.to_string();
    let native = judges.native(forms.clause.name, &text)?;
    let (accepts, computed) = (native == Native::Accepts, native != Native::Panics);
    counts.judged += 1;
    counts.accepted += usize::from(accepts);
    let place = || {
        format!(
            "{native:?} {} of {text}\n{}",
            forms.clause.predicate, forms.rule
        )
    };
    let whole = computed && forms.is_whole(&arguments);
    if let Some(rule) = forms.rule(judges, &arguments) {
        counts.decided += 1;
        // Without overflow checks the native code would go on, with another number; other items of a list may still decide.
        let lists = forms.clause.predicate.contains("iter");
        assert!(
            rule || computed || lists,
            "an overflow decides: {}",
            place()
        );
        assert!(rule || !accepts, "the rule is stricter: {}", place());
        assert!(
            accepts || !rule || !whole,
            "the rule is weaker: {}",
            place()
        );
    }
    // A reader to whom every number is a `double` may have rounded some.
    let rounded = forms.rule(judges, &doubles(&arguments));
    assert!(
        rounded != Some(false) || !accepts,
        "the rule is stricter, rounded: {}",
        place()
    );
    let valid = forms.schema.is_valid(&forms.read(&arguments));
    assert!(valid || !accepts, "the schema is stricter: {}", place());
    let exact = forms.lowering == Lowering::Exact && computed;
    assert!(
        accepts || !valid || !exact,
        "the schema is weaker: {}",
        place()
    );
    Some(json!({
        "rule": forms.rule,
        "arguments": text,
        "accepts": accepts,
        "whole": whole,
    }))
}
