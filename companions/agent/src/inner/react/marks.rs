//! The keywords that begin the parts of a reply, and the parts to ignore: thinking and code.

use super::channels;

/// The words, as they are written at the beginning of a line.
pub(super) const THOUGHT: &[&str] = &["Thought:", "Thinking:"];
pub(super) const ACTION: &[&str] = &["Action:", "Tool:", "<tool_call>"];
pub(super) const INPUT: &[&str] = &["Action Input:", "Arguments:", "Args:", "Input:"];
pub(super) const ANSWER: &[&str] = &["Final Answer:", "Answer:"];
/// What only the program says; a model that writes it invents.
pub(super) const OBSERVATION: &[&str] = &["Observation:", "<tool_result>"];

/// The tags between which models think before they speak.
const THINKING: [&str; 9] = [
    "think",
    "thinking",
    "antthinking",
    "thought",
    "thoughts",
    "reasoning",
    "analysis",
    "reflection",
    "scratchpad",
];

/// The most characters that are looked at for the end of a tag, and the most blocks of thinking in a reply, so that reading takes
/// no longer than the reply is long.
pub(super) const LONGEST_TAG: usize = 128;
pub(super) const MOST_BLOCKS: usize = 100;

#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What may stand before a word that begins a part: space of any kind, seen or not, and emphasis. A line that is quoted
/// with `>` says what somebody might write.
pub(super) fn is_before_mark(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '*' | '#' | '_')
        || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}' | '\u{2060}')
}

/// The first line outside of code that begins with one of the words, whatever its case and with or without emphasis.
pub(super) fn marked(text: &str, words: &[&str]) -> Option<Mark> {
    lines(text)
        .filter(|line| !line.is_code)
        .find_map(|line| mark(line.text, words).map(|mark| mark.after(line.start)))
}

/// Whether one of the words stands at the beginning of a line of code.
pub(super) fn is_marked_in_code(text: &str, words: &[&str]) -> bool {
    lines(text)
        .filter(|line| line.is_code)
        .any(|line| mark(line.text, words).is_some())
}

/// Whether there is code in it.
pub(super) fn has_code(text: &str) -> bool {
    lines(text).any(|line| line.is_code)
}

/// Whether a fence stands in it that begins or ends no block of code: behind something in its line.
pub(super) fn has_stray_fence(text: &str) -> bool {
    lines(text).any(|line| !line.is_code && FENCES.iter().any(|fence| line.text.contains(fence)))
}

impl Mark {
    const fn after(self, start: usize) -> Self {
        Self {
            start: start + self.start,
            end: start + self.end,
        }
    }
}

fn mark(line: &str, words: &[&str]) -> Option<Mark> {
    let bare = line.trim_start_matches(is_before_mark);
    let rest = words.iter().find_map(|word| after_word(bare, word))?;
    let rest = rest.trim_start_matches(EMPHASIS);
    Some(Mark {
        start: 0,
        end: line.len() - rest.len(),
    })
}

const EMPHASIS: [char; 2] = ['*', '_'];

/// Returns the text after a word. The colon of the word may follow its emphasis.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let stem = word.trim_end_matches(':');
    let (head, rest) = text.split_at_checked(stem.len())?;
    if !head.eq_ignore_ascii_case(stem) {
        return None;
    }
    if stem == word {
        return Some(rest);
    }
    rest.trim_start_matches(EMPHASIS).strip_prefix(':')
}

/// What every fence begins with.
pub(super) const FENCES: [&str; 2] = ["```", "~~~"];

struct Line<'t> {
    start: usize,
    text: &'t str,
    is_code: bool,
}

/// The lines, and which of them stand in a fence. A fence that is not closed goes on to the end.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let (mut start, mut open) = (0, None::<Fence>);
    text.split_inclusive('\n').map(move |text| {
        let begins = Fence::begun_by(text);
        let line = Line {
            start,
            text,
            is_code: open.is_some() || begins.is_some(),
        };
        open = match open {
            Some(fence) => (!fence.is_ended_by(text)).then_some(fence),
            None => begins.or_else(|| announced(text)),
        };
        start += text.len();
        line
    })
}

/// The fence that begins behind a word, in the same line.
fn announced(line: &str) -> Option<Fence> {
    let mut words = [ACTION, INPUT].into_iter();
    let mark = words.find_map(|words| mark(line, words))?;
    Fence::begun_by(line.get(mark.end..)?)
}

/// The fence of a block of code.
///
/// Source: `CommonMark` 0.31.2, 2024, section 4.5.
#[derive(Clone, Copy)]
struct Fence {
    of: char,
    length: usize,
    indent: usize,
}

/// How much farther in than its beginning a fence may end; what stands farther in is code.
const DEEPER: usize = 3;

impl Fence {
    fn begun_by(line: &str) -> Option<Self> {
        let bare = line.trim_start();
        let of = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = bare.trim_start_matches(of);
        let length = bare.len() - rest.len();
        // Code within a line looks like it.
        let begins = length >= 3 && !(of == '`' && rest.contains('`'));
        begins.then_some(Self {
            of,
            length,
            indent: line.len() - bare.len(),
        })
    }

