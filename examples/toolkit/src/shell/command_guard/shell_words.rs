//! Splits a script into commands and their words. Takes time in proportion to its length.

use std::iter::Peekable;
use std::str::Chars;

/// Stands in a word for the home folder.
pub(super) const HOME: char = '\u{1}';

/// Stands in a word for an expansion whose value only the shell knows.
pub(super) const UNKNOWN: char = '\u{2}';

#[derive(Debug, Default)]
pub(super) struct Command {
    /// Without quotes.
    pub(super) words: Vec<String>,
    /// Its here-document or here-string.
    pub(super) input: Option<String>,
    /// The scripts whose output becomes a part of its words.
    pub(super) substitutions: Vec<String>,
    /// Whether it reads the output of the command before it.
    pub(super) is_piped: bool,
}

#[derive(Debug)]
pub(super) enum Part {
    Command(Command),
    /// A subshell begins.
    Open,
    Close,
}

/// What the next word is.
enum Role {
    Word,
    /// The file of a redirection.
    File,
    HereString,
    /// The end of a here-document.
    Delimiter,
}

pub(super) fn without_signs(text: &str) -> String {
    text.replace([HOME, UNKNOWN], "?")
}

pub(super) fn split(script: &str) -> Vec<Part> {
    let script = without_signs(script);
    let mut splitter = Splitter {
        rest: script.chars().peekable(),
        parts: Vec::new(),
        command: Command::default(),
        word: None,
        role: Role::Word,
        here_documents: Vec::new(),
    };
    while let Some(character) = splitter.rest.next() {
        splitter.read(character);
    }
    splitter.end_command(false);
    splitter.parts
}

struct Splitter<'s> {
    rest: Peekable<Chars<'s>>,
    parts: Vec<Part>,
    command: Command,
    word: Option<String>,
    role: Role,
    /// Delimiters of those that begin after this line, each with the index of its command.
    here_documents: Vec<(usize, String)>,
}

