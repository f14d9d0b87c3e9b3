//! Descriptions, from `///` lines or from `description = ..`.

use syn::{Attribute, Expr, LitStr, Meta};

use crate::errors::Errors;
use crate::model::Description;
use crate::source;

/// The text of the documentation, empty if there is none.
pub(crate) fn from_docs(attrs: &[Attribute]) -> Description {
    let parts: Vec<&Expr> = attrs.iter().filter_map(doc).collect();
    let texts: Option<Vec<String>> = parts.iter().map(|part| literal(part)).collect();
    if let Some(texts) = texts {
        let lines: Vec<&str> = texts.iter().flat_map(|text| lines(text)).collect();
        return Description::Text(lines.join("\n").trim().to_owned());
    }
    let mut exprs = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let line_break = if index == 0 { "" } else { "\n" };
        if let Some(text) = literal(part) {
            let text = format!("{line_break}{}", lines(&text).join("\n"));
            exprs.push(syn::parse_quote!(#text));
            continue;
        }
        if !line_break.is_empty() {
            exprs.push(syn::parse_quote!(#line_break));
        }
        exprs.push(part.clone());
    }
    Description::Parts(exprs)
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
    match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}

/// The lines of one attribute without the leading space of `/// text`, or the stars of a `/** .. */` block.
fn lines(text: &str) -> Vec<&str> {
    let starred = text
        .lines()
        .skip(1)
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with('*'))
        && text.lines().count() > 1;
    let lines = text.split('\n').enumerate();
    lines
        .map(|(index, line)| {
            let line = match line.trim_start().strip_prefix('*') {
                Some(line) if starred && index > 0 => line,
                _ => line,
            };
            line.strip_prefix(' ').unwrap_or(line).trim_end()
        })
        .collect()
}
