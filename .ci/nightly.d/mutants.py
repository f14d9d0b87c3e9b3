#!/usr/bin/env python3
"""Changes one thing at a time in the contracts and bodies of the examples, and wants `verify` to notice each change.

What is changed: bounds, numbers, comparisons, logic and arithmetic, in conditions, in bodies and in the constants that they
name; and whole preconditions are left out. A promise that is left out is no mutant: nothing can break it, and only the frozen
manifest shows that it was there.

All mutants are modules of one crate below target/mutants, each beside the tool it was made from, so that there is one build. The
boundaries of each original are recorded, as `UPDATE_CONTRACTS=1 cargo test` does; then each mutant is held to them. `verify`
notices a mutant when it finds other problems than of the original. Whether the manifest differs is counted beside it.

`.ci/nightly.d/mutants.py 12` tries every twelfth of them, `.ci/nightly.d/mutants.py 1 read_file` those of one tool.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOME = ROOT / "target" / "mutants"
STEP = int(sys.argv[1]) if len(sys.argv) > 1 else 1
ONLY = sys.argv[2] if len(sys.argv) > 2 else None

# What no run can notice, and why: the tool, the text that is changed, what becomes of it.
WEAKER = "it promises less, of a body that keeps what it promised"
SAME = "of all that the contract accepts it says the same"
MAY_FAIL = "a tool may say that it failed; examples/toolkit/tests/files/read/refusals.rs holds the limit"
UNTOLD = "no result says in which column it begins; examples/toolkit/tests/files/read/mod.rs puts parts together"
LESS = "a listing that gives less than was asked for breaks no promise; examples/toolkit/tests/files/folder compares whole ones"
UNMET = "nothing in the folder that they run in is exactly as large as the limit"

EMPTY = "each run begins with no notes, and a note that is refused breaks no promise"

BEYOND_REACH = [
    ("divide", "divisor.abs() < 1.0", "`<` at 32", WEAKER),
    ("divide", "divisor.abs() < 1.0", "becomes `2.0`", WEAKER),
    ("Notes", "*count <= 3", "becomes `4`", WEAKER),
    ("Notes", "notes.len() < 3", "becomes `<=`", WEAKER),
    ("Notes", "notes.len() < 3", "becomes `4`", WEAKER),
    ("Notes", "notes.len() < 3", "becomes `&&`", EMPTY),
    ("Notes", "notes.len() < 3", "becomes `2`", EMPTY),
    ("Notes", "*count >= 1", "becomes `0`", WEAKER),
    ("read_file", "file.last_line <= file.total_lines", "becomes `.max(`", WEAKER),
    ("read_folder", "folder.entries.is_sorted_by", "becomes `<=`", WEAKER),
    ("read_folder", "folder.entries.iter().all(", "becomes `.any(`", WEAKER),
    ("read_folder", "listing.partial |=", "becomes", LESS),
    ("read_folder", "if depth > 0 && listing.is_full()", "becomes", LESS),
    ("read_folder", "for depth in (0..depth.clamp(1, DEEPEST)).rev()", "`0` at 18 becomes `1`", LESS),
    ("read_folder", "for depth in (0..depth.clamp(1, DEEPEST)).rev()", "`1` at 33 becomes `0`", SAME),
    ("read_folder", "folder.entries.len() <= workspace.limits().folder_entries", "becomes `<`", UNMET),
    ("read_file", "file.text.chars().count() <= workspace.limits().read_characters", "becomes `<`", UNMET),
    ("search_in_files", "found.hits.is_sorted_by", "becomes `<=`", WEAKER),
    ("search_in_files", "left.saturating_sub", "becomes `.max(`", "no search takes so long that its time matters"),
    ("read_file", "metadata.len() > limits.read_file_bytes", "becomes `>=`", MAY_FAIL),
    ("read_file", "first_line: first_line.unwrap_or(1).max(1)", "becomes `0`", SAME),
    ("read_file", "first_column: first_column.unwrap_or(1).max(1)", "becomes `0`", SAME),
    ("read_file", "first_column: first_column.unwrap_or(1).max(1)", "becomes", UNTOLD),
]

# Inputs that chance does not meet, because files must be there: kept beside the boundaries, as an author would keep them.
KEPT = {"read_file": [{"path": "a", "first_line": 2}, {"path": "a", "first_line": 2, "first_column": 2}]}

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
LITERALS = re.compile(r"r(#*)\".*?\"\1|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|//[^\n]*", re.S)


class Source:
    """A module with tools: where it stands, its text, and what its tools need."""

    def __init__(self, path, text, given="builder", bodies=True):
        self.path, self.text, self.given, self.bodies = path, text, given, bodies
        self.module = "::".join(part for part in path.removesuffix(".rs").split("/") if part != "mod")

    def items(self):
        """The tools, each with its comment; methods with their state. As name, text, registration and setup."""
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
        sources.append(Source(name, text, given, bodies=False))
    return sources


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


def regions(text):
    """What is changed: predicates without their messages, and bodies. As kind, start, end."""
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
    for found in re.finditer(r"\bfn \w+(?:<.*?>)?\(", plain):
        start = plain.find("{", closing(plain, found.end() - 1))
        begin = start
        for condition, end in sorted(taken) + [(closing(plain, start), 0)]:
            if start < condition < closing(plain, start) or end == 0:
                yield "body", begin, min(condition, closing(plain, start))
                begin = end


def mutants(name, text, constants):
    """Every mutant of a tool: the line it is on, what is changed, the whole text."""
    plain = masked(text)

    def change(start, end, other):
        begin = text.rfind("\n", 0, start) + 1
        line = text[begin : text.find("\n", end)].strip()
        return line, f"`{text[start:end]}` at {start - begin} becomes `{other}`", text[:start] + other + text[end:]

    for kind, start, end in regions(text):
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
                yield whole, f"`{value}` becomes `{other}`", whole.replace(f"= {value};", f"= {other};") + "\n" + text, True


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
for source in quickstart() + readme() + right() + toolkit():
    text = source.text
    constants = re.findall(r"^((?:pub(?:\(\w+\))? )?const (\w+): \w+ = (\d[\d_]*);)", text, re.M)
    for name, item, registration, setup in source.items():
        if ONLY not in (None, name):
            continue
        if not source.bodies and not re.search(r"^#\[tool\([^\]]*\bread_only\b", item, re.M):
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
        for line, what, mutant, is_bound in mutants(name, item, constants):
            position += 1
            if position % STEP == 0:
                called = f"{name}_{len(made) + 1}"
                made.append((called, mutant))
                told.append((f"{source.module}::{called}", f"{source.module}::{original}", name, line, what, source.bodies))
                bounds.update([told[-1][0]] if is_bound else [])
        if made:
            originals.append((f"{source.module}::{original}", source.bodies))
            source.text += module(original, item) + "".join(module(*one) for one in made)
    write(HOME / "src" / source.path, source.text)


def main(told):
    rows = "".join(
        f"        ({mutant!r}, {original!r}, ({original}::all as fn() -> _, {original}::SETUP), ({mutant}::all as fn() -> _, {mutant}::SETUP), {str(bodies).lower()}),\n"
        for mutant, original, _, _, _, bodies in told
    ).replace("'", '"')
    return """#![allow(warnings, clippy::all, reason = "mutants")]
