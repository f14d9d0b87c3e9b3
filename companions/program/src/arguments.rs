//! Reads the arguments of a call from words, by the schema of the tool.
//!
//! A word stands for those values that it can be written for by the schema. Exactly one is taken; none or several are refused, with
//! the JSON that says it.

use std::path::PathBuf;

use contract_runtime::__family::nearest;
use contract_runtime::{ToolInfo, Validator};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::CommandError;
use super::shape::{Kind, Shape, sample};
use super::words::CallOption;

/// Where the arguments are.
pub(super) enum Source {
    /// As JSON text, whether it was given so or read from words.
    Json(String),
    /// In a file; `-` is standard input.
    File(PathBuf),
}

/// What stands behind the name of an argument.
enum Given {
    Word(String),
    Json(String),
    /// Nothing, as behind `--urgent`.
    Nothing,
}

/// Reads the words; `behind` are the options of the command that stand among them.
pub(super) fn read(
    tool: ToolInfo<'_>,
    words: &[String],
    behind: &[CallOption],
) -> Result<Source, CommandError> {
    let reader = Reader { tool };
    match words {
        [] => {
            reader.distinct(behind)?;
            Ok(Source::Json("{}".to_owned()))
        }
        [only] if only == "-" => Ok(Source::File("-".into())),
        [only] if only.starts_with('@') => Ok(Source::File(only[1..].into())),
        [only] if !is_named(only) && reader.forgotten(only).is_none() => {
            Ok(Source::Json(only.clone()))
        }
        _ => {
            reader.distinct(behind)?;
            reader.named(words).map(Source::Json)
        }
    }
}

/// Whether a word gives one argument by its name.
fn is_named(word: &str) -> bool {
    let is_json = word.trim_start().starts_with(['{', '[', '"']);
    word.starts_with("--") || word.contains('=') && !is_json
}

/// The form of a call, as it is written on the command line.
pub(super) fn form(tool: ToolInfo<'_>) -> String {
    let reader = Reader { tool };
    let schema = tool.input_schema();
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let mut words = vec!["call".to_owned(), tool.name().to_owned()];
    let properties = schema["properties"].as_object().into_iter().flatten();
    let (first, last): (Vec<_>, Vec<_>) = properties.partition(|(name, _)| is_required(name));
    words.extend(first.iter().map(|(name, schema)| reader.form(name, schema)));
    words.extend(
        last.iter()
            .map(|(name, schema)| format!("[{}]", reader.form(name, schema))),
    );
    words.join(" ")
}

struct Reader<'t> {
    tool: ToolInfo<'t>,
}