impl Splitter<'_> {
    fn read(&mut self, character: char) {
        match character {
            '\n' => {
                self.end_command(false);
                self.read_here_documents();
            }
            ' ' | '\t' => self.end_word(),
            '#' if self.word.is_none() => {
                while self.rest.next_if(|next| *next != '\n').is_some() {}
            }
            ';' => self.end_command(false),
            '&' if self.rest.peek() == Some(&'>') => self.end_word(),
            '&' => {
                self.rest.next_if_eq(&'&');
                self.end_command(false);
            }
            '|' => {
                let is_or = self.rest.next_if_eq(&'|').is_some();
                self.rest.next_if_eq(&'&');
                self.end_command(!is_or);
            }
            '(' | ')' => {
                self.end_command(false);
                let part = if character == '(' {
                    Part::Open
                } else {
                    Part::Close
                };
                self.parts.push(part);
            }
            '>' => self.redirect_output(),
            '<' => self.redirect_input(),
            '~' if self.word.is_none() => {
                while self.rest.next_if(|next| next.is_alphanumeric()).is_some() {}
                self.push(HOME);
            }
            '\'' => {
                self.word.get_or_insert_default();
                while let Some(next) = self.rest.next().filter(|next| *next != '\'') {
                    self.push(next);
                }
            }
            '"' => self.read_quoted(),
            '\\' => match self.rest.next() {
                Some('\n') | None => {}
                Some(next) => self.push(next),
            },
            '$' => self.expand(),
            '`' => self.substitute_backquoted(),
            _ => self.push(character),
        }
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::replace(&mut self.role, Role::Word) {
            Role::Word => self.command.words.push(word),
            Role::File => {}
            Role::HereString => self.command.input = Some(word),
            Role::Delimiter => self.here_documents.push((self.parts.len(), word)),
        }
    }

    fn end_command(&mut self, pipes: bool) {
        self.end_word();
        self.role = Role::Word;
        let is_piped = self.command.is_piped;
        let command = std::mem::take(&mut self.command);
        // A newline may follow the sign of a pipe.
        self.command.is_piped = pipes || command.words.is_empty() && is_piped;
        self.parts.push(Part::Command(command));
    }

    /// Each ends at a line that is its delimiter.
    fn read_here_documents(&mut self) {
        for (index, delimiter) in std::mem::take(&mut self.here_documents) {
            let mut text = String::new();
            loop {
                let mut line = String::new();
                while let Some(next) = self.rest.next_if(|next| *next != '\n') {
                    line.push(next);
                }
                let is_last = self.rest.next().is_none();
                if line.trim_start_matches('\t') == delimiter {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
                if is_last {
                    break;
                }
            }
            if let Some(Part::Command(command)) = self.parts.get_mut(index) {
                command.input = Some(text);
            }
        }
    }

    fn redirect_output(&mut self) {
        if self.rest.next_if_eq(&'(').is_some() {
            return self.substitute();
        }
        // `2>` names a descriptor, not an argument.
        if self
            .word
            .as_ref()
            .is_some_and(|word| word.bytes().all(|one| one.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        while self
            .rest
            .next_if(|next| matches!(next, '>' | '|' | '&'))
            .is_some()
        {}
        self.role = Role::File;
    }

    fn redirect_input(&mut self) {
        if self.rest.next_if_eq(&'(').is_some() {
            return self.substitute();
        }
        self.end_word();
        self.role = if self.rest.next_if_eq(&'<').is_none() {
            self.rest.next_if(|next| matches!(next, '>' | '&'));
            Role::File
        } else if self.rest.next_if_eq(&'<').is_some() {
            Role::HereString
        } else {
            self.rest.next_if_eq(&'-');
            Role::Delimiter
        };
    }

    fn read_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(next) = self.rest.next() {
            match next {
                '"' => return,
                '\\' => match self
                    .rest
                    .next_if(|next| matches!(next, '$' | '`' | '"' | '\\'))
                {
                    Some(escaped) => self.push(escaped),
                    None => self.push('\\'),
                },
                '$' => self.expand(),
                '`' => self.substitute_backquoted(),
                _ => self.push(next),
            }
        }
    }

    /// After a dollar sign.
    fn expand(&mut self) {
        if self.rest.next_if_eq(&'(').is_some() {
            return self.substitute();
        }
        let is_braced = self.rest.next_if_eq(&'{').is_some();
        let mut name = String::new();
        let is_name = |next: &char| next.is_ascii_alphanumeric() || *next == '_';
        while let Some(next) = self
            .rest
            .next_if(|next| is_braced && *next != '}' || !is_braced && is_name(next))
        {
            name.push(next);
        }
        if is_braced {
            self.rest.next();
        }
        match name.as_str() {
            "HOME" => self.push(HOME),
            // `$'..'` is a quotation.
            "" if !is_braced => {}
            _ => self.push(UNKNOWN),
        }
    }

    /// After the opening parenthesis.
    fn substitute(&mut self) {
        let mut text = String::new();
        let mut depth = 1_u32;
        let mut quote = None;
        while let Some(next) = self.rest.next() {
            match (next, quote) {
                ('\\', None | Some('"')) => {
                    text.push(next);
                    text.extend(self.rest.next());
                    continue;
                }
                ('\'' | '"', None) => quote = Some(next),
                (_, Some(sign)) if next == sign => quote = None,
                ('(', None) => depth += 1,
                (')', None) if depth == 1 => break,
                (')', None) => depth -= 1,
                _ => {}
            }
            text.push(next);
        }
        self.push(UNKNOWN);
        self.command.substitutions.push(text);
    }

    fn substitute_backquoted(&mut self) {
        let mut text = String::new();
        while let Some(next) = self.rest.next().filter(|next| *next != '`') {
            text.push(next);
            if next == '\\' {
                text.extend(self.rest.next());
            }
        }
        self.push(UNKNOWN);
        self.command.substitutions.push(text);
    }
}