pub mod quickstart;
pub mod readme;
pub mod right;
pub mod toolkit;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use contract_runtime::{Builder, BuildError, Registry};
use contract_verify::{Problem, Report, Verifier};

type Setup = Option<fn(Builder) -> Builder>;
type Tools = (fn() -> Builder, Setup);

fn tried(registry: &Registry, original: &str, setup: Setup, bodies: bool) -> BTreeSet<String> {
    let mut verifier = Verifier::new(registry.clone()).seed(1).boundaries(format!("boundaries/{}", original.replace(':', "_")));
    if let Some((_, name)) = original.rsplit_once("::") {
        // A copy, because what fails is added to it.
        let kept = format!("kept/{:?}/{name}.json", std::thread::current().id());
        let _ = std::fs::create_dir_all(std::path::Path::new(&kept).parent().expect("a folder"));
        if std::fs::copy(format!("kept/{name}.json"), &kept).is_ok() {
            verifier = verifier.regressions(kept);
        }
    }
    if bodies {
        verifier = verifier.run_bodies(true);
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
    report.problems().map(key).collect()
}

fn main() {
    let all: &[(&str, &str, Tools, Tools, bool)] = &[
""" + rows + """    ];
    let updates = std::env::var_os("UPDATE_CONTRACTS").is_some();
    let mut known = BTreeMap::new();
    for (_, name, (original, setup), _, bodies) in all {
        known.entry(*name).or_insert_with(|| {
            let registry = original().build().expect("the original builds");
            let found = tried(&registry, name, *setup, *bodies);
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
        let Some((name, of, _, (mutant, setup), bodies)) = next.lock().expect("no panic").next() else { break };
        let (before, found) = &known[of];
        // A mutant that is no registry any more is noticed by everybody.
        let noticed = match mutant().build() {
            Err(_) => "built",
            Ok(registry) => {
                let noticed = tried(&registry, of, *setup, *bodies) != *found;
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


# The versions and the profile of the workspace, so that what it built is used again.
write(HOME / "Cargo.toml", """[package]
name = "mutants"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

""" + part("Cargo.toml", "[workspace.dependencies]", "[workspace.lints").replace('path = "', f'path = "{ROOT}/')
    + part("Cargo.toml", "[profile.dev", "[profile.bench")
    + part("examples/toolkit/Cargo.toml", "[dependencies]", "[dev-dependencies]").replace("contract-program", "contract-verify"))
shutil.copy(ROOT / "Cargo.lock", HOME / "Cargo.lock")
# What the tools of the toolkit read: names that inputs by chance have too.
ground = HOME / "ground"
shutil.rmtree(ground, ignore_errors=True)
write(ground / "a", "a" * 20 + "\ntwo\na\n")
write(ground / "aa/a", "a\n" * 80)
write(ground / "aa/b/c/d", "a")
shutil.rmtree(HOME / "kept", ignore_errors=True)
for name, inputs in KEPT.items():
    write(HOME / f"kept/{name}_0.json", json.dumps({name: inputs}))
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
