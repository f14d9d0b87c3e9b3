"""Follows a page of the guide word for word, in an empty folder, and stops where it leads astray.

    follow.py PAGE FOLDER LOCK

A block of code after a line that is nothing but a path in backquotes and a colon is that file. A block of `sh` is run, in the
folder where the one before it ended. A block of `text` right after it is what it prints. Of a block of `yaml` the lines are run that
begin with `- run: cargo contract`.
LOCK takes the place of a new package's `Cargo.lock`, so that what is resolved today is resolved tomorrow.
"""

import pathlib
import re
import shutil
import subprocess
import sys


def blocks(page):
    """Each block of code: its language, its text, and the last line before it that is not empty."""
    before, inside = "", None
    for line in page.splitlines():
        if inside is None and line.startswith("```"):
            inside = (line[3:], [])
        elif inside is not None and line == "```":
            yield inside[0], "\n".join(inside[1]) + "\n", before
            before, inside = "```" + inside[0], None
        elif inside is not None:
            inside[1].append(line)
        elif line.strip():
            before = line


def main(page, folder, lock):
    root = pathlib.Path(folder).resolve()
    here, printed, done = root, None, {"file": 0, "sh": 0, "text": 0}
    for language, text, before in blocks(pathlib.Path(page).read_text()):
        if language == "yaml":
            language, text = "sh", "".join(re.findall(r"^- run: (cargo contract .*\n)", text, re.M))
        named = re.fullmatch(r"`([\w./-]+)`:", before)
        if named:
            path = root / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if path.name == "Cargo.toml" and not path.with_name("Cargo.lock").exists():
                shutil.copy(lock, path.with_name("Cargo.lock"))
            print("wrote", named[1], flush=True)
            done["file"] += 1
        elif language == "sh":
            print(text, end="", flush=True)
            ended = root / ".ended"
            script = f"set -euo pipefail\n{text}pwd > '{ended}'\n"
            run = subprocess.run(["bash", "-c", script], cwd=here, stdout=subprocess.PIPE, text=True)
            if run.returncode:
                sys.exit(f"{run.stdout}it ended with {run.returncode}")
            here, printed = pathlib.Path(ended.read_text().strip()), run.stdout
            done["sh"] += 1
        elif language == "text" and before == "```sh":
            if printed != text:
                sys.exit(f"it printed\n{printed}and the page shows\n{text}")
            print("printed what the page shows", flush=True)
            done["text"] += 1
    print("followed:", ", ".join(f"{count} {kind}" for kind, count in done.items()))
    # A page whose form has changed must not pass for one that was followed.
    if min(done.values()) < 2:
        sys.exit("too little of the page was understood")


main(*sys.argv[1:])
