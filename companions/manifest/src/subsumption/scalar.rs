//! Subsumption of keywords for numbers and texts.

use serde_json::Number;

use super::branch::{Branch, Kind};
use super::finding::Finding;
use super::node::Node;
use contract_runtime::__family::Decimal;

/// One end of a range.
#[derive(Clone, Copy)]
struct End<'s> {
    at: Decimal,
    written: &'s Number,
    /// The end itself is outside.
    outside: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Low,
    High,
}

impl Side {
    const fn keywords(self) -> [(&'static str, bool); 2] {
        match self {
            Self::Low => [("minimum", false), ("exclusiveMinimum", true)],
            Self::High => [("maximum", false), ("exclusiveMaximum", true)],
        }
    }

    const fn words(self, outside: bool) -> &'static str {
        match (self, outside) {
            (Self::Low, false) => "at least",
            (Self::Low, true) => "more than",
            (Self::High, false) => "at most",
            (Self::High, true) => "less than",
        }
    }
}

fn end<'s>(node: Node<'s>, keyword: &str, outside: bool) -> Option<End<'s>> {
    let written = node.keyword(keyword)?.as_number()?;
    Some(End {
        at: Decimal::of(written),
        written,
        outside,
    })
}

impl End<'_> {
    /// Whether every number inside this end is inside the other, among the numbers of a kind.
    fn is_within(&self, other: &Self, side: Side, kind: Kind) -> bool {
        if kind == Kind::Integer
            && let (Some(own), Some(other)) = (self.integer(side), other.integer(side))
        {
            return match side {
                Side::Low => own >= other,
                Side::High => own <= other,
            };
        }
        if self.at == other.at {
            let between = kind == Kind::Fraction && self.at.is_integral();
            return self.outside || !other.outside || between;
        }
        match side {
            Side::Low => self.at > other.at,
            Side::High => self.at < other.at,
        }
    }

    /// The last integer that is inside.
    fn integer(&self, side: Side) -> Option<i128> {
        if self.at.is_integral() {
            let at: i128 = self.at.integer_text()?.parse().ok()?;
            return match (self.outside, side) {
                (false, _) => Some(at),
                (true, Side::Low) => at.checked_add(1),
                (true, Side::High) => at.checked_sub(1),
            };
        }
        let float = self.written.as_f64()?;
        if float.abs() > 1e15 {
            return None;
        }
        let rounded = match side {
            Side::Low => float.ceil(),
            Side::High => float.floor(),
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an integer between -1e15 and 1e15"
        )]
        Some(rounded as i128)
    }

    fn text(&self, side: Side) -> String {
        format!("{} {}", side.words(self.outside), self.written)
    }
}

/// The tightest end of a branch.
fn tightest<'s>(branch: &Branch<'s>, side: Side) -> Option<End<'s>> {
    let ends = branch.nodes.iter().flat_map(|node| {
        side.keywords()
            .into_iter()
            .filter_map(|(keyword, outside)| end(*node, keyword, outside))
    });
    ends.reduce(|one, other| {
        if one.is_within(&other, side, branch.kind) {
            one
        } else {
            other
        }
    })
}

pub(super) fn least(branch: &Branch<'_>) -> Option<i128> {
    tightest(branch, Side::Low)?.integer(Side::Low)
}

pub(super) fn greatest(branch: &Branch<'_>) -> Option<i128> {
    tightest(branch, Side::High)?.integer(Side::High)
}

/// Whether no number is between the ends.
pub(super) fn low_above_high(branch: &Branch<'_>) -> bool {
    let (Some(low), Some(high)) = (tightest(branch, Side::Low), tightest(branch, Side::High))
    else {
        return false;
    };
    if branch.kind == Kind::Integer
        && let (Some(low), Some(high)) = (low.integer(Side::Low), high.integer(Side::High))
    {
        return low > high;
    }
    low.at > high.at || (low.at == high.at && (low.outside || high.outside))
}

pub(super) fn number(branch: &Branch<'_>, outer: Node<'_>, keyword: &str) -> Result<(), Finding> {
    if !branch.kind.is_number() {
        return Ok(());
    }
    for side in [Side::Low, Side::High] {
        for (name, outside) in side.keywords() {
            if name == keyword
                && let Some(now) = end(outer, keyword, outside)
            {
                return within(branch, &now, side);
            }
        }
    }
    let Some(step) = outer.number(keyword) else {
        return Err(Finding::unclear(format!("`{keyword}` has no number")));
    };
    let of_integers = (branch.kind == Kind::Integer).then(|| Decimal::of(&Number::from(1)));
    let mut steps = branch
        .nodes
        .iter()
        .filter_map(|node| node.number("multipleOf"))
        .chain(of_integers);
    if steps.any(|before| before.is_multiple_of(&step)) {
        return Ok(());
    }
    let written = outer.keyword(keyword).map(ToString::to_string);
    let now = format!("multiples of {}", written.unwrap_or_default());
    Err(Finding::refused("other numbers too", now))
}

pub(super) fn text(branch: &Branch<'_>, outer: Node<'_>, keyword: &str) -> Result<(), Finding> {
    if branch.kind != Kind::String {
        return Ok(());
    }
    match (keyword, outer.count(keyword)) {
        ("minLength", Some(now)) => count_at_least(branch.at_least(keyword), now, "character"),
        ("maxLength", Some(now)) => count_at_most(branch.at_most(keyword), now, "character"),
        _ => {
            let now = outer.keyword(keyword);
            if branch.all(keyword).any(|before| Some(before) == now) {
                return Ok(());
            }
            let now = now.map(ToString::to_string).unwrap_or_default();
            Err(match branch.all(keyword).next() {
                None => {
                    let now = format!("only texts that match `{now}`");
                    Finding::refused("no pattern", now)
                }
                Some(before) => {
                    let why =
                        format!("not every text that matches `{before}` is known to match `{now}`");
                    Finding::unclear(why)
                }
            })
        }
    }
}

fn within(branch: &Branch<'_>, now: &End<'_>, side: Side) -> Result<(), Finding> {
    let before = tightest(branch, side);
    if before.is_some_and(|before| before.is_within(now, side, branch.kind)) {
        return Ok(());
    }
    let unlimited = match side {
        Side::Low => "no lower end",
        Side::High => "no upper end",
    };
    let before = before.map_or_else(|| unlimited.to_owned(), |before| before.text(side));
    Err(Finding::refused(before, now.text(side)))
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A lower end of a count: what is guaranteed reaches what is asked for.
pub(super) fn count_at_least(before: u64, now: u64, noun: &str) -> Result<(), Finding> {
    if before >= now {
        return Ok(());
    }
    Err(Finding::refused(
        format!("at least {}", counted(before, noun)),
        format!("at least {}", counted(now, noun)),
    ))
}

/// An upper end of a count.
pub(super) fn count_at_most(before: Option<u64>, now: u64, noun: &str) -> Result<(), Finding> {
    let before = match before {
        Some(before) if before <= now => return Ok(()),
        Some(before) => format!("at most {}", counted(before, noun)),
        None => format!("any number of {noun}s"),
    };
    let now = format!("at most {}", counted(now, noun));
    Err(Finding::refused(before, now))
}
