//! Tests that only Rust can evaluate; for a parameter with few values they are tabulated.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ExprCall};

use super::kind::may_be_finite;
use super::operand::is_function;
use super::{Reader, pattern};
use crate::args;
use crate::model::{Portable, Role};
use crate::predicate::Mentions;
use crate::source;

impl Reader<'_> {
    pub(super) fn native(&self, expr: &Expr) -> Option<Portable> {
        let tokens = expr.to_token_stream();
        let parameter = self.only_parameter(&tokens)?;
        let finite = self
            .params
            .get(parameter)
            .is_some_and(|param| may_be_finite(&param.ty));
        (finite && self.is_settled(expr)).then(|| Portable::Native {
            text: source::text(&tokens),
            parameter,
            tokens,
        })
    }

    /// The one parameter that the tokens name, if they name nothing else of the call.
    fn only_parameter(&self, tokens: &TokenStream) -> Option<usize> {
        let mentions = self.mentions(tokens);
        let mut named = mentions.params.iter().copied();
        let index = named.next()?;
        let param = self.params.get(index)?;
        let alone = named.next().is_none() && !mentions.names_self && self.variables.is_empty();
        let asked = matches!(param.role, Role::Argument { .. }) && param.pattern.is_none();
        (alone && asked).then_some(index)
    }

    fn mentions(&self, tokens: &TokenStream) -> Mentions {
        let mut mentions = Mentions::default();
        let shadowed: Vec<String> = self.variables.iter().map(|one| one.name.clone()).collect();
        mentions.add(tokens, self.params, &shadowed);
        mentions
    }

    /// Whether the answer depends on the parameter alone: a call that is not given it, such as `now()`, may answer
    /// differently when the tool is called. A field or an index is not a value that can be listed.
    fn is_settled(&self, expr: &Expr) -> bool {
        let asks = |expr: &Expr| !self.mentions(&expr.to_token_stream()).params.is_empty();
        match args::ungrouped(expr) {
            Expr::Lit(_) | Expr::Path(_) | Expr::Const(_) => true,
            Expr::Paren(inner) => self.is_settled(&inner.expr),
            Expr::Reference(inner) => self.is_settled(&inner.expr),
            Expr::Unary(inner) => self.is_settled(&inner.expr),
            Expr::Cast(inner) => self.is_settled(&inner.expr),
            Expr::Closure(inner) => self.is_settled(&inner.body),
            Expr::Binary(both) => self.is_settled(&both.left) && self.is_settled(&both.right),
            Expr::Array(list) => list.elems.iter().all(|one| self.is_settled(one)),
            Expr::Tuple(list) => list.elems.iter().all(|one| self.is_settled(one)),
            Expr::Range(range) => {
                let mut ends = range.start.iter().chain(&range.end);
                ends.all(|end| self.is_settled(end))
            }
            Expr::MethodCall(call) => {
                asks(expr)
                    && self.is_settled(&call.receiver)
                    && call.args.iter().all(|one| self.is_settled(one))
            }
            Expr::Call(ExprCall { func, args, .. }) => {
                let made = matches!(&**func, Expr::Path(path) if !is_function(&path.path));
                (made || asks(expr)) && args.iter().all(|one| self.is_settled(one))
            }
            Expr::Macro(called) => pattern::Matches::parse(&called.mac).is_some_and(|matches| {
                let guard = matches.guard.as_ref();
                self.is_settled(&matches.subject)
                    && guard.is_none_or(|guard| self.is_settled(guard))
            }),
            _ => false,
        }
    }
}
