#!/usr/bin/env python3
"""Changes one thing at a time in the contracts and bodies of the examples, and wants `verify` to notice each change.

What is changed: bounds, numbers, comparisons, logic and arithmetic, in conditions, in bodies and in the constants that they
name; and whole preconditions are left out. A promise that is left out is no mutant: nothing can break it, and only the frozen
manifest shows that it was there.

All mutants are modules of one crate below target/mutants, each beside the tool it was made from, so that there is one build. The
boundaries of each original are recorded, as `UPDATE_CONTRACTS=1 cargo test` does; then each mutant is held to them. `verify`
notices a mutant when it finds other problems than of the original. Whether the manifest differs is counted beside it.

`.ci/nightly.d/mutants.py 12` tries every twelfth of them, `.ci/nightly.d/mutants.py 1 read_file` those of one tool, and
`.ci/nightly.d/mutants.py 1 bank,agent` those of two examples. Those of the airline are tried by name alone.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / ".ci/judges"))
sys.dont_write_bytecode = True
import mutants_applications as applications
from mutants_beyond_reach import BEYOND_REACH

HOME = ROOT / "target" / "mutants"
STEP = int(sys.argv[1]) if len(sys.argv) > 1 else 1
ONLY = sys.argv[2].split(",") if len(sys.argv) > 2 else None

# Inputs that chance does not meet, because files must be there: kept beside the boundaries, as an author would keep them.
KEPT = {"read_file": [{"path": "a", "first_line": 2}, {"path": "a", "first_line": 2, "first_column": 2}]} | applications.KEPT

CHANGES = {
    ">=": ">", ">": ">=", "<=": "<", "<": "<=", "==": "!=", "!=": "==",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*", "%": "/",
    "true": "false", "false": "true", ".min(": ".max(", ".max(": ".min(", ".any(": ".all(", ".all(": ".any(", "!": "",
}
OPERATORS = re.compile(
    r"(?<=[\w)\]] )(?:>=|<=|==|!=|>|<|&&|\|\||[-+*/%])(?= )"
    r"|\b(?:true|false)\b|\.(?:min|max|any|all)\(|(?<!\w)!(?=[\w(])"
)
NUMBERS = re.compile(r"(?<![\w.])(?:\d+\.\d+|\d[\d_]*)(?![\w]|\.\d)")
CONSTANTS = re.compile(r"^((?:pub(?:\(\w+\))? )?const (\w+): \w+ = (\d[\d_]*);)", re.M)
LITERALS = re.compile(r"r(#*)\".*?\"\1|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|//[^\n]*", re.S)


class Source:
    """A module with tools: where it stands, its text, and what its tools need."""

    def __init__(self, path, text, given="builder", mode="bodies", own=None):
        self.path, self.text, self.given = path, text, given
        # `checks` runs no body, `bodies` all of them, `strict` notices what is left out too, and `few` makes fewer calls.
        self.mode = mode
        # Its tools, where they are not found by their form.
        self.own = own
        self.module = "::".join(part for part in path.removesuffix(".rs").split("/") if part != "mod")

    def items(self):
        """The tools, each with its comment; methods with their state. As name, text, registration and setup."""
        if self.own is not None:
            yield from self.own
            return
        for found in re.finditer(r"(?:^///.*\n)+^#\[tool\b(?:(?!^\}).*\n)*^(?:pub )?(?:async )?fn (\w+)(?:.*\n)*?^(?:.*\{\}|\})$", self.text, re.M):
            yield found.group(1), found.group() + "\n", f".tool({found.group(1)})", "None"
        for found in re.finditer(r"^#\[derive\(Default\)\]\n(?:pub\(crate\) )?struct (\w+)\((?:.*\n)*?^#\[tool\]\nimpl (?:.*\n)*?^\}\n", self.text, re.M):
            setup = re.search(r"fn (\w+)\(builder: Builder\)", found.group()).group(1)
            state = found.group(1)
            yield state, found.group(), f".with({state}::default())", f"Some({setup})"


def quickstart():
    text = (ROOT / "examples/quickstart/src/tools.rs").read_text().replace("#[cfg(test)]\n", "")
    shelf = 'builder.context(Shelf::open().expect("the folder of this example"))'
    return [Source("quickstart.rs", text.replace('env!("CARGO_MANIFEST_DIR")', f'"{ROOT}/examples/quickstart"'), shelf)]


def readme():
    text = (ROOT / "README.md").read_text()
    return [Source("readme.rs", re.search(r"```rust\n(.*?)```", text, re.S).group(1))]


def right():
    text = (ROOT / "companions/verify/tests/itself/right.rs").read_text()
    text = text[: text.index("fn tools()")].replace("use super::verifier;\n", "")
    # A body that has come to wait for ever is run for five times its time.
    return [Source("right.rs", text.replace('timeout = "60s"', 'timeout = "5s"'))]


def toolkit():
    """Those tools of the toolkit that change nothing, in a folder of their own; the rest of it is only there to be used."""
    folder = ROOT / "examples/toolkit/src"
    sources = []
    for path in sorted(folder.rglob("*.rs")):
        name = str(path.relative_to(folder))
        if name == "main.rs":
            continue
        text = path.read_text().replace("crate::", "crate::toolkit::")
        text = re.sub(r"^(?:pub(?:\(\w+\))? )?mod (\w+);", r"pub mod \1;", text, flags=re.M)
        name = "toolkit/" + ("mod.rs" if name == "lib.rs" else name)
        given = 'builder.context(crate::toolkit::Workspace::new("ground").expect("a folder"))'
        sources.append(Source(name, text, given, mode="checks"))
    return sources


def crate(name, files):
    """Files of an example as a module, without tests of their own."""
    folder = ROOT / "examples" / name / "src"
    for file in files:
        text = (folder / f"{file}.rs").read_text().replace("crate::", f"crate::{name}::").replace("pub(crate) ", "pub ")
        yield Source(f"{name}/{file}.rs", without_header(text), own=[])


def without_header(text):
    return re.sub(r"^//!.*\n", "", text, flags=re.M)


def bank():
    text = without_header((ROOT / "examples/bank/src/lib.rs").read_text())
    text = text.replace("mod pool;\n", "").replace("pub use pool::PooledBank;\n", "")
    bank = ("Bank", text, '.with(Bank::in_memory().expect("a database"))', "None")
    return [Source("bank.rs", "", own=[bank], mode="strict")]


def agent():
    text = without_header((ROOT / "examples/agent/src/tools.rs").read_text()).replace("pub(crate) ", "pub ")
    own = []
    for name, item in applications.top_level(text).items():
        if "#[tool(" in item:
            helpers = applications.closure(applications.attributes(item), [text[text.index("fn is_source") :]])
            own.append((name, item + helpers, f".tool({name})", "None"))
    given = 'builder.context(Root("ground_of_agent".into()))'
    return [Source("agent.rs", text, given, own=own)]


def codegen():
    folder = ROOT / "examples/codegen/src"
    question = without_header((folder / "contract/question.rs").read_text())
    question = question[: question.index("    /// Whether this answers it.")] + "}\n"
    text = without_header((folder / "tools.rs").read_text())
    ask = text[text.index("/// Ask the user") : text.index("/// Builds the registry")]
    changes = (folder / "changes.rs").read_text()
    diff = applications.top_level(without_header(changes))["workspace_diff"]
    given = 'builder.context(Snapshots::new(std::path::Path::new("ground")).expect("a folder"))'
    return [
        Source("codegen/mod.rs", "pub mod ask;\npub mod changes;\n", own=[]),
        Source("codegen/ask.rs", "", own=[("ask_user", "use contract_runtime::prelude::*;\n" + question + ask, ".tool(ask_user)", "None")]),
        Source("codegen/changes.rs", without_header(changes), given, own=[("workspace_diff", diff, ".tool(workspace_diff)", "None")]),
    ]


AIRLINE = """
pub struct Airline(crate::airline::store::Airline);
impl std::ops::Deref for Airline {
    type Target = crate::airline::store::Airline;
    fn deref(&self) -> &Self::Target { &self.0 }
}
fn as_it_was(builder: contract_runtime::Builder) -> contract_runtime::Builder {
    builder.with(Airline(crate::airline::as_it_was()))
}
"""


def airline():
    """Each tool of the airline with those that its conditions name, over the small sample; their type is one of their own."""
    files = ["airports", "arithmetic", "data", "fares", "model", "policy", "store", "writes"]
    folder = ROOT / "examples/airline/src"
    path = f'"{ROOT}/examples/airline"'
    yield Source("airline/mod.rs", "".join(f"pub mod {file};\n" for file in files) + """pub mod tools;
