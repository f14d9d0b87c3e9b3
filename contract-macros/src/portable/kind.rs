//! The types of operands as they are spelled, conversions that lose nothing, and tests that only Rust can evaluate.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, Type, TypePath};

use super::method::is_view;
use super::{Name, Reader, is_function, operator, plain};
use crate::facts::Facts;
use crate::model::{Converted, KindSource, Operator, Portable};
use crate::predicate::Mentions;
use crate::source::{self, Matches};
use crate::spelling::{element, is_counted, may_be_finite, primitive};

impl Reader<'_> {
    /// The primitive type that an expression is spelled to have.
    pub(super) fn spelled(&self, expr: &Expr) -> Option<&'static str> {
        match plain(expr) {
            Expr::MethodCall(call)
                if call.args.is_empty()
                    && (call.method == "count"
                        || call.method == "len"
                            && self.type_of(&call.receiver).is_some_and(is_counted)) =>
            {
                Some("usize")
            }
            Expr::Binary(binary)
                if matches!(operator(&binary.op), Some(Operator::Arithmetic(_))) =>
            {
                // Both operands must be known, because a product may have another type than a factor.
                let (left, right) = (&binary.left, &binary.right);
                let is_literal = |side: &Expr| matches!(plain(side), Expr::Lit(_));
                match (self.spelled(left), self.spelled(right)) {
                    (Some(kind), Some(_)) => Some(kind),
                    (known, None) => known.filter(|_| is_literal(right)),
                    (None, known) => known.filter(|_| is_literal(left)),
                }
            }
            Expr::Unary(unary) => self.spelled(&unary.expr),
            other => self.type_of(other).and_then(primitive),
        }
    }

    /// Where the compiler finds the type of an expression.
    pub(super) fn kind_source(&self, expr: &Expr) -> Option<KindSource> {
        if let Some(name) = self.viewed(expr) {
            return match name {
                Name::Variable(variable) => variable.kind.clone(),
                Name::Parameter(index) => Some(KindSource::Parameter(index)),
            };
        }
        match plain(expr) {
            Expr::MethodCall(call) if is_view(call) => self.kind_source(&call.receiver),
            Expr::MethodCall(call) if call.args.is_empty() => {
                let counted = match (call.method.to_string().as_str(), plain(&call.receiver)) {
                    ("len", counted) => counted,
                    ("count", Expr::MethodCall(items)) => &items.receiver,
                    _ => return None,
                };
                Some(KindSource::Count(Box::new(self.kind_source(counted)?)))
            }
            Expr::Cast(cast) if is_named(&cast.ty) => Some(KindSource::Type(cast.ty.clone())),
            _ => None,
        }
    }

    /// The variable or the parameter that an expression is, or is a view of.
    fn viewed(&self, expr: &Expr) -> Option<Name<'_>> {
        match plain(expr) {
            Expr::MethodCall(call) if is_view(call) => self.viewed(&call.receiver),
            other => self.resolve(other),
        }
    }

    /// The written type of a parameter, or of the variable of a closure.
    fn type_of(&self, expr: &Expr) -> Option<&Type> {
        match self.viewed(expr)? {
            Name::Variable(variable) => variable.ty.as_ref(),
            Name::Parameter(index) => self.params.get(index).map(|param| &param.ty),
        }
    }

    /// The written type of the items of an expression.
    pub(super) fn element_of(&self, expr: &Expr) -> Option<Type> {
        self.type_of(expr).and_then(element).cloned()
    }

    /// `count as usize` and `list.len() as u64`, where the type that is written holds every value of the one that is converted.
    ///
    /// The compiler decides that; a spelling says at most that it is not so.
    pub(super) fn widened(&mut self, expr: &Expr, of: &Expr, ty: &Type) -> Option<Portable> {
        let is_lossy = match (self.spelled(of), primitive(ty)) {
            (Some(from), Some(to)) => to != from && !holds_all(to, from),
            _ => false,
        };
        let from = self.kind_source(of).filter(|_| !is_lossy && is_named(ty))?;
        let read = self.expression(of);
        let is_value = matches!(
            &read,
            Portable::Parameter(_)
                | Portable::Variable(_)
                | Portable::Node(Operator::Plain("Length" | "Characters"), _)
        );
        is_value.then(|| {
            Portable::Converted(Box::new(Converted {
                from,
                to: ty.clone(),
                of: read,
                text: source::text(&expr.to_token_stream()),
            }))
        })
    }

    /// `usize::from(count)`
    pub(super) fn widened_by_call(&mut self, expr: &Expr, call: &ExprCall) -> Option<Portable> {
        let Expr::Path(path) = &*call.func else {
            return None;
        };
        let segments: Vec<&Ident> = path.path.segments.iter().map(|one| &one.ident).collect();
        let (&[ty, function], 1) = (segments.as_slice(), call.args.len()) else {
            return None;
        };
        // What stands before `::` may be a module, or a type without its parameters.
        let ty: Type = syn::parse_quote!(#ty);
        primitive(&ty).filter(|_| function == "from")?;
        self.widened(expr, call.args.first()?, &ty)
    }

    /// A test that only Rust can evaluate, and its parameter. It is tabulated if the parameter has few values.
    pub(super) fn native(&self, expr: &Expr) -> Option<(usize, Portable)> {
        let parameter = self.only_parameter(expr)?;
        let param = self.params.get(parameter)?;
        let mut settled = Settled {
            reader: self,
            holds: may_be_finite(&param.ty),
        };
        settled.visit_expr(expr);
        settled.holds.then(|| {
            let tokens = expr.to_token_stream();
            let native = Portable::Native {
                text: source::text(&tokens),
                parameter,
                tokens,
            };
            (parameter, native)
        })
    }

    /// The parameter that an expression names, if it names exactly one and not `self`.
    fn only_parameter(&self, expr: &Expr) -> Option<usize> {
        let mentions = self.mentions(expr);
        let mut named = mentions.params.iter().copied();
        let index = named.next()?;
        let param = self.params.get(index)?;
        let alone = named.next().is_none() && !mentions.names_self && self.variables.is_empty();
        let asked = param.is_argument() && param.pattern.is_none();
        (alone && asked).then_some(index)
    }

    fn mentions(&self, expr: &Expr) -> Mentions {
        let shadowed: Vec<String> = self.variables.iter().map(|one| one.name.clone()).collect();
        let mut mentions = Mentions::default();
        mentions.add(&Facts::of(expr).names, self.params, &shadowed);
        mentions
    }
}

