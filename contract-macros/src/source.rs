//! Reconstructs source text from tokens, as the author typed it.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprLit, Lit, LitStr, Macro, Pat, Token};

/// The parts of `matches!(subject, pattern if guard)`.
pub(crate) struct Matches {
    pub(crate) subject: Expr,
    pub(crate) pattern: Pat,
    pub(crate) guard: Option<Expr>,
}

impl Matches {
    pub(crate) fn parse(called: &Macro) -> Option<Self> {
        let parser = |input: ParseStream<'_>| {
            let subject = input.parse()?;
            input.parse::<Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let has_guard = input.parse::<Option<Token![if]>>()?.is_some();
            let guard = has_guard.then(|| input.parse()).transpose()?;
            input.parse::<Option<Token![,]>>()?;
            Ok(Self {
                subject,
                pattern,
                guard,
            })
        };
        let last = called.path.segments.last();
        last.filter(|last| last.ident == "matches")?;
        parser.parse2(called.tokens.clone()).ok()
    }
}

/// The expression itself, also when `macro_rules!` handed it on.
pub(crate) fn ungrouped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => ungrouped(&group.expr),
        _ => expr,
    }
}

/// The string literal that an expression is.
pub(crate) fn literal_text(expr: &Expr) -> Option<&LitStr> {
    match ungrouped(expr) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Parses one expression and returns it beside its original tokens.
pub(crate) fn expression(input: ParseStream<'_>) -> syn::Result<(Expr, TokenStream)> {
    let start = input.fork();
    let read = input.parse();
    let expr: Expr = read.map_err(|error| advised(error, &start))?;
    Ok((expr, since(&start, input)))
}

/// The tokens from `start` to where `input` is now.
pub(crate) fn since(start: ParseStream<'_>, input: ParseStream<'_>) -> TokenStream {
    let rest = |input: ParseStream<'_>| input.fork().parse::<TokenStream>().unwrap_or_default();
    let (all, left) = (rest(start), rest(input).into_iter().count());
    let length = all.clone().into_iter().count().saturating_sub(left);
    all.into_iter().take(length).collect()
}

/// Says what to write where the parser says only what is wrong, and where something is missing: behind the last token, and
/// not in the whole attribute.
fn advised(error: syn::Error, start: ParseStream<'_>) -> syn::Error {
    let chained = "comparison operators cannot be chained";
    let message = error.to_string();
    if message == chained {
        let advice = "compare twice and join both with `&&`";
        return syn::Error::new(error.span(), format!("{chained}; {advice}"));
    }
    let rest = start.fork().parse::<TokenStream>();
    match rest.into_iter().flatten().last() {
        Some(last) if message.starts_with("unexpected end of input") => {
            syn::Error::new(last.span(), "expected an expression after this")
        }
        _ => error,
    }
}

/// Drops the invisible groups `macro_rules!` puts around a whole fragment.
pub(crate) fn without_invisible_group(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => {
            without_invisible_group(group.stream())
        }
        _ => tokens,
    }
}

/// The tokens with parentheses where `macro_rules!` has put an expression of several parts between others.
///
/// The compiler takes what a macro of this kind gives back without the invisible groups in it (rust-lang/rust#67062), so
/// that `10 - $e` with `1 + 1` would become `10 - 1 + 1`.
pub(crate) fn grouped(tokens: TokenStream) -> TokenStream {
    if !has_invisible_group(&tokens) {
        return tokens;
    }
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let ends = |tree: Option<&TokenTree>| tree.is_none() || is_punct(tree, ',');
    let grouped = trees.iter().enumerate().map(|(at, tree)| {
        let TokenTree::Group(group) = tree else {
            return tree.clone();
        };
        let alone =
            ends(at.checked_sub(1).and_then(|before| trees.get(before))) && ends(trees.get(at + 1));
        let delimiter = match group.delimiter() {
            Delimiter::None if !alone && is_composed(group.stream()) => Delimiter::Parenthesis,
            other => other,
        };
        let mut grouped = Group::new(delimiter, self::grouped(group.stream()));
        grouped.set_span(group.span());
        TokenTree::Group(grouped)
    });
    grouped.collect()
}

fn has_invisible_group(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| {
        matches!(tree, TokenTree::Group(group)
            if group.delimiter() == Delimiter::None || has_invisible_group(&group.stream()))
    })
}

/// Whether these tokens are an expression that binds less tightly than a name does.
fn is_composed(tokens: TokenStream) -> bool {
    let expr = syn::parse2(tokens);
    matches!(
        expr,
        Ok(Expr::Binary(_) | Expr::Unary(_) | Expr::Reference(_) | Expr::Cast(_))
    ) || matches!(
        expr,
        Ok(Expr::Range(_) | Expr::Closure(_) | Expr::Assign(_))
    ) || matches!(expr, Ok(Expr::Let(_) | Expr::If(_) | Expr::Match(_)))
}

