//! A reader of GBNF that knows nothing of the writer: rules as llama.cpp documents them (`grammars/README.md`), matched with
//! sets of stacks, and as strict about repetitions as its parser.

use std::collections::{BTreeSet, HashMap};

use crate::tools::Random;

#[derive(Clone, Debug)]
enum Element {
    Chars {
        ranges: Vec<(u32, u32)>,
        negated: bool,
    },
    Rule(usize),
}

type Sequence = Vec<Element>;
/// Places still to be matched, the next one last: rule, alternative, element.
type Stack = Vec<(usize, usize, usize)>;

/// A grammar that was read.
pub(crate) struct Gbnf {
    rules: Vec<Vec<Sequence>>,
    root: usize,
}

struct Parser<'t> {
    rest: &'t str,
    names: HashMap<String, usize>,
    rules: Vec<Option<Vec<Sequence>>>,
}

/// More repetitions are refused.
const REPETITIONS: usize = 2_000;

impl Gbnf {
    pub(crate) fn read(text: &str) -> Self {
        let mut parser = Parser {
            rest: text,
            names: HashMap::new(),
            rules: Vec::new(),
        };
        parser.space(true);
        while !parser.rest.is_empty() {
            let name = parser.name();
            parser.space(false);
            parser.expect("::=");
            parser.space(true);
            let rule = parser.rule(&name);
            let body = parser.alternatives(false);
            assert!(
                parser.rules[rule].replace(body).is_none(),
                "{name} is there twice"
            );
            assert!(
                parser.rest.is_empty() || parser.rest.starts_with('\n'),
                "{}",
                parser.rest
            );
            parser.space(true);
        }
        let root = parser.names["root"];
        let missing = parser
            .names
            .iter()
            .find(|(_, rule)| parser.rules[**rule].is_none());
        assert!(missing.is_none(), "{missing:?} is missing");
        Self {
            rules: parser.rules.into_iter().flatten().collect(),
            root,
        }
    }

    pub(crate) fn accepts(&self, text: &str) -> bool {
        let mut states = BTreeSet::new();
        for alternative in 0..self.rules[self.root].len() {
            self.settle(vec![(self.root, alternative, 0)], &mut states);
        }
        for letter in text.chars() {
            let mut next = BTreeSet::new();
            for stack in &states {
                let Some((&(rule, alternative, place), below)) = stack.split_last() else {
                    continue;
                };
                let Element::Chars { ranges, negated } = &self.rules[rule][alternative][place]
                else {
                    unreachable!("settled");
                };
                let code = u32::from(letter);
                if ranges
                    .iter()
                    .any(|(low, high)| (low..=high).contains(&&code))
                    != *negated
                {
                    let mut stack = below.to_vec();
                    stack.push((rule, alternative, place + 1));
                    self.settle(stack, &mut next);
                }
            }
            states = next;
        }
        states.contains(&Vec::new())
    }

    /// A text that the grammar accepts, chosen letter by letter; `None` where it became too long.
    pub(crate) fn sample(&self, random: &mut Random) -> Option<String> {
        let mut text = String::new();
        let mut stack: Stack = vec![(self.root, random.below(self.rules[self.root].len()), 0)];
        while text.len() < 3_000 {
            let Some((rule, alternative, place)) = stack.pop() else {
                return Some(text);
            };
            let Some(element) = self.rules[rule][alternative].get(place) else {
                continue;
            };
            stack.push((rule, alternative, place + 1));
            match element {
                Element::Rule(inner) => {
                    // The last alternative of a repetition ends it.
                    let options = self.rules[*inner].len();
                    let hurry = random.below(3 + text.len() / 50) > 1;
                    let next = if hurry {
                        options - 1
                    } else {
                        random.below(options)
                    };
                    stack.push((*inner, next, 0));
                }
                Element::Chars { ranges, negated } => {
                    let (low, high) = ranges[random.below(ranges.len())];
                    let code = if *negated {
                        u32::from(b'a')
                    } else {
                        let span = usize::try_from(high - low).expect("small") + 1;
                        low + u32::try_from(random.below(span)).expect("small")
                    };
                    text.push(char::from_u32(code).expect("a letter"));
                }
            }
        }
        None
    }

    /// Goes on until a character comes next, or the end.
    fn settle(&self, mut stack: Stack, out: &mut BTreeSet<Stack>) {
        let Some((rule, alternative, place)) = stack.pop() else {
            out.insert(stack);
            return;
        };
        match self.rules[rule][alternative].get(place) {
            None => self.settle(stack, out),
            Some(Element::Chars { .. }) => {
                stack.push((rule, alternative, place));
                out.insert(stack);
            }
            Some(Element::Rule(inner)) => {
                if place + 1 < self.rules[rule][alternative].len() {
                    stack.push((rule, alternative, place + 1));
                }
                for alternative in 0..self.rules[*inner].len() {
                    let mut stack = stack.clone();
                    stack.push((*inner, alternative, 0));
                    self.settle(stack, out);
                }
            }
        }
    }
}