impl<'t> Reader<'t> {
    fn schema(&self) -> &'t Value {
        self.tool.input_schema()
    }

    fn refused(&self, problem: String) -> CommandError {
        let forms = vec![form(self.tool)];
        CommandError::Arguments { problem, forms }
    }

    /// Refuses an option that may be meant as an argument; beside JSON it cannot be.
    fn distinct(&self, options: &[CallOption]) -> Result<(), CommandError> {
        let Some(&(option, value)) = options.iter().find(|(option, _)| self.knows(option)) else {
            return Ok(());
        };
        let property = self.property(option);
        let mut forms = vec![self.form(option, property)];
        match self.shape(option).placeholder() {
            _ if self.shape(option).only() == Some(Kind::Boolean) => {
                forms.push(format!("-- --{option}"));
            }
            Some(value) => forms.push(format!("-- --{option} {value}")),
            None => {}
        }
        Err(CommandError::OptionOrArgument {
            option,
            value,
            tool: self.tool.name().to_owned(),
            forms,
        })
    }

    /// The arguments as one JSON object.
    fn named(&self, words: &[String]) -> Result<String, CommandError> {
        let mut all: Vec<(String, Vec<Given>)> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, given) = self.one(word, &mut words)?;
            match all.iter_mut().find(|(other, _)| *other == name) {
                Some((_, earlier)) => earlier.push(given),
                None => all.push((name, vec![given])),
            }
        }
        let members: Result<Vec<_>, _> = all
            .into_iter()
            .map(|(name, given)| Ok(format!("{}:{}", json!(name), self.value(&name, &given)?)))
            .collect();
        members.map(|members: Vec<String>| format!("{{{}}}", members.join(",")))
    }

    /// One argument, which may take the next word too.
    fn one<'w>(
        &self,
        word: &str,
        next: &mut (impl Iterator<Item = &'w String> + Clone),
    ) -> Result<(String, Given), CommandError> {
        if let Some(flag) = word.strip_prefix("--") {
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (self.name(name)?, Some(value.to_owned())),
                None => (self.name(flag)?, None),
            };
            if let Some(value) = value {
                return Ok((name, Given::Word(value)));
            }
            if self.shape(&name).only() == Some(Kind::Boolean) {
                return match next.clone().next().map(String::as_str) {
                    Some(value @ ("true" | "false")) => Err(CommandError::Arguments {
                        problem: format!("`{value}` behind `--{flag}` has no name"),
                        forms: vec![format!("--{flag}={value}")],
                    }),
                    _ => Ok((name, Given::Nothing)),
                };
            }
            return match next.clone().next().filter(|word| !word.starts_with("--")) {
                Some(value) => {
                    next.next();
                    Ok((name, Given::Word(value.clone())))
                }
                None => Err(CommandError::Arguments {
                    problem: format!("`--{flag}` has no value"),
                    forms: vec![self.form(&name, self.property(&name))],
                }),
            };
        }
        let Some((name, value)) = word.split_once('=') else {
            return Err(self.nameless(word));
        };
        match name.strip_suffix(':') {
            Some(json) if !self.knows(name) => {
                Ok((self.name(json)?, Given::Json(value.to_owned())))
            }
            _ => Ok((self.name(name)?, Given::Word(value.to_owned()))),
        }
    }

    /// What is wrong with a word that gives no argument by its name.
    fn nameless(&self, word: &str) -> CommandError {
        if let Some(name) = self.forgotten(word) {
            return CommandError::Arguments {
                problem: format!("`{word}` has no value"),
                forms: vec![self.form(&name, self.property(&name))],
            };
        }
        let whole = match word.trim_start() {
            "-" => "`-`",
            file if file.starts_with('@') => "`@FILE`",
            json if json.starts_with(['{', '[', '"']) => "JSON",
            // It may be a part of a secret.
            _ if self.tool.has_secrets() => {
                return self.refused("an argument has no name".to_owned());
            }
            _ => return self.refused(format!("`{word}` has no name")),
        };
        self.refused(format!(
            "{whole} gives all arguments, so no other can stand beside it"
        ))
    }

    /// The argument whose name this word is, without the `=` behind it, or behind one hyphen.
    fn forgotten(&self, word: &str) -> Option<String> {
        let name = word.strip_prefix('-').unwrap_or(word);
        self.known(name)
    }

    /// The name of an argument; `start-at` is `start_at` where nothing else is.
    fn name(&self, written: &str) -> Result<String, CommandError> {
        if let Some(name) = self.known(written) {
            return Ok(name);
        }
        let is_open = self.schema()["additionalProperties"] != json!(false);
        if is_open && !written.is_empty() {
            return Ok(written.to_owned());
        }
        let names = self.schema()["properties"].as_object().into_iter();
        let names = names.flat_map(Map::keys).map(String::as_str);
        let hint = nearest(written, names).map(|near| format!("; did you mean `{near}`?"));
        let (tool, hint) = (self.tool.name(), hint.unwrap_or_default());
        Err(self.refused(format!("`{tool}` has no argument `{written}`{hint}")))
    }

    fn known(&self, written: &str) -> Option<String> {
        let mut names = [written.to_owned(), written.replace('-', "_")].into_iter();
        names.find(|name| self.knows(name))
    }

    fn knows(&self, name: &str) -> bool {
        self.schema()["properties"].get(name).is_some()
    }

    fn property(&self, name: &str) -> &'t Value {
        let schema = self.schema();
        let others = &schema["additionalProperties"];
        schema["properties"].get(name).unwrap_or(others)
    }

    fn shape(&self, name: &str) -> Shape<'t> {
        Shape::new(self.property(name), self.schema())
    }

    /// How one argument is written.
    fn form(&self, name: &str, schema: &Value) -> String {
        match Shape::new(schema, self.schema()).placeholder() {
            Some(value) => format!("{name}={value}"),
            None => as_json(name, &sample(schema, self.schema()).to_string()),
        }
    }

    /// The JSON of one argument.
    fn value(&self, name: &str, given: &[Given]) -> Result<String, CommandError> {
        let shape = self.shape(name);
        match given {
            [one] => self.element(name, one, &shape, str::to_owned),
            several if shape.has(Kind::List) => {
                let item = shape.item();
                let one_of = |json: &str| format!("[{json}, ..]");
                let elements = several.iter();
                let elements = elements.map(|one| self.element(name, one, &item, one_of));
                let elements: Vec<_> = elements.collect::<Result<_, _>>()?;
                Ok(format!("[{}]", elements.join(",")))
            }
            _ => Err(self.refused(format!("`{name}` is given {} times", given.len()))),
        }
    }

    /// The JSON of one value, or of one element of a list; `whole` makes of it what the argument is.
    fn element(
        &self,
        name: &str,
        given: &Given,
        shape: &Shape<'_>,
        whole: impl Fn(&str) -> String,
    ) -> Result<String, CommandError> {
        let shown = |word: &str| {
            let word = if self.tool.is_secret(name) {
                ".."
            } else {
                word
            };
            format!("`{name}={word}`")
        };
        match given {
            Given::Nothing => Ok("true".to_owned()),
            Given::Json(text) => match serde_json::from_str::<&RawValue>(text) {
                Ok(value) => Ok(value.get().to_owned()),
                Err(error) => Err(CommandError::Arguments {
                    problem: format!("the value of `{name}:=` is not JSON: {error}"),
                    forms: vec![as_json(
                        name,
                        &sample(self.property(name), self.schema()).to_string(),
                    )],
                }),
            },
            Given::Word(word) => match self.fitting(name, readings(word, shape), &whole).as_slice()
            {
                [only] => Ok(only.clone()),
                // Not one of the listed texts: the registry says which there are.
                [] if shape.only() == Some(Kind::Text) => Ok(json!(word).to_string()),
                [] => Err(CommandError::Arguments {
                    problem: format!("cannot read {} by the schema", shown(word)),
                    forms: vec![self.form(name, self.property(name))],
                }),
                several => Err(CommandError::Arguments {
                    problem: format!("{} can be read in {} ways", shown(word), several.len()),
                    forms: if self.tool.is_secret(name) {
                        vec![as_json(name, "..")]
                    } else {
                        several
                            .iter()
                            .map(|json| as_json(name, &whole(json)))
                            .collect()
                    },
                }),
            },
        }
    }

    /// Those of several readings that the schema accepts; all, if it accepts none.
    fn fitting(
        &self,
        name: &str,
        all: Vec<String>,
        whole: &impl Fn(&str) -> String,
    ) -> Vec<String> {
        if all.len() < 2 {
            return all;
        }
        let mut schema = self.property(name).clone();
        if let (Some(schema), Some(types)) = (schema.as_object_mut(), self.schema().get("$defs")) {
            schema.insert("$defs".to_owned(), types.clone());
        }
        let Ok(validator) = Validator::of_value(schema) else {
            return all;
        };
        let fits = |json: &&String| validator.check(&whole(json)).is_ok();
        let fitting: Vec<_> = all.iter().filter(fits).cloned().collect();
        if fitting.is_empty() { all } else { fitting }
    }
}