pub fn as_it_was() -> store::Airline {
    static SAMPLE: std::sync::OnceLock<store::Airline> = std::sync::OnceLock::new();
    let sample = SAMPLE.get_or_init(|| {
        let data = data::read(&data::sample(), model::Edition::Second).expect("the sample");
        store::Airline::open(&data, model::Edition::Second).expect("a database")
    });
    sample.copy().expect("a database")
}
""", own=[])
    for source in crate("airline", files):
        source.text = source.text.replace('env!("CARGO_MANIFEST_DIR")', path)
        yield source
    tools = dict(applications.methods((folder / "tools.rs").read_text()))
    texts = [without_header((folder / f"{file}.rs").read_text()).replace("pub(crate) ", "pub ") for file in ("policy", "writes", "fares")]
    own = []
    for name, item in tools.items():
        above = applications.attributes(item)
        named = "".join(tools[other] for other in re.findall(r"Self::(\w+)", above) if other != name)
        helpers = applications.closure(re.sub(r"//.*", "", above), texts)
        block = f"#[tool]\nimpl Airline {{\n{item}{named}}}\n"
        own.append((name, AIRLINE + helpers + block, ".with(Airline(crate::airline::as_it_was()))", "Some(as_it_was)"))
    uses = "".join(f"use crate::airline::{file}::*;\n" for file in files)
    uses += "use contract_runtime::prelude::*;\nuse rusqlite::{Connection, Result};\nuse serde_json::{Map, Value};\nuse std::collections::BTreeMap;\n"
    yield Source("airline/tools.rs", uses, own=own, mode="few")


def masked(text):
    """The same without what stands in literals and comments."""
    return LITERALS.sub(lambda found: " " * len(found.group()), text)


def closing(text, start):
    """Behind the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place + 1
    return len(text)