impl Parser<'_> {
    fn space(&mut self, lines: bool) {
        self.rest = self.rest.trim_start_matches(|letter| {
            letter == ' ' || letter == '\t' || (lines && letter == '\n')
        });
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) {
        assert!(self.eat(text), "`{text}` is missing before {}", self.rest);
    }

    fn name(&mut self) -> String {
        let end = self
            .rest
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        assert!(!name.is_empty(), "a name is missing before {rest}");
        self.rest = rest;
        name.to_owned()
    }

    fn rule(&mut self, name: &str) -> usize {
        let next = self.rules.len();
        let rule = *self.names.entry(name.to_owned()).or_insert(next);
        if rule == next {
            self.rules.push(None);
        }
        rule
    }

    fn fresh(&mut self, body: Vec<Sequence>) -> Element {
        self.rules.push(Some(body));
        Element::Rule(self.rules.len() - 1)
    }

    fn alternatives(&mut self, lines: bool) -> Vec<Sequence> {
        let mut all = vec![self.sequence(lines)];
        while self.eat("|") {
            self.space(true);
            all.push(self.sequence(lines));
        }
        all
    }

    fn sequence(&mut self, lines: bool) -> Sequence {
        let mut all = Vec::new();
        loop {
            // How many rules the symbol stands for, which repetitions multiply.
            let mut weight = 1;
            let mut symbol: Sequence = if self.eat("\"") {
                let mut letters = Vec::new();
                while !self.eat("\"") {
                    let code = self.letter();
                    letters.push(Element::Chars {
                        ranges: vec![(code, code)],
                        negated: false,
                    });
                }
                letters
            } else if self.eat("[") {
                let negated = self.eat("^");
                let mut ranges = Vec::new();
                while !self.eat("]") {
                    let low = self.letter();
                    let high = if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                        self.expect("-");
                        self.letter()
                    } else {
                        low
                    };
                    assert!(low <= high);
                    ranges.push((low, high));
                }
                assert!(!ranges.is_empty(), "an empty class");
                vec![Element::Chars { ranges, negated }]
            } else if self.eat("(") {
                self.space(true);
                let before = self.rules.len();
                let body = self.alternatives(true);
                self.expect(")");
                let group = self.fresh(body);
                weight = self.rules.len() - before;
                vec![group]
            } else if self
                .rest
                .starts_with(|letter: char| letter.is_ascii_alphanumeric())
            {
                let name = self.name();
                vec![Element::Rule(self.rule(&name))]
            } else {
                return all;
            };
            self.space(lines);
            while let Some((min, max)) = self.times() {
                let total = max.unwrap_or(min).max(1);
                assert!(
                    weight * total < REPETITIONS,
                    "too many repetitions before {}",
                    self.rest
                );
                weight *= total;
                symbol = self.repeated(&symbol, min, max);
                self.space(lines);
            }
            all.extend(symbol);
        }
    }

    fn times(&mut self) -> Option<(usize, Option<usize>)> {
        for (mark, times) in [("*", (0, None)), ("+", (1, None)), ("?", (0, Some(1)))] {
            if self.eat(mark) {
                return Some(times);
            }
        }
        if !self.eat("{") {
            return None;
        }
        let min = self.name().parse().expect("a number");
        let max = if self.eat("}") {
            return Some((min, Some(min)));
        } else {
            self.expect(",");
            (!self.rest.starts_with('}')).then(|| self.name().parse().expect("a number"))
        };
        self.expect("}");
        Some((min, max))
    }

    fn repeated(&mut self, symbol: &Sequence, min: usize, max: Option<usize>) -> Sequence {
        let mut all: Sequence = (0..min).flat_map(|_| symbol.clone()).collect();
        let Some(max) = max else {
            let again = self.rules.len();
            let mut more = symbol.clone();
            more.push(Element::Rule(again));
            all.push(self.fresh(vec![more, Vec::new()]));
            return all;
        };
        let mut last: Option<Element> = None;
        for _ in min..max {
            let more = symbol.iter().cloned().chain(last).collect();
            last = Some(self.fresh(vec![more, Vec::new()]));
        }
        all.extend(last);
        all
    }

    fn letter(&mut self) -> u32 {
        let mut letters = self.rest.chars();
        let first = letters.next().expect("a letter");
        assert!(first != '\n', "a line ends within a text");
        if first != '\\' {
            self.rest = letters.as_str();
            return u32::from(first);
        }
        let kind = letters.next().expect("an escape");
        let digits = match kind {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            'n' | 'r' | 't' | '"' | '\\' | '[' | ']' => 0,
            other => panic!("no escape: {other}"),
        };
        let (code, rest) = letters.as_str().split_at(digits);
        self.rest = rest;
        match kind {
            'n' => 10,
            'r' => 13,
            't' => 9,
            'x' | 'u' | 'U' => u32::from_str_radix(code, 16).expect("hexadecimal digits"),
            other => u32::from(other),
        }
    }
}

#[test]
fn the_reader_reads_what_is_documented() {
    let grammar =
        Gbnf::read("root ::= item{1,2} (\"-\" [^a-c\\n])?\nitem ::= \"x\" | \"\\x79\"+\n");
    for (text, taken) in [
        ("x", true),
        ("xx", true),
        ("xyyy", true),
        ("xxx", false),
        ("", false),
        ("y-d", true),
        ("y-b", false),
        ("y-\n", false),
        ("y-", false),
    ] {
        assert_eq!(grammar.accepts(text), taken, "{text:?}");
    }
}
