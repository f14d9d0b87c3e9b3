//! Compile-time findings of a tool: its preconditions, and whether its defaults and examples satisfy them.

use super::spec::{Constant, Parameter, Spec};
use crate::contract::findings::judge::{Judged, broken};
use crate::contract::findings::{Value, same};

/// Judges the preconditions of a tool.
#[must_use]
pub const fn judge_tool(spec: &'static Spec) -> Judged {
    let mut judged = Judged::new(spec.contract.conditions);
    let mut rest = spec.parameters;
    while let Some((parameter, others)) = rest.split_first() {
        judged.over(parameter.name, parameter.kind);
        rest = others;
    }
    judged
}

/// Ends the build where a default is written that breaks a precondition.
#[track_caller]
pub const fn report_default(spec: &'static Spec, name: &str) {
    if let Some(parameter) = find(spec, name)
        && let Some(constant) = &parameter.default
    {
        report(spec, "default", parameter, constant);
    }
}

/// Reports an example that breaks the contract.
#[track_caller]
pub const fn report_example(spec: &'static Spec, name: &str, index: usize) {
    if let Some(parameter) = find(spec, name)
        && let Some((_, rest)) = parameter.examples.split_at_checked(index)
        && let Some((constant, _)) = rest.split_first()
    {
        report(spec, "example", parameter, constant);
    }
}

#[track_caller]
const fn report(spec: &'static Spec, what: &str, of: &Parameter, constant: &Constant) {
    let Constant::Text(text) = constant else {
        return;
    };
    let stated = (spec.contract.conditions, spec.contract.policy);
    let value = Value::of_json(text);
    if let Some(message) = broken(stated, what, (of.name, of.kind), value) {
        panic!("{}", message.text());
    }
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