def regions(text, silent=()):
    """What is changed: predicates without their messages, and bodies, but not those of silent functions. As kind, start, end."""
    plain = masked(text)
    taken = []
    for found in re.finditer(r"(#\[(pre|post)|contract_assert!)\(", plain):
        start, end = found.end(), closing(plain, found.end() - 1) - 1
        depth, bars = 0, 0
        for place in range(start, end):
            depth += (plain[place] in "([{") - (plain[place] in ")]}")
            bars += plain[place] == "|"
            if plain[place] == "," and depth == 0 and bars % 2 == 0:
                end = place
                break
        taken.append((start, end))
        yield found.group(2) or "assert", start, end
    for found in re.finditer(r"\bfn (\w+)(?:<.*?>)?\(", plain):
        if found.group(1) in silent:
            continue
        start = plain.find("{", closing(plain, found.end() - 1))
        begin = start
        for condition, end in sorted(taken) + [(closing(plain, start), 0)]:
            if start < condition < closing(plain, start) or end == 0:
                yield "body", begin, min(condition, closing(plain, start))
                begin = end


def mutants(name, text, constants, silent):
    """Every mutant of a tool: the line it is on, what is changed, the whole text."""
    plain = masked(text)

    def change(start, end, other):
        begin = text.rfind("\n", 0, start) + 1
        line = text[begin : text.find("\n", end)].strip()
        return line, f"`{text[start:end]}` at {start - begin} becomes `{other}`", text[:start] + other + text[end:]

    for kind, start, end in regions(text, silent):
        is_bound = kind == "pre"
        if is_bound:
            begin = text.rfind("#[", 0, start)
            whole = text[begin : closing(plain, begin + 1)]
            yield whole.split("\n")[0], "(dropped)", text[:begin] + text[begin + len(whole) :], is_bound
        for found in OPERATORS.finditer(plain, start, end):
            yield *change(found.start(), found.end(), CHANGES[found.group()]), is_bound
        for found in NUMBERS.finditer(plain, start, end):
            for other in changed_number(found.group()):
                yield *change(found.start(), found.end(), other), is_bound
    for whole, constant, value in constants:
        if re.search(rf"\b{constant}\b", plain):
            for other in changed_number(value):
                changed = whole.replace(f"= {value};", f"= {other};")
                changed = text.replace(whole, changed) if whole in text else changed + "\n" + text
                yield whole, f"`{value}` becomes `{other}`", changed, True


