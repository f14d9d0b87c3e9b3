//! A portable rule as a stranger sends it: read, held to the profile, and with its price.
//!
//! Three things are looked at before a rule is evaluated, because neither a stack that overflows nor an evaluation that
//! takes an hour is an error that could be caught: how deep it is, what it calls, and how much it may cost.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, LiteralValue};
use cel::parser::PrattParser;

use super::cost::Cost;
use crate::contract::panics;
use crate::schema::portable::pattern;

/// The longest rule, in bytes, which is the longest that [`PortableRule`](crate::PortableRule) has.
const LONGEST: usize = 4_096;

/// How deep brackets may be nested; each takes about 10 KiB of the stack while it is read, without optimisations.
const BRACKETS: u16 = 24;

/// How many `?` a rule may have: the parser does not count how deep they lead.
const CHOICES: usize = 128;

/// How deep an expression may be that is evaluated; each level takes about 60 KiB of the stack, without optimisations.
const LEVELS: usize = 16;

/// The largest compiled regular expression, in bytes.
const PATTERN: usize = 128 << 10;

/// What a rule is worth here.
#[derive(Debug)]
pub(super) enum Read {
    /// It can be judged, at this price.
    Priced(IdedExpr, Cost),
    /// It is a rule, and too deep or too dear to be judged here.
    LeftOut,
}

/// Reads a rule; `None` where it is none of the profile.
pub(super) fn read(rule: &str) -> Option<Read> {
    if rule.len() > LONGEST || rule.matches('?').count() > CHOICES {
        return None;
    }
    // A parser that panics on strange input has read nothing.
    let parsed = panics::guard(|| PrattParser::new().max_recursion_depth(BRACKETS).parse(rule));
    let expression = parsed.ok()?.ok()?;
    let mut reader = Reader { names: Vec::new() };
    match reader.expression(&expression, LEVELS) {
        Ok(cost) => Some(Read::Priced(expression, cost)),
        Err(Unfit::Large) => Some(Read::LeftOut),
        Err(Unfit::Foreign) => None,
    }
}

enum Unfit {
    /// It uses what the profile does not have.
    Foreign,
    Large,
}

/// What each call looks at: no more than its operands, or all of the arguments.
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
        // They may be given texts and lists.
        "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" | "_+_" | "@in" | "_[_]" | "size"
        | "bytes" | "startsWith" | "endsWith" | "contains" | "matches" => true,
        _ => return None,
    })
}

struct Reader<'e> {
    /// What comprehensions around this place have bound.
    names: Vec<&'e str>,
}

impl<'e> Reader<'e> {
    fn expression(&mut self, of: &'e IdedExpr, levels: usize) -> Result<Cost, Unfit> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(Unfit::Large);
        };
        match &of.expr {
            Expr::Literal(_) => Ok(Cost::ONE),
            Expr::Ident(name) => {
                let known = matches!(&**name, "args" | "null_type");
                (known || self.names.contains(&&**name))
                    .then_some(Cost::ONE)
                    .ok_or(Unfit::Foreign)
            }
            Expr::Select(select) => Ok(self.expression(&select.operand, levels)? + Cost::ONE),
            Expr::List(list) => self.all(&list.elements, levels),
            Expr::Call(call) => self.call(call, levels),
            Expr::Comprehension(each) => self.comprehension(each, levels),
            Expr::Map(_) | Expr::Struct(_) | Expr::Unspecified => Err(Unfit::Foreign),
        }
    }

    fn all(&mut self, of: &'e [IdedExpr], levels: usize) -> Result<Cost, Unfit> {
        of.iter().try_fold(
            Cost::ONE,
            |sum, one| Ok(sum + self.expression(one, levels)?),
        )
    }

    fn call(&mut self, call: &'e CallExpr, levels: usize) -> Result<Cost, Unfit> {
        let everything = touches_everything(&call.func_name).ok_or(Unfit::Foreign)?;
        let target = call
            .target
            .as_deref()
            .map_or(Ok(Cost::ONE), |target| self.expression(target, levels))?;
        let operands = target + self.all(&call.args, levels)?;
        match &*call.func_name {
            "matches" => {
                let [pattern] = call.args.as_slice() else {
                    return Err(Unfit::Foreign);
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
    fn comprehension(&mut self, each: &'e ComprehensionExpr, levels: usize) -> Result<Cost, Unfit> {
        if !matches!(
            &each.accu_init.expr,
            Expr::Literal(LiteralValue::Boolean(_))
        ) {
            return Err(Unfit::Foreign);
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
fn matching(pattern: &IdedExpr) -> Result<Cost, Unfit> {
    let Expr::Literal(LiteralValue::String(text)) = &pattern.expr else {
        return Err(Unfit::Foreign);
    };
    pattern::portable(text.inner()).ok_or(Unfit::Foreign)?;
    let compiled = regex_lite::RegexBuilder::new(text.inner())
        .size_limit(PATTERN)
        .build();
    // An engine without backtracking holds at most every one of its states against every letter; most have few.
    compiled
        .map(|_| Cost::times(1_000) + Cost::times(64) * Cost::EVERYTHING)
        .map_err(|_| Unfit::Large)
}
