//! The value of an expression with numbers, `+ - * /` and parentheses.

/// Evaluates an expression and rounds the result to two decimals.
///
/// # Errors
///
/// Says what is wrong with the expression.
///
/// ```
/// assert_eq!(airline::arithmetic::evaluate("2 * (3 + 4) - 1 / 8"), Ok(13.88));
/// assert!(airline::arithmetic::evaluate("2 +").is_err());
/// ```
pub fn evaluate(expression: &str) -> Result<f64, String> {
    let mut rest = expression.trim_start();
    // Parentheses nest on the stack.
    if expression.matches('(').count() > 100 {
        return Err("more than 100 parentheses".into());
    }
    let value = value(&mut rest, 0)?;
    if !rest.is_empty() {
        return Err(format!("`{rest}` is not expected here"));
    }
    if value.is_finite() {
        Ok((value * 100.0).round() / 100.0)
    } else {
        Err("the result is not a number".into())
    }
}

/// A sum of products of factors, at the levels 0, 1 and 2.
fn value(rest: &mut &str, level: usize) -> Result<f64, String> {
    let Some(operators) = [['+', '-'], ['*', '/']].get(level) else {
        return factor(rest);
    };
    let mut left = value(rest, level + 1)?;
    while let Some(operator) = operators.iter().find(|symbol| take(rest, **symbol)) {
        let right = value(rest, level + 1)?;
        match operator {
            '+' => left += right,
            '-' => left -= right,
            '*' => left *= right,
            _ => left /= right,
        }
    }
    Ok(left)
}

fn factor(rest: &mut &str) -> Result<f64, String> {
    let mut sign = 1.0;
    while take(rest, '-') {
        sign = -sign;
    }
    if take(rest, '(') {
        let value = value(rest, 0)?;
        return if take(rest, ')') {
            Ok(sign * value)
        } else {
            Err("a parenthesis is not closed".into())
        };
    }
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let (number, after) = rest.split_at(end);
    *rest = after.trim_start();
    number
        .parse()
        .map(|value: f64| sign * value)
        .map_err(|_| format!("a number is missing before `{rest}`"))
}

fn take(rest: &mut &str, symbol: char) -> bool {
    let Some(after) = rest.strip_prefix(symbol) else {
        return false;
    };
    *rest = after.trim_start();
    true
}