def changed_number(text):
    if "." in text:
        return [str(float(text) + 1), str(float(text) - 1)]
    number = int(text.replace("_", ""))
    return [str(other) for other in sorted({number + 1, max(number - 1, 0)} - {number})]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


shutil.rmtree(HOME / "src", ignore_errors=True)
shutil.rmtree(HOME / "boundaries", ignore_errors=True)
told, originals = [], []
# Those of a precondition, or of a constant that it may name.
bounds = set()
# At least this part of them must be noticed by `verify`, beyond reach or not.
SCORE = 0.95
position = 0
SOURCES = [*quickstart(), *readme(), *right(), *toolkit(), *bank(), *agent(), *codegen()]
# Only by name: each change takes a quarter of a minute, and what is beyond reach of them is not listed yet.
if ONLY is not None and "airline" in ONLY:
    SOURCES += airline()
for source in SOURCES:
    text = source.text
    constants = CONSTANTS.findall(text)
    for name, item, registration, setup in source.items():
        if ONLY is not None and name not in ONLY and source.module.split("::")[0] not in ONLY:
            continue
        silent = set()
        if source.own is not None:
            constants = CONSTANTS.findall(item)
            silent = applications.without_promise(item)
        if source.mode == "checks" and not re.search(r"^#\[tool\([^\]]*\bread_only\b", item, re.M):
            continue

        def module(called, body):
            return f"""
pub mod {called} {{
    use super::*;
    {body}
    pub fn all() -> contract_runtime::Builder {{
        let builder = contract_runtime::Registry::builder(){registration};
        {source.given}
    }}
    pub const SETUP: Option<fn(contract_runtime::Builder) -> contract_runtime::Builder> = {setup};
}}
"""
        original = f"{name}_0"
        made = []
        for line, what, mutant, is_bound in mutants(name, item, constants, silent):
            position += 1
            if position % STEP == 0:
                called = f"{name}_{len(made) + 1}"
                made.append((called, mutant))
                told.append((f"{source.module}::{called}", f"{source.module}::{original}", name, line, what, source.mode))
                bounds.update([told[-1][0]] if is_bound else [])
        if made:
            originals.append(f"{source.module}::{original}")
            source.text += module(original, item) + "".join(module(*one) for one in made)
    write(HOME / "src" / source.path, source.text)


