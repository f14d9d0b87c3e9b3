//! The arguments of a call: a parser that is built from the schema of the tool, and how the schema reads what it was given.
//!
//! clap reads `--city Oslo`, and `city=Oslo` is read as `--city=Oslo`. Each text is then read by the schema of its argument: of the
//! JSON values that it can be written for, those count that the schema accepts. Exactly one is taken; none or several are refused,
//! with the JSON that says it.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use contract_runtime::{ToolInfo, Validator};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{CommandError, terminal_escape};

/// Where the arguments are.
pub(super) enum Source {
    /// As JSON text, whether it was given so or read from words.
    Json(String),
    /// In a file; `-` is standard input.
    File(PathBuf),
}

/// The texts that words give, each with the name of its argument if it stands behind one, in the order of the words.
type Texts = Vec<(Option<String>, String)>;

/// The text that was given for an argument.
enum Given {
    Word(String),
    /// Behind `:=`.
    Json(String),
}

/// The id of every argument that begins with the name of a tool.
pub(super) const TOOL: &str = "name-of-a-tool";

/// The id of the words that are not options. No argument has it, because clap separates names and values at `=`.
const WORDS: &str = "words=";

static ANY: Value = Value::Bool(true);

/// The arguments of one tool on the command line.
pub(super) struct Reader<'t> {
    tool: ToolInfo<'t>,
    schema: &'t Value,
}

impl<'t> Reader<'t> {
    pub(super) fn new(tool: ToolInfo<'t>) -> Self {
        let schema = tool.input_schema();
        Self { tool, schema }
    }

    /// Adds the arguments of the tool to a command; those that have the name of one of its options stay out. If the tool takes
    /// arguments that its schema does not name, those that `words` name are added as well.
    pub(super) fn command(&self, options: Command, words: &[String]) -> Command {
        let of_schema = self.properties().map(|(name, _)| name.as_str());
        let is_open = self.schema["additionalProperties"] != json!(false);
        let others = words.iter().filter(|_| is_open).map(|word| {
            let name = word.split_once('=').map_or(&**word, |(name, _)| name);
            name.trim_start_matches("--").trim_end_matches(':')
        });
        let about = terminal_escape::text(self.tool.description());
        let mut command = options.about(about);
        for name in of_schema.chain(others) {
            let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
            let can_be_written = !name.starts_with('-') && name.chars().all(is_plain);
            if name.is_empty() || !can_be_written || is_taken(&command, name) {
                continue;
            }
            let (arg, hyphens) = (self.arg(name), name.replace('_', "-"));
            let is_other = self.known(&hyphens) != Some(name) || is_taken(&command, &hyphens);
            command = command.arg(if is_other { arg } else { arg.alias(hyphens) });
        }
        command
    }

    fn arg(&self, name: &str) -> Arg {
        let schema = self.property(name);
        let help = schema["description"].as_str().unwrap_or_default();
        let value = self.shape(name).placeholder();
        let arg = Arg::new(name.to_owned())
            .long(name.to_owned())
            .action(ArgAction::Append)
            .help(terminal_escape::text(help))
            .help_heading(format!("Arguments of {}", self.tool.name()))
            .value_name(terminal_escape::text(value.as_deref().unwrap_or("JSON")));
        if self.shape(name).is_boolean() {
            arg.num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
        } else {
            arg.allow_negative_numbers(true)
        }
    }

    /// Reads the words behind the name of the tool. `options` is the command without the arguments of the tool; its matches are
    /// returned as well.
    pub(super) fn read(
        &self,
        options: &Command,
        words: &[String],
    ) -> Result<(ArgMatches, Source), CommandError> {
        // Behind `--` there are no options of `call`.
        let end = words.iter().position(|word| word == "--");
        let (words, behind) = match end {
            Some(end) => (&words[..end], &words[end + 1..]),
            None => (words, &[][..]),
        };
        let (matches, mut given) = self.parse(options.clone(), words)?;
        let alone = Command::new("call").disable_help_flag(true);
        let alone = alone.override_usage(self.form());
        given.extend(self.parse(alone.clone(), behind)?.1);
        if let [(None, whole)] = &*given
            && let Some(source) = self.whole(whole)
        {
            return Ok((matches, source));
        }
        self.distinct(options, &matches)?;
        let mut all: Vec<(String, Vec<Given>)> = Vec::new();
        for (name, text) in given {
            let (name, given) = match name {
                Some(name) => (name, Given::Word(text)),
                None => self.named(&alone, &text)?,
            };
            match all.iter_mut().find(|(other, _)| *other == name) {
                Some((_, earlier)) => earlier.push(given),
                None => all.push((name, vec![given])),
            }
        }
        let members = all.iter().map(|(name, given)| {
            let value = self.value(name, given)?;
            Ok(format!("{}:{value}", json!(name)))
        });
        let members: Vec<_> = members.collect::<Result<_, CommandError>>()?;
        Ok((matches, Source::Json(format!("{{{}}}", members.join(",")))))
    }

