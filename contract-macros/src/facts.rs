//! Collects what an expression of the author's names and does.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprPath, LitStr, Pat, Stmt, Token};

use crate::format_string;
use crate::model::{AskedTool, HistoryUse};
use crate::source::{self, Matches};

/// What an expression names and does. Macros are read if their arguments are expressions or statements.
#[derive(Default)]
pub(crate) struct Facts {
    /// The names that it uses and does not bind itself, those in format strings included.
    pub(crate) names: BTreeSet<String>,
    /// The names that can only be variables, misspelt ones included: functions are called, constants are in capitals.
    pub(crate) variables: Vec<Ident>,
    pub(crate) olds: Vec<Span>,
    pub(crate) awaits: Vec<Span>,
    /// Each `?` that does not belong to a closure of its own.
    pub(crate) questions: Vec<Span>,
    /// Where a statement assigns to what it did not bind itself, as in `{ number = 2; true }`.
    pub(crate) changes: Vec<Span>,
    /// Whether a `return` ends the evaluation, as in `let Some(first) = list.first() else { return false };`.
    pub(crate) returns: bool,
    /// The regular expressions that are written as literals.
    pub(crate) patterns: Vec<LitStr>,
    /// What it asks the history of a run.
    pub(crate) history: Option<HistoryUse>,
    /// Whether a part has an attribute.
    pub(crate) has_attribute: bool,
    /// Whether it calls a function or a method, or a macro that cannot be read.
    calls: bool,
    bound: Vec<String>,
    closures: usize,
    macros: usize,
}

impl Facts {
    pub(crate) fn of(expr: &Expr) -> Self {
        let mut facts = Self::default();
        facts.visit_expr(expr);
        facts
    }

    /// Returns nothing for tokens that are not an expression.
    pub(crate) fn of_tokens(tokens: &TokenStream) -> Self {
        syn::parse2(tokens.clone()).map_or_else(|_| Self::default(), |expr| Self::of(&expr))
    }

    /// Whether its value is the same for every call: no variable is named, and nothing is called that could ask for state.
    pub(crate) fn is_constant(&self) -> bool {
        self.variables.is_empty() && !self.calls && !self.returns
    }

    fn is_bound(&self, name: &str) -> bool {
        self.bound.iter().any(|own| own == name)
    }

    fn name(&mut self, name: String) {
        if !self.is_bound(&name) {
            self.names.insert(name);
        }
    }

    /// Visits a part whose bindings end with it.
    fn scope(&mut self, visit: impl FnOnce(&mut Self)) {
        let outside = self.bound.len();
        visit(self);
        self.bound.truncate(outside);
    }

    fn statement(&mut self, expr: &Expr) {
        let (left, sign) = match expr {
            Expr::Assign(assign) => (&assign.left, assign.eq_token.span),
            Expr::Binary(binary) if assigns(&binary.op) => (&binary.left, binary.op.span()),
            _ => return,
        };
        if let Expr::Path(path) = &**left
            && let Some(word) = path.path.get_ident()
            && !self.is_bound(&word.unraw().to_string())
        {
            self.changes.push(sign);
        }
    }

    /// Every word of a macro whose arguments are neither expressions nor statements.
    fn unread(&mut self, tokens: &TokenStream) {
        for tree in tokens.clone() {
            match tree {
                TokenTree::Ident(word) => {
                    self.calls = true;
                    self.name(word.unraw().to_string());
                }
                TokenTree::Group(group) => self.unread(&group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// The names that a pattern binds. A constant in it may be among them, which does no harm.
pub(crate) fn bindings(pattern: &Pat) -> Vec<String> {
    let mut facts = Facts::default();
    facts.visit_pat(pattern);
    facts.bound
}

/// Whether an operator assigns, as `+=` does.
pub(crate) fn assigns(op: &BinOp) -> bool {
    let sign = op.to_token_stream().to_string();
    sign.ends_with('=') && !["==", "!=", "<=", ">="].contains(&sign.as_str())
}

fn text(expr: &Expr) -> Option<&LitStr> {
    match source::ungrouped(expr) {
        Expr::Paren(paren) => text(&paren.expr),
        other => source::literal_text(other),
    }
}

/// The tool in `history().with("order_id", &order_id).seen(find_order)` or `history().seen_named("find_order")`.
fn asked(call: &syn::ExprMethodCall) -> Option<AskedTool> {
    let first = call.args.first();
    let method = call.method.to_string();
    let (path, name) = match (method.as_str(), first?) {
        ("seen" | "ok" | "count", Expr::Path(path)) => {
            let path = path.to_token_stream();
            (Some(path.clone()), source::text(&path))
        }
        ("seen_named" | "ok_named" | "count_named", name) => (None, text(name)?.value()),
        _ => return None,
    };
    let (mut arguments, mut receiver) = (Vec::new(), &*call.receiver);
    while let Expr::MethodCall(before) = receiver {
        arguments.extend(before.args.first().and_then(text).cloned());
        receiver = &before.receiver;
    }
    arguments.reverse();
    is_history(receiver).then_some(AskedTool {
        path,
        name,
        arguments,
    })
}

fn is_history(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if call.args.is_empty()
        && matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "history")))
}

impl Visit<'_> for Facts {
    fn visit_attribute(&mut self, _: &syn::Attribute) {
        self.has_attribute = true;
    }

    fn visit_item(&mut self, _: &syn::Item) {}

    fn visit_lit_str(&mut self, text: &LitStr) {
        // `format!("{root}/")` names `root` inside its text.
        if self.macros > 0 {
            let names = format_string::placeholders(&text.value()).unwrap_or_default();
            for name in names {
                self.name(name);
            }
        }
    }

    fn visit_expr_path(&mut self, path: &ExprPath) {
        let Some(word) = path.path.get_ident() else {
            return;
        };
        let name = word.unraw().to_string();
        let is_small = name.starts_with(char::is_lowercase);
        if is_small && !self.is_bound(&name) && !self.variables.contains(word) {
            self.variables.push(word.clone());
        }
        self.name(name);
    }

    fn visit_expr_call(&mut self, call: &syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            let name = last.ident.unraw().to_string();
            self.calls |= !name.starts_with(char::is_uppercase);
            let is_short = path.path.segments.len() == 1;
            match name.as_str() {
                "old" if is_short => self.olds.push(last.ident.span()),
                "history" if is_history(&Expr::Call(call.clone())) => {
                    self.history.get_or_insert_with(|| HistoryUse {
                        span: last.ident.span(),
                        tools: Vec::new(),
                    });
                }
                "matches_pattern" => self
                    .patterns
                    .extend(call.args.iter().nth(1).and_then(text).cloned()),
                _ => {}
            }
            if is_short {
                self.name(name);
            }
        } else {
            self.calls = true;
            self.visit_expr(&call.func);
        }
        call.args.iter().for_each(|arg| self.visit_expr(arg));
    }