def main(told):
    rows = "".join(
        f"        ({mutant!r}, {original!r}, ({original}::all as fn() -> _, {original}::SETUP), ({mutant}::all as fn() -> _, {mutant}::SETUP), {mode!r}),\n"
        for mutant, original, _, _, _, mode in told
    ).replace("'", '"')
    return """#![allow(warnings, clippy::all, reason = "mutants")]
""" + "".join(f"pub mod {module};\n" for module in sorted({source.module.split("::")[0] for source in SOURCES})) + """
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use contract_runtime::{Builder, BuildError, Registry};
use contract_verify::{Problem, Report, Skipped, Verifier};

type Setup = Option<fn(Builder) -> Builder>;
type Tools = (fn() -> Builder, Setup);

fn tried(registry: &Registry, original: &str, setup: Setup, mode: &str) -> BTreeSet<String> {
    let mut verifier = Verifier::new(registry.clone()).seed(1).boundaries(format!("boundaries/{}", original.replace(':', "_")));
    if let Some((_, name)) = original.rsplit_once("::") {
        // A copy, because what fails is added to it.
        let kept = format!("kept/{:?}/{name}.json", std::thread::current().id());
        let _ = std::fs::create_dir_all(std::path::Path::new(&kept).parent().expect("a folder"));
        if std::fs::copy(format!("kept/{name}.json"), &kept).is_ok() {
            verifier = verifier.regressions(kept);
        }
    }
    if mode != "checks" {
        verifier = verifier.run_bodies(true);
    }
    if mode == "few" {
        verifier = verifier.cases(60).sequences(30);
    }
    if let Some(setup) = setup {
        verifier = verifier.setup(setup);
    }
    let report: Report = verifier.run();
    let key = |problem: &Problem| {
        let fault = format!("{:?}", std::mem::discriminant(&problem.fault));
        // An assertion is named by its place, and a mutant has another.
        let clause = problem.clause.as_deref().and_then(|clause| clause.split('@').next());
        format!("{} {clause:?} {fault}", problem.tool)
    };
    let mut found: BTreeSet<String> = report.problems().map(key).collect();
    if mode == "strict" {
        let left_out = report.skipped().iter().filter(|one| !matches!(one, Skipped::Budget { .. }));
        found.extend(left_out.map(|one| format!("{one:?}")));
    }
    found
}

fn main() {
    let all: &[(&str, &str, Tools, Tools, &str)] = &[
""" + rows + """    ];
    let updates = std::env::var_os("UPDATE_CONTRACTS").is_some();
    let mut known = BTreeMap::new();
    for (_, name, (original, setup), _, mode) in all {
        known.entry(*name).or_insert_with(|| {
            let registry = original().build().expect("the original builds");
            let found = tried(&registry, name, *setup, mode);
            if !updates && !found.is_empty() {
                eprintln!("{name}, before any change: {found:?}");
            }
            (registry, found)
        });
    }
    if updates {
        return;
    }
    let next = Mutex::new(all.iter());
    let work = || loop {
        let Some((name, of, _, (mutant, setup), mode)) = next.lock().expect("no panic").next() else { break };
        let (before, found) = &known[of];
        // A mutant that is no registry any more is noticed by everybody.
        let noticed = match mutant().build() {
            Err(_) => "built",
            Ok(registry) => {
                let noticed = tried(&registry, of, *setup, mode) != *found;
                let manifest = |registry: &Registry| registry.manifest().without_locations().to_json();
                match (noticed, manifest(&registry) != manifest(before)) {
                    (true, true) => "verify,manifest",
                    (true, false) => "verify",
                    (false, true) => "manifest",
                    (false, false) => "nobody",
                }
            }
        };
        println!("{name} {noticed}");
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}
"""


write(HOME / "src/main.rs", main(told))


def part(path, begin, end):
    text = (ROOT / path).read_text()
    return text[text.index(begin) : text.index(end)]


def dependency(example, name):
    text = (ROOT / f"examples/{example}/Cargo.toml").read_text()
    return re.search(rf"^{name} = .*\n", text, re.M).group()


# The versions and the profile of the workspace, so that what it built is used again.
write(HOME / "Cargo.toml", """[package]
name = "mutants"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

""" + part("Cargo.toml", "[workspace.dependencies]", "[workspace.lints").replace('path = "', f'path = "{ROOT}/')
    + part("Cargo.toml", "[profile.dev", "[profile.bench")
    + part("examples/toolkit/Cargo.toml", "[dependencies]", "[dev-dependencies]").replace("contract-program", "contract-verify")
    + "".join(dependency(*one) for one in [("airline", "rusqlite"), ("codegen", "blake3"), ("codegen", "similar")]))