    /// Parses words.
    fn parse(
        &self,
        options: Command,
        words: &[String],
    ) -> Result<(ArgMatches, Texts), CommandError> {
        let count = options.get_arguments().count();
        let others = Arg::new(WORDS).action(ArgAction::Append).hide(true);
        let command = self.command(options, words).arg(others);
        let ids = command.get_arguments().skip(count);
        let ids: Vec<_> = ids.map(|arg| arg.get_id().to_string()).collect();
        let matches = command.no_binary_name(true).try_get_matches_from(words);
        let matches = matches.map_err(CommandError::Usage)?;
        let mut given = Vec::new();
        for id in ids {
            let indices = matches.indices_of(&id).into_iter().flatten();
            let values = matches.get_many::<String>(&id).into_iter().flatten();
            let name = Some(id.clone()).filter(|id| id != WORDS);
            let texts = values.map(|text| (name.clone(), text.clone()));
            given.extend(indices.zip(texts));
        }
        given.sort_by_key(|(index, _)| *index);
        Ok((matches, given.into_iter().map(|(_, text)| text).collect()))
    }

    /// All arguments at once, if this word, which stands alone, gives them.
    fn whole(&self, word: &str) -> Option<Source> {
        if let Some(path) = word.strip_prefix('@') {
            return Some(Source::File(path.into()));
        }
        if word == "-" {
            return Some(Source::File(word.into()));
        }
        let is_named = word.contains('=') && !is_json_like(word) || self.known(word).is_some();
        (!is_named).then(|| Source::Json(word.to_owned()))
    }