/// Whether the answer of a test depends on its parameter alone. A call that is not given it, such as `now()`, may answer
/// differently when the tool is called. A field or an index is not a value that can be listed.
struct Settled<'r> {
    reader: &'r Reader<'r>,
    holds: bool,
}

impl Visit<'_> for Settled<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        let asks = || !self.reader.mentions(expr).params.is_empty();
        match expr {
            Expr::Const(_) => return,
            Expr::Macro(called) => {
                let matches = Matches::parse(&called.mac);
                self.holds &= matches.is_some();
                if let Some(all) = &matches {
                    self.visit_expr(&all.subject);
                    all.guard.iter().for_each(|guard| self.visit_expr(guard));
                }
                return;
            }
            Expr::MethodCall(_) => self.holds &= asks(),
            Expr::Call(ExprCall { func, .. }) => {
                let made = matches!(&**func, Expr::Path(path) if !is_function(&path.path));
                self.holds &= made || asks();
            }
            Expr::Lit(_) | Expr::Path(_) | Expr::Array(_) | Expr::Tuple(_) | Expr::Range(_) => {}
            other => {
                let is_around = matches!(other, Expr::Group(_) | Expr::Paren(_) | Expr::Cast(_));
                let is_operator =
                    matches!(other, Expr::Reference(_) | Expr::Unary(_) | Expr::Binary(_));
                self.holds &= is_around || is_operator || matches!(other, Expr::Closure(_));
            }
        }
        visit::visit_expr(self, expr);
    }
}

/// Whether a type has a name that means the same in a separate item.
fn is_named(ty: &Type) -> bool {
    matches!(ty, Type::Path(TypePath { qself: None, path, .. })
        if path.segments.first().is_some_and(|first| first.ident != "Self"))
}

/// Whether one integer type holds every value of another, on machines of 32 bits and more.
fn holds_all(wide: &str, narrow: &str) -> bool {
    /// Whether it is signed, and its least and greatest number of bits.
    fn size(name: &str) -> Option<(bool, u32, u32)> {
        let signed = name.starts_with('i');
        match name.strip_prefix(['i', 'u'])? {
            "size" => Some((signed, 32, 64)),
            width => width.parse().ok().map(|bits| (signed, bits, bits)),
        }
    }
    let (Some(wide), Some(narrow)) = (size(wide), size(narrow)) else {
        return false;
    };
    match (wide, narrow) {
        ((true, least, _), (false, _, most)) => least > most,
        ((false, ..), (true, ..)) => false,
        ((_, least, _), (_, _, most)) => least >= most,
    }
}