    fn visit_expr(&mut self, expr: &Expr) {
        visit::visit_expr(self, expr);
        match expr {
            Expr::MethodCall(call) => {
                self.calls = true;
                if let (Some(used), Some(tool)) = (&mut self.history, asked(call)) {
                    used.tools.push(tool);
                }
            }
            Expr::Await(wait) => self.awaits.push(wait.await_token.span),
            Expr::Try(fallible) if self.closures == 0 => {
                self.questions.push(fallible.question_token.span);
            }
            Expr::Return(_) => self.returns |= self.closures == 0,
            _ => {}
        }
    }

    fn visit_macro(&mut self, called: &syn::Macro) {
        let named = |names: &[&str]| {
            let last = called.path.segments.last();
            last.is_some_and(|last| names.iter().any(|name| last.ident == name))
        };
        // Their arguments are text for the compiler, and not code of the function.
        if named(&["cfg", "env", "option_env", "concat"]) {
            return;
        }
        self.macros += 1;
        let tokens = called.tokens.clone();
        if let Some(matches) = Matches::parse(called) {
            self.scope(|facts| {
                facts.visit_expr(&matches.subject);
                facts.visit_pat(&matches.pattern);
                matches
                    .guard
                    .iter()
                    .for_each(|guard| facts.visit_expr(guard));
            });
        } else if let Ok(args) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens) {
            for arg in &args {
                match arg {
                    // `total = a + b` behind a format string.
                    Expr::Assign(named) => self.visit_expr(&named.right),
                    arg => self.visit_expr(arg),
                }
            }
        } else if let Ok(statements) = syn::Block::parse_within.parse2(called.tokens.clone()) {
            self.scope(|facts| statements.iter().for_each(|one| facts.visit_stmt(one)));
        } else {
            self.unread(&called.tokens);
        }
        self.macros -= 1;
    }

    fn visit_stmt(&mut self, statement: &Stmt) {
        if let Stmt::Expr(expr, _) = statement {
            self.statement(expr);
        }
        visit::visit_stmt(self, statement);
    }

    // What follows is about the scope of names.

    fn visit_pat_ident(&mut self, name: &syn::PatIdent) {
        self.bound.push(name.ident.unraw().to_string());
        visit::visit_pat_ident(self, name);
    }

    fn visit_local(&mut self, local: &syn::Local) {
        if let Some(init) = &local.init {
            visit::visit_local_init(self, init);
        }
        self.visit_pat(&local.pat);
    }

    fn visit_expr_let(&mut self, tested: &syn::ExprLet) {
        self.visit_expr(&tested.expr);
        self.visit_pat(&tested.pat);
    }

    fn visit_expr_if(&mut self, choice: &syn::ExprIf) {
        self.scope(|facts| {
            facts.visit_expr(&choice.cond);
            facts.visit_block(&choice.then_branch);
        });
        choice
            .else_branch
            .iter()
            .for_each(|(_, other)| self.visit_expr(other));
    }

    fn visit_expr_for_loop(&mut self, each: &syn::ExprForLoop) {
        self.visit_expr(&each.expr);
        self.scope(|facts| {
            facts.visit_pat(&each.pat);
            facts.visit_block(&each.body);
        });
    }

    fn visit_expr_while(&mut self, repeated: &syn::ExprWhile) {
        self.scope(|facts| visit::visit_expr_while(facts, repeated));
    }

    fn visit_block(&mut self, block: &syn::Block) {
        self.scope(|facts| visit::visit_block(facts, block));
    }

    fn visit_arm(&mut self, arm: &syn::Arm) {
        self.scope(|facts| visit::visit_arm(facts, arm));
    }

    fn visit_expr_closure(&mut self, closure: &syn::ExprClosure) {
        self.closures += 1;
        self.scope(|facts| visit::visit_expr_closure(facts, closure));
        self.closures -= 1;
    }
}
