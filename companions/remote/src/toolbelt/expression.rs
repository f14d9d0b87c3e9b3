//! Parses an untrusted portable rule, restricts it to the profile and estimates its cost.
//!
//! Three things are looked at before a rule is evaluated, because neither a stack that overflows nor an evaluation that
//! takes an hour is an error that could be caught: how deep it is, what it calls, and how much it may cost.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, LiteralValue};
use cel::parser::PrattParser;
use contract_runtime::__family::guard;
use contract_runtime::__family::portable_pattern;

use super::cost::Cost;

/// The longest rule, in bytes, which is the longest that [`PortableRule`](contract_manifest::PortableRule) has.
const MAX_LENGTH: usize = 4_096;

/// How deep brackets may be nested; each takes about 10 KiB of the stack while it is read, without optimisations.
const MAX_RECURSION: u16 = 24;

/// How many `?` a rule may have: the parser does not count how deep they lead.
const MAX_CONDITIONALS: usize = 128;

/// How deep an expression may be that is evaluated; each level takes about 60 KiB of the stack, without optimisations.
const MAX_DEPTH: usize = 16;

/// The largest compiled regular expression, in bytes.
const MAX_PATTERN_BYTES: usize = 128 << 10;

/// A rule of the portable profile.
#[derive(Debug)]
pub(super) enum ParsedRule {
    /// It can be evaluated, at this cost.
    Evaluable(IdedExpr, Cost),
    /// It is too deep or too expensive to evaluate here.
    TooExpensive,
}

/// Parses a rule; `None` if it is outside the portable profile.
pub(super) fn parse_rule(rule: &str) -> Option<ParsedRule> {
    if rule.len() > MAX_LENGTH || rule.matches('?').count() > MAX_CONDITIONALS {
        return None;
    }
    // The parser may panic on malformed input.
    let parsed = guard(|| {
        PrattParser::new()
            .max_recursion_depth(MAX_RECURSION)
            .parse(rule)
    });
    let expression = parsed.ok()?.ok()?;
    let mut estimator = CostEstimator { names: Vec::new() };
    match estimator.expression(&expression, MAX_DEPTH) {
        Ok(cost) => Some(ParsedRule::Evaluable(expression, cost)),
        Err(Unsupported::TooLarge) => Some(ParsedRule::TooExpensive),
        Err(Unsupported::OutsideProfile) => None,
    }
}

enum Unsupported {
    /// It uses something outside the profile.
    OutsideProfile,
    TooLarge,
}

/// Whether a function may read all of the arguments, rather than only its operands; `None` outside the profile.
fn touches_everything(function: &str) -> Option<bool> {
    Some(match function {
        "_?_:_"
        | "_&&_"
        | "_||_"
        | "!_"
        | "@not_strictly_false"
        | "_-_"
        | "_*_"
        | "_%_"
        | "-_"
        | "int"
        | "double"
        | "type" => false,
        // Their operands may be strings and lists.
        "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" | "_+_" | "@in" | "_[_]" | "size"
        | "bytes" | "startsWith" | "endsWith" | "contains" | "matches" => true,
        _ => return None,
    })
}

struct CostEstimator<'e> {
    /// The variables that the enclosing comprehensions bind.
    names: Vec<&'e str>,
}

impl<'e> CostEstimator<'e> {
    fn expression(&mut self, of: &'e IdedExpr, levels: usize) -> Result<Cost, Unsupported> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(Unsupported::TooLarge);
        };
        match &of.expr {
            Expr::Literal(_) => Ok(Cost::ONE),
            Expr::Ident(name) => {
                let known = matches!(&**name, "args" | "null_type");
                (known || self.names.contains(&&**name))
                    .then_some(Cost::ONE)
                    .ok_or(Unsupported::OutsideProfile)
            }
            Expr::Select(select) => Ok(self.expression(&select.operand, levels)? + Cost::ONE),
            Expr::List(list) => self.all(&list.elements, levels),
            Expr::Call(call) => self.call(call, levels),
            Expr::Comprehension(each) => self.comprehension(each, levels),
            Expr::Map(_) | Expr::Struct(_) | Expr::Unspecified => Err(Unsupported::OutsideProfile),
        }
    }

    fn all(&mut self, of: &'e [IdedExpr], levels: usize) -> Result<Cost, Unsupported> {
        of.iter().try_fold(
            Cost::ONE,
            |sum, one| Ok(sum + self.expression(one, levels)?),
        )
    }

    fn call(&mut self, call: &'e CallExpr, levels: usize) -> Result<Cost, Unsupported> {
        let everything = touches_everything(&call.func_name).ok_or(Unsupported::OutsideProfile)?;
        let target = call
            .target
            .as_deref()
            .map_or(Ok(Cost::ONE), |target| self.expression(target, levels))?;
        let operands = target + self.all(&call.args, levels)?;
        match &*call.func_name {
            "matches" => {
                let [pattern] = call.args.as_slice() else {
                    return Err(Unsupported::OutsideProfile);
                };
                Ok(operands + matching(pattern)?)
            }
            // A text that is put together is as long as all of its parts.
            "_+_" => Ok(operands * Cost::EVERYTHING),
            _ if everything => Ok(operands + Cost::EVERYTHING),
            _ => Ok(operands),
        }
    }

    /// `all` and `exists`, which remember no more than an answer.
    fn comprehension(
        &mut self,
        each: &'e ComprehensionExpr,
        levels: usize,
    ) -> Result<Cost, Unsupported> {
        if !matches!(
            &each.accu_init.expr,
            Expr::Literal(LiteralValue::Boolean(_))
        ) {
            return Err(Unsupported::OutsideProfile);
        }
        let range = self.expression(&each.iter_range, levels)?;
        let turns = match &each.iter_range.expr {
            Expr::List(list) => Cost::times(list.elements.len()),
            _ => Cost::EVERYTHING,
        };
        let before = self.names.len();
        self.names.extend([&*each.iter_var, &*each.accu_var]);
        self.names.extend(each.iter_var2.as_deref());
        let parts = [&each.loop_cond, &each.loop_step, &each.result];
        let turn = parts.into_iter().try_fold(Cost::ONE, |sum, part| {
            Ok(sum + self.expression(part, levels)?)
        });
        self.names.truncate(before);
        Ok(range + turns * turn?)
    }
}

/// A pattern is written out, and small: one from the arguments could be anything, and is compiled at each evaluation.
fn matching(pattern: &IdedExpr) -> Result<Cost, Unsupported> {
    let Expr::Literal(LiteralValue::String(text)) = &pattern.expr else {
        return Err(Unsupported::OutsideProfile);
    };
    portable_pattern(text.inner()).ok_or(Unsupported::OutsideProfile)?;
    let compiled = regex_lite::RegexBuilder::new(text.inner())
        .size_limit(MAX_PATTERN_BYTES)
        .build();
    // An engine without backtracking holds at most every one of its states against every letter; most have few.
    compiled
        .map(|_| Cost::times(1_000) + Cost::times(64) * Cost::EVERYTHING)
        .map_err(|_| Unsupported::TooLarge)
}
