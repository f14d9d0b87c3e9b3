//! Compile-time findings of a tool: its preconditions, and whether its defaults and examples satisfy them.

use super::spec::{Constant, Parameter, Spec};
use crate::contract::findings::build::Judged;
use crate::contract::findings::{AbstractState, Value, broken, same};

/// Judges the preconditions of a tool.
#[must_use]
pub const fn judge_tool(spec: &'static Spec) -> Judged {
    Judged::new(spec.contract.conditions, &facts(spec))
}

/// Ends the build where a default is written that breaks a precondition.
#[track_caller]
pub const fn report_default(spec: &'static Spec, name: &str) {
    if let Some(parameter) = find(spec, name)
        && let Some(constant) = &parameter.default
    {
        report(spec, "default", name, constant);
    }
}

/// Reports an example that breaks the contract.
#[track_caller]
pub const fn report_example(spec: &'static Spec, name: &str, index: usize) {
    if let Some(parameter) = find(spec, name)
        && let Some((_, rest)) = parameter.examples.split_at_checked(index)
        && let Some((constant, _)) = rest.split_first()
    {
        report(spec, "example", name, constant);
    }
}

#[track_caller]
const fn report(spec: &'static Spec, what: &str, name: &str, constant: &Constant) {
    let Constant::Text(text) = constant else {
        return;
    };
    let conditions = spec.contract.conditions;
    let stated = (conditions, spec.contract.policy);
    if let Some(message) = broken(&facts(spec), stated, what, name, Value::of_json(text)) {
        panic!("{}", message.text());
    }
}

pub(crate) const fn facts(spec: &'static Spec) -> AbstractState<'static> {
    let mut facts = AbstractState::new(&[]);
    let mut rest = spec.parameters;
    while let Some((parameter, others)) = rest.split_first() {
        facts.typed(parameter.name, parameter.kind);
        rest = others;
    }
    facts
}

const fn find(spec: &'static Spec, name: &str) -> Option<&'static Parameter> {
    let mut rest = spec.parameters;
    while let Some((parameter, others)) = rest.split_first() {
        if same(parameter.name, name) {
            return Some(parameter);
        }
        rest = others;
    }
    None
}
