//! Descriptions, from `///` lines or from `description = ..`.

use syn::{Attribute, Expr, LitStr};

use crate::errors::Errors;
use crate::model::Description;
use crate::source;

/// The text of the documentation, empty if there is none.
pub(crate) fn from_docs(attrs: &[Attribute]) -> Description {
    let mut exprs: Vec<Expr> = Vec::new();
    let mut text = Some(String::new());
    for part in attrs.iter().filter_map(doc) {
        let line_break = if exprs.is_empty() { "" } else { "\n" };
        if let Some(written) = literal(part) {
            let line = format!("{line_break}{}", lines(&written).join("\n"));
            exprs.push(syn::parse_quote!(#line));
            text = text.map(|text| text + &line);
            continue;
        }
        if !line_break.is_empty() {
            exprs.push(syn::parse_quote!(#line_break));
        }
        exprs.push(part.clone());
        text = None;
    }
    match text {
        Some(text) => Description::Text(text.trim().to_owned()),
        None => Description::Parts(exprs),
    }
}

/// The text of `description = ..`.
pub(crate) fn from_expr(errors: &mut Errors, expr: &Expr) -> Description {
    match literal(expr) {
        Some(text) if !text.trim().is_empty() => Description::Text(text.trim().to_owned()),
        Some(_) => {
            let message = "an empty description says nothing; write one, or remove `description` and write a `///` comment";
            errors.on(expr, message);
            Description::Parts(Vec::new())
        }
        None => Description::Parts(vec![expr.clone()]),
    }
}

/// The text of a string literal, also when `macro_rules!` handed it on.
pub(crate) fn literal(expr: &Expr) -> Option<String> {
    source::literal_text(expr).map(LitStr::value)
}

fn doc(attr: &Attribute) -> Option<&Expr> {
    let pair = attr.meta.require_name_value().ok()?;
    pair.path.is_ident("doc").then_some(&pair.value)
}

/// The lines of one attribute without the leading space of `/// text`, or the stars of a `/** .. */` block.
fn lines(text: &str) -> Vec<&str> {
    let mut rest = text.lines().skip(1).map(str::trim_start).peekable();
    let starred =
        rest.peek().is_some() && rest.all(|line| line.is_empty() || line.starts_with('*'));
    let lines = text.split('\n').enumerate().map(|(index, line)| {
        let star = line.trim_start().strip_prefix('*');
        let line = star.filter(|_| starred && index > 0).unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).trim_end()
    });
    lines.collect()
}