/// An argument as JSON, with quotes for a shell.
fn as_json(name: &str, json: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-+._,:".contains(letter);
    if json.chars().all(is_plain) {
        format!("{name}:={json}")
    } else {
        format!("{name}:='{}'", json.replace('\'', r"'\''"))
    }
}

/// All values that a word can be written for, as JSON.
fn readings(word: &str, shape: &Shape<'_>) -> Vec<String> {
    let mut all = Vec::new();
    if shape.allows(word) {
        all.push(json!(word).to_string());
    }
    let simple = (shape.has(Kind::Boolean) && ["true", "false"].contains(&word))
        || (shape.has(Kind::Null) && word == "null")
        || (shape.has(Kind::Number)
            && word.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && is_json(word))
        || (shape.has(Kind::Object) && word.starts_with('{') && is_json(word))
        || (shape.has(Kind::List) && word.starts_with('[') && is_json(word));
    if simple {
        all.push(word.to_owned());
    }
    // Without brackets, what may be a text as well is not a list.
    if shape.has(Kind::List) && !shape.has(Kind::Text) {
        for list in lists(word, &shape.item()) {
            if !all.contains(&list) {
                all.push(list);
            }
        }
    }
    all
}

/// The lists that a word can be written for without brackets: of one element, or of several with commas between them.
fn lists(word: &str, item: &Shape<'_>) -> Vec<String> {
    // A list of lists has brackets; also, a type may be a list of itself.
    if item.has(Kind::List) {
        return Vec::new();
    }
    let one = readings(word, item).into_iter();
    let mut all: Vec<_> = one.map(|one| format!("[{one}]")).collect();
    if !word.contains(',') || item.has(Kind::Object) {
        return all;
    }
    let parts = word.split(',').map(|part| {
        // A text keeps its spaces.
        let part = if item.has(Kind::Text) {
            part
        } else {
            part.trim()
        };
        readings(part, item)
    });
    let parts: Vec<_> = parts.collect();
    let joined = |choose: fn(&[String]) -> Option<&String>| {
        let chosen: Option<Vec<_>> = parts.iter().map(|part| choose(part).cloned()).collect();
        chosen.map(|chosen| format!("[{}]", chosen.join(",")))
    };
    for list in [joined(<[String]>::first), joined(<[String]>::last)] {
        all.extend(list.filter(|list| !all.contains(list)));
    }
    all
}

fn is_json(word: &str) -> bool {
    let value = serde_json::from_str::<&RawValue>(word);
    value.is_ok_and(|value| value.get().len() == word.len())
}