/// The tokens with others in place of some, at every depth. `replace` looks at a place among the trees of one level, and gives
/// what stands for the trees from there on, and how many they are.
pub(crate) fn replaced<F>(tokens: TokenStream, replace: &mut F) -> TokenStream
where
    F: FnMut(&[TokenTree], usize) -> Option<(TokenStream, usize)>,
{
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut result, mut at) = (TokenStream::new(), 0);
    while let Some(tree) = trees.get(at) {
        if let Some((other, count)) = replace(&trees, at) {
            result.extend(other);
            at += count;
            continue;
        }
        let tree = match tree {
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), replaced(group.stream(), replace));
                inside.set_span(group.span());
                TokenTree::Group(inside)
            }
            other => other.clone(),
        };
        result.extend([tree]);
        at += 1;
    }
    result
}

/// Whether the token is this punctuation character.
pub(crate) fn is_punct(tree: Option<&TokenTree>, character: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

/// The text as typed, on one line.
///
/// Inside a compiler the places of the tokens say where the author put a space: re-printing them would turn
/// `*out > 0.0` into `* out > 0.0`. Elsewhere, and between tokens of different macros, the usual spacing is used.
pub(crate) fn text(tokens: &TokenStream) -> String {
    let mut text = Text::default();
    text.add(tokens.clone());
    text.written
}

#[derive(Default)]
struct Text {
    written: String,
    last: Option<Span>,
    after: After,
    /// Whether the last token is the first half of an operator.
    joined: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum After {
    Operand,
    /// Nothing, the head of a closure, or an operator with an operand on both sides.
    #[default]
    Infix,
    /// A prefix operator, a dot or an opening delimiter, with no space behind it.
    Prefix,
    /// Inside the head of a closure.
    Head,
}

impl Text {
    fn add(&mut self, tokens: TokenStream) {
        let mut trees = tokens.into_iter().peekable();
        while let Some(tree) = trees.next() {
            let span = tree.span();
            match tree {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::None => {
                            self.add(group.stream());
                            continue;
                        }
                    };
                    let spaced =
                        open == "{" || !matches!(self.after, After::Operand | After::Prefix);
                    self.put(open, group.span_open(), spaced, After::Prefix);
                    self.add(group.stream());
                    self.put(close, group.span_close(), close == "}", After::Operand);
                }
                TokenTree::Punct(punct) => {
                    let in_macro = matches!(trees.peek(), Some(TokenTree::Group(_)));
                    let (spaced, after) = self.around(punct.as_char(), in_macro);
                    self.put(&punct.as_char().to_string(), span, spaced, after);
                    self.joined = punct.spacing() == Spacing::Joint;
                }
                word => {
                    let in_head = self.after == After::Head;
                    let spaced = !in_head && self.after != After::Prefix;
                    let spaced = spaced || self.written.ends_with(['{', '}']);
                    let after = if in_head { After::Head } else { After::Operand };
                    self.put(&word.to_string(), span, spaced, after);
                }
            }
        }
    }

    /// Whether there usually is a space before this sign, and the state after it.
    fn around(&self, sign: char, before_group: bool) -> (bool, After) {
        let after = self.after;
        match sign {
            '|' if after == After::Head => (false, After::Infix),
            '|' if after != After::Operand && !self.joined => (after == After::Infix, After::Head),
            ',' | ';' => (false, After::Infix),
            '?' => (false, After::Operand),
            '.' | ':' => (after == After::Infix && !self.joined, After::Prefix),
            '!' if after == After::Operand && before_group => (false, After::Prefix),
            _ if self.joined => (false, after),
            _ if after == After::Operand => (true, After::Infix),
            _ => (after == After::Infix, After::Prefix),
        }
    }

    fn put(&mut self, text: &str, span: Span, spaced: bool, after: After) {
        let spaced = |last| is_spaced(last, span).unwrap_or(spaced);
        if self.last.is_some_and(spaced) {
            self.written.push(' ');
        }
        self.written.push_str(text);
        (self.last, self.after, self.joined) = (Some(span), after, false);
    }
}

/// Whether the author put a space between two tokens of one line. `None` if their places are not known.
fn is_spaced(left: Span, right: Span) -> Option<bool> {
    if !proc_macro::is_available() {
        return None;
    }
    let (end, start) = (left.unwrap().end(), right.unwrap().start());
    let follows = end.line() == start.line() && end.column() <= start.column();
    follows.then(|| end.column() != start.column())
}