shutil.copy(ROOT / "Cargo.lock", HOME / "Cargo.lock")
# What the tools of the toolkit read: names that inputs by chance have too.
ground = HOME / "ground"
shutil.rmtree(ground, ignore_errors=True)
write(ground / "a", "a" * 20 + "\ntwo\na\n")
write(ground / "aa/a", "a\n" * 80)
write(ground / "aa/b/c/d", "a")
agents = HOME / "ground_of_agent"
shutil.rmtree(agents, ignore_errors=True)
for path in ("a.a", "b.x", "aa/c.a", "aa/b", "target/d.a", ".a/e.a"):
    write(agents / path, "a\n" * 3)
shutil.rmtree(HOME / "kept", ignore_errors=True)
for name, inputs in KEPT.items():
    write(HOME / f"kept/{name}_0.json", json.dumps(inputs if isinstance(inputs, dict) else {name: inputs}))
environment = dict(os.environ)
environment.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
environment["RUST_BACKTRACE"] = "0"
environment.pop("UPDATE_CONTRACTS", None)


def build():
    command = ["cargo", "build", "--quiet", "--message-format", "short"]
    return subprocess.run(command, cwd=HOME, env=environment, capture_output=True, text=True)


# The compiler notices some, such as those that contradict another condition; they are left out, and the rest built again.
refused = {}
for _ in range(20):
    built = build()
    if built.returncode == 0:
        break
    wrong = set()
    for file, line in re.findall(r"^src/([\w/]+\.rs):(\d+):\d+: error", built.stderr, re.M):
        lines = (HOME / "src" / file).read_text().split("\n")[: int(line)]
        inside = [found.group(1) for found in map(re.compile(r"pub mod (\w+) \{").match, lines) if found]
        if inside:
            wrong.add("::".join(part for part in file.removesuffix(".rs").split("/") if part != "mod") + "::" + inside[-1])
    wrong -= set(refused)
    if not wrong:
        sys.exit(built.stderr)
    for module in wrong:
        refused[module] = "compiler"
        path = module.split("::")
        for file in (HOME / "src" / ("/".join(path[:-1]) + ".rs"), HOME / "src" / "/".join(path[:-1]) / "mod.rs"):
            if file.exists():
                text = file.read_text()
                begin = text.index(f"\npub mod {path[-1]} {{")
                write(file, text[:begin] + text[closing(masked(text), text.index("{", begin)) :])
    write(HOME / "src/main.rs", main([row for row in told if row[0] not in refused]))

program = pathlib.Path(environment["CARGO_TARGET_DIR"]) / "debug" / "mutants"
subprocess.run([program], cwd=HOME, env=environment | {"UPDATE_CONTRACTS": "1"}, check=True)
ran = subprocess.run([program], cwd=HOME, env=environment, stdout=subprocess.PIPE, text=True, check=True)
noticed = dict(line.split(" ") for line in ran.stdout.splitlines()) | refused

counts, survivors = {}, []
for module, _, tool, line, what, _ in told:
    by = noticed[module]
    if by in ("nobody", "manifest"):
        reason = next((why for of, text, change, why in BEYOND_REACH if of == tool and text in line and change in what), None)
        shown = "survivor" if reason is None else "beyond reach"
        print(f"{shown} ({by}): {module}: {line}: {what}" + (f" ({reason})" if reason else ""))
        survivors += [module] if reason is None else []
        by = by if reason is None else f"beyond reach"
    counts[by] = counts.get(by, 0) + 1
print(f"{len(told)} mutants; noticed by " + ", ".join(f"{by}: {count}" for by, count in sorted(counts.items())))
tried = [module for module in bounds if noticed[module] not in ("compiler", "built")]
seen = [module for module in tried if noticed[module].startswith("verify")]
score = len(seen) / max(len(tried), 1)
print(f"score: `verify` noticed {len(seen)} of {len(tried)} changed bounds, {score:.1%}")
if score < SCORE and STEP == 1 and ONLY is None:
    sys.exit(f"less than {SCORE:.0%} of the changed bounds were noticed")
sys.exit(f"{len(survivors)} mutants were not noticed by `verify`" if survivors else 0)