    fn is_ended_by(self, line: &str) -> bool {
        let bare = line.trim();
        let indent = line.len() - line.trim_start().len();
        indent <= self.indent + DEEPER
            && bare.len() >= self.length
            && bare.chars().all(|c| c == self.of)
    }
}

/// A reply without what the model thought before it spoke.
#[derive(Debug)]
pub(super) struct ReplyParts {
    pub(super) thinking: String,
    pub(super) text: String,
}

/// Takes the thinking out of a reply, as far as to its first action or answer; the rest is the reply.
///
/// `None` where the reply ends in the middle of its thinking, or where an answer may have been part of it. Whatever stands
/// behind the arguments of an action makes that unclear in any case.
pub(super) fn split(reply: &str) -> Option<ReplyParts> {
    let ReplyParts {
        mut thinking,
        mut text,
    } = channels::split(reply)?;
    for _ in 0..MOST_BLOCKS {
        let Some((tag, opens)) = tag(&text) else {
            return Some(ReplyParts { thinking, text });
        };
        let comes_after = |words| marked(&text, words).is_some_and(|mark| mark.start < tag.start);
        let answers = comes_after(ANSWER);
        if answers && !opens {
            return None;
        }
        if comes_after(ACTION) && is_thought_to_its_end(&text) {
            return None;
        }
        if answers || comes_after(ACTION) {
            return Some(ReplyParts { thinking, text });
        }
        if opens {
            let end = end_of_thinking(&text, tag)?;
            thinking.push_str(&text[tag.end..end.start]);
            text.replace_range(tag.start..end.end, "");
        } else {
            thinking.push_str(&text[..tag.start]);
            text.replace_range(..tag.end, "");
        }
    }
    None
}

/// Whether thinking that did not begin ends behind what the model invents: then all before was thought, the action too.
fn is_thought_to_its_end(text: &str) -> bool {
    let Some(invented) = marked(text, OBSERVATION) else {
        return false;
    };
    let (mut rest, mut depth) = (&text[invented.end..], 0_u32);
    while let Some((found, opens)) = tag(rest) {
        match (opens, depth.checked_sub(1)) {
            (true, _) => depth += 1,
            (false, Some(less)) => depth = less,
            (false, None) => return true,
        }
        rest = &rest[found.end..];
    }
    false
}

/// The first tag of thinking, and whether it begins it.
fn tag(text: &str) -> Option<(Mark, bool)> {
    text.char_indices().find_map(|(start, c)| {
        let (length, opens) = tag_at(&text[start..], c)?;
        let end = start + length;
        let is_prose = opens && is_prose(&text[..start], &text[start..end]);
        (!is_prose).then_some((Mark { start, end }, opens))
    })
}

/// Whether a sentence goes on in angles, as in "I <think about it> again": words, behind a word, are not attributes.
fn is_prose(before: &str, tag: &str) -> bool {
    let words = tag.trim_end_matches('>').split_whitespace();
    before
        .trim_end_matches([' ', '\t'])
        .ends_with(char::is_alphanumeric)
        && tag.ends_with('>')
        && !tag.contains(['=', '|', '\n'])
        && words.count() > 1
}

/// The length of the tag that a text begins with, such as `<think>`, `[/THINK]` or `<|end_of_thought|>`, with attributes or
/// without, and whether it begins thinking. One in angles counts without its end, too.
fn tag_at(text: &str, first: char) -> Option<(usize, bool)> {
    let last = match first {
        '<' => '>',
        '[' => ']',
        '\u{25c1}' => '\u{25b7}',
        _ => return None,
    };
    let is_edge = |c: char| c == '|' || matches!(c, ' ' | '\t');
    let inner = text.strip_prefix(first)?.trim_start_matches(is_edge);
    let (inner, closes) = match inner.strip_prefix('/') {
        Some(inner) => (inner.trim_start_matches(is_edge), true),
        None => (inner, false),
    };
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    let (name, rest) = inner.split_at(inner.find(|c| !belongs(c)).unwrap_or(inner.len()));
    let name = name.rsplit(':').next()?.to_ascii_lowercase();
    let (name, ends) = match name.split_once("_of_") {
        Some(("begin" | "start", name)) => (name, false),
        Some(("end", name)) => (name, true),
        _ => (&*name, false),
    };
    // What is in brackets is more often a word than a tag.
    if !THINKING.contains(&name) || (first == '[' && !matches!(name, "think" | "thinking")) {
        return None;
    }
    let mut window = rest.char_indices().take(LONGEST_TAG);
    let until = match window.find(|(_, c)| *c == last).map(|(end, _)| end) {
        // It begins nothing, and ends nothing.
        Some(end) if rest[..end].ends_with('/') => return None,
        Some(end) => end + last.len_utf8(),
        None if first == '<' => 0,
        None => return None,
    };
    Some((text.len() - rest.len() + until, !(closes || ends)))
}

/// Where thinking ends that may hold more of its kind.
fn end_of_thinking(text: &str, begin: Mark) -> Option<Mark> {
    let (mut at, mut depth) = (begin.end, 1_u32);
    loop {
        let (found, opens) = tag(&text[at..])?;
        let found = found.after(at);
        depth = if opens { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return Some(found);
        }
        at = found.end;
    }
}