    /// Reads `name=text` or `name:=json`.
    fn named(&self, alone: &Command, word: &str) -> Result<(String, Given), CommandError> {
        let Some((name, text)) = word.split_once('=').filter(|_| !is_json_like(word)) else {
            return Err(self.nameless(word));
        };
        let json = name.strip_suffix(':');
        let option = format!("--{}={text}", json.unwrap_or(name));
        let Some((Some(name), text)) = self.parse(alone.clone(), &[option])?.1.pop() else {
            return Err(self.nameless(word));
        };
        if json.is_none() {
            return Ok((name, Given::Word(text)));
        }
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(_) => Ok((name, Given::Json(text))),
            Err(error) => Err(CommandError::Arguments {
                problem: format!("the value of `{name}:=` is not JSON: {error}"),
                forms: vec![format!("{name}:=JSON")],
            }),
        }
    }

    /// What is wrong with a word that gives no argument by its name. It is not repeated, because it may be a part of a secret.
    fn nameless(&self, word: &str) -> CommandError {
        let Some(name) = self.known(word) else {
            let problem = "a word without a name gives all arguments, so it must stand alone";
            return self.refused(problem.to_owned());
        };
        CommandError::Arguments {
            problem: format!("`{word}` has no value"),
            forms: vec![self.form_of(name)],
        }
    }

    /// Refuses an option that may be meant as an argument.
    fn distinct(&self, options: &Command, matches: &ArgMatches) -> Result<(), CommandError> {
        let ids = options.get_arguments().map(|arg| arg.get_id().as_str());
        let mut known = ids.filter(|id| self.known(id).is_some());
        let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(option) = known.find(is_given) else {
            return Ok(());
        };
        let tool = self.tool.name();
        let problem = format!(
            "`--{option}` is an argument of `{tool}` and an option of `call`, which belongs before `{tool}`"
        );
        let forms = vec![self.form_of(option)];
        Err(CommandError::Arguments { problem, forms })
    }

    fn refused(&self, problem: String) -> CommandError {
        let forms = vec![self.form()];
        CommandError::Arguments { problem, forms }
    }

    fn properties(&self) -> impl Iterator<Item = (&'t String, &'t Value)> + use<'t> {
        let properties = self.schema["properties"].as_object();
        properties.into_iter().flat_map(Map::iter)
    }

    /// The name of an argument; `start-at` is `start_at` if nothing else is.
    fn known(&self, written: &str) -> Option<&'t str> {
        let find = |name: &str| self.properties().find(|(known, _)| *known == name);
        let found = find(written).or_else(|| find(&written.replace('-', "_")));
        found.map(|(name, _)| name.as_str())
    }

    fn property(&self, name: &str) -> &'t Value {
        let named = self.schema["properties"].get(name);
        named
            .or_else(|| self.schema.get("additionalProperties"))
            .unwrap_or(&ANY)
    }

    fn shape(&self, name: &str) -> Shape<'t> {
        Shape::new(self.property(name), self.schema)
    }

    /// The form of a call, as it is written on the command line.
    pub(super) fn form(&self) -> String {
        let required = self.schema["required"].as_array();
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let names = self.properties().map(|(name, _)| &**name);
        let (first, last): (Vec<_>, Vec<_>) = names.partition(|name| is_required(name));
        let first = first.into_iter().map(|name| self.form_of(name));
        let last = last
            .into_iter()
            .map(|name| format!("[{}]", self.form_of(name)));
        let words = ["call".to_owned(), self.tool.name().to_owned()];
        let words: Vec<_> = words.into_iter().chain(first).chain(last).collect();
        words.join(" ")
    }

    /// How one argument is written.
    fn form_of(&self, name: &str) -> String {
        match self.shape(name).placeholder() {
            Some(value) => format!("{name}={value}"),
            None => format!("{name}:=JSON"),
        }
    }

    /// The JSON of one argument.
    fn value(&self, name: &str, given: &[Given]) -> Result<String, CommandError> {
        let (alone, mut lists) = match given {
            [Given::Json(text)] => return Ok(text.clone()),
            // Without brackets: a list of one element, or of several with commas between them.
            [Given::Word(word)] => {
                let parts: Vec<_> = word.split(',').map(elements).collect();
                (
                    readings(word),
                    [lists(&[elements(word)]), lists(&parts)].concat(),
                )
            }
            several => {
                let several = several.iter().map(|one| match one {
                    Given::Word(word) => elements(word),
                    Given::Json(text) => vec![text.clone()],
                });
                (Vec::new(), lists(&several.collect::<Vec<_>>()).to_vec())
            }
        };
        lists.dedup();
        let shown = match given {
            [Given::Word(_)] if self.tool.is_secret(name) => format!("`{name}=..`"),
            [Given::Word(word)] => format!("`{name}={word}`"),
            _ => format!("`{name}`"),
        };
        let (judge, shape) = (self.judge(name), self.shape(name));
        let is_accepted = |json: &str| judge.as_ref().is_some_and(|one| one.check(json).is_ok());
        // What has the right type is left to the registry, which says what else is wrong with it.
        let has_type = |json: &str| shape.has_type_of(json);
        for fits in [&is_accepted as &dyn Fn(&str) -> bool, &has_type] {
            let mut all: Vec<_> = alone.iter().filter(|json| fits(json)).collect();
            // Without brackets, what may be a text as well is not a list.
            if !all.iter().any(|json| json.starts_with('"')) {
                all.extend(lists.iter().filter(|json| fits(json)));
            }
            let forms = match &*all {
                [] => continue,
                [only] => return Ok((*only).clone()),
                _ if self.tool.is_secret(name) => vec![as_json(name, "..")],
                several => several.iter().map(|json| as_json(name, json)).collect(),
            };
            return Err(CommandError::Arguments {
                problem: format!("{shown} can be read in {} ways", all.len()),
                forms,
            });
        }
        if given.len() > 1 {
            return Err(self.refused(format!("{shown} is given {} times", given.len())));
        }
        Err(CommandError::Arguments {
            problem: format!("cannot read {shown} by the schema"),
            forms: vec![self.form_of(name)],
        })
    }

    /// The judge of the values of an argument; `None` for a schema that cannot be judged.
    fn judge(&self, name: &str) -> Option<Validator> {
        let mut schema = self.property(name).clone();
        if let (Some(schema), Some(types)) = (schema.as_object_mut(), self.schema.get("$defs")) {
            schema.insert("$defs".to_owned(), types.clone());
        }
        Validator::of_value(schema).ok()
    }
}

/// Whether a command has an option of this name.
fn is_taken(command: &Command, name: &str) -> bool {
    let has_help = name == "help" && !command.is_disable_help_flag_set();
    let mut args = command.get_arguments();
    let is_it = |arg: &Arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long() == Some(name) || aliases.contains(&name)
    };
    has_help || args.any(is_it)
}

/// The values that a word can be written for: its text and, except for a text in quotation marks, its JSON.
fn readings(word: &str) -> Vec<String> {
    let text = json!(word).to_string();
    let json = serde_json::from_str::<&RawValue>(word).ok();
    let json = json
        .map(RawValue::get)
        .filter(|json| !json.starts_with('"'));
    std::iter::once(text)
        .chain(json.map(str::to_owned))
        .collect()
}

/// What a word can be as an element of a list; a list in a list needs brackets around both.
fn elements(word: &str) -> Vec<String> {
    let mut all = readings(word);
    all.retain(|json| !json.starts_with('['));
    all
}

/// The lists of these elements: each as a text, and each as JSON if it can be that.
fn lists(elements: &[Vec<String>]) -> [String; 2] {
    let joined = |choose: fn(&[String]) -> Option<&String>| {
        let chosen = elements.iter().filter_map(|one| choose(one));
        let chosen: Vec<_> = chosen.map(String::as_str).collect();
        format!("[{}]", chosen.join(","))
    };
    [joined(<[_]>::first), joined(<[_]>::last)]
}

/// Whether a word begins as JSON does, so that `=` in it separates no name.
fn is_json_like(word: &str) -> bool {
    word.trim_start().starts_with(['{', '[', '"'])
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

/// How deep references and unions are followed; a type may contain itself.
const DEPTH: usize = 16;

/// The most texts of an enum that are listed.
const LISTED: usize = 8;

/// The form of the values of a schema.
#[derive(Clone, Copy)]
struct Shape<'s> {
    /// The schema behind references, and beside `null`.
    schema: &'s Value,
    root: &'s Value,
}

impl<'s> Shape<'s> {
    /// Reads a schema; its references are those of `root`.
    fn new(schema: &'s Value, root: &'s Value) -> Self {
        let mut resolved = schema;
        for _ in 0..DEPTH {
            let mut parts = parts(resolved).filter(|part| part["type"] != "null");
            resolved = match (reference(resolved, root), parts.next(), parts.next()) {
                (Some(target), ..) => target,
                (None, Some(only), None) if resolved["type"].is_null() => only,
                _ => break,
            };
        }
        Self {
            schema: resolved,
            root,
        }
    }

    fn at(self, schema: &'s Value) -> Self {
        Self::new(schema, self.root)
    }

    /// Its type besides `null`, if there is one.
    fn kind(self) -> Option<&'s str> {
        let named = &self.schema["type"];
        let several = named.as_array().into_iter().flatten();
        let mut kinds = several
            .chain([named])
            .filter_map(Value::as_str)
            .filter(|kind| *kind != "null");
        kinds.next().filter(|_| kinds.next().is_none())
    }

    fn is_boolean(self) -> bool {
        self.kind() == Some("boolean")
    }

    /// Whether a value has the type, and so do the elements of a list.
    fn has_type_of(self, json: &str) -> bool {
        let kind = self.kind().or_else(|| self.texts().map(|_| "string"));
        match (kind, json.as_bytes().first()) {
            (Some("array"), Some(b'[')) => {
                let items: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
                let item = self.at(self.schema.get("items").unwrap_or(&ANY));
                items.iter().all(|one| item.has_type_of(one.get()))
            }
            (None, _)
            | (Some("string"), Some(b'"'))
            | (Some("boolean"), Some(b't' | b'f'))
            | (Some("number" | "integer"), Some(b'-' | b'0'..=b'9'))
            | (Some("object"), Some(b'{')) => true,
            _ => false,
        }
    }

    /// All its values, if they are texts that the schema lists.
    fn texts(self) -> Option<Vec<&'s str>> {
        let listed = self.schema["enum"].as_array().into_iter().flatten();
        let listed = listed.chain(self.schema.get("const"));
        let listed = listed
            .filter(|value| !value.is_null())
            .map(|value| Some(vec![value.as_str()?]));
        let parts = parts(self.schema).filter(|part| part["type"] != "null");
        let all = listed.chain(parts.map(|part| self.at(part).texts()));
        let all = all.collect::<Option<Vec<_>>>()?.concat();
        (!all.is_empty()).then_some(all)
    }

    /// What stands for a value in the form of a call, if it can be given without JSON.
    fn placeholder(self) -> Option<String> {
        if let Some(texts) = self.texts().filter(|texts| texts.len() <= LISTED) {
            return Some(texts.join("|"));
        }
        let word = match self.kind()? {
            "string" => "TEXT",
            "number" | "integer" => "NUMBER",
            "boolean" => "true|false",
            "array" => {
                let item = self.at(&self.schema["items"]);
                let one = item
                    .placeholder()
                    .filter(|_| item.kind() != Some("array"))?;
                let has_comma = one == "TEXT" || one.contains(',');
                return Some(format!("{one}{}", if has_comma { " ..." } else { ",..." }));
            }
            _ => return None,
        };
        Some(word.to_owned())
    }
}

/// The schemas of a union or an intersection.
fn parts(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf", "allOf"].into_iter();
    lists.filter_map(|key| schema[key].as_array()).flatten()
}

fn reference<'s>(schema: &Value, root: &'s Value) -> Option<&'s Value> {
    root.pointer(schema["$ref"].as_str()?.strip_prefix('#')?)
}
