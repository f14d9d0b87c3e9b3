"""The changes that no run of `verify` can notice, each with the reason: a tool, what is changed, what becomes of it."""

WEAKER = "it promises less, of a body that keeps what it promised"
SAME = "of all that the contract accepts it says the same"
MAY_FAIL = "a tool may say that it failed; examples/toolkit/tests/files/read/refusals.rs holds the limit"
UNTOLD = "no result says in which column it begins; examples/toolkit/tests/files/read/mod.rs puts parts together"
LESS = "a listing that gives less than was asked for breaks no promise; examples/toolkit/tests/files/folder compares whole ones"
UNMET = "nothing in the folder that they run in is exactly as large as the limit"

EMPTY = "each run begins with no notes, and a note that is refused breaks no promise"

UNBOUNDED = "no single call meets a condition over earlier calls, so it has no boundary; the manifest shows that it is gone"
UNCOUNTED = "no promise says which files are counted, or how many there are"

BEYOND_REACH = [
    ("Bank", "history().with", "(dropped)", UNBOUNDED),
    ("Bank", "SELECT SUM(cents)", "becomes `1`", "a tool may say that it failed, and then nothing is written"),
    ("count_lines", "counted.files > 0))]", "becomes `>=`", WEAKER),
    ("count_lines", "path.extension()", "becomes `!=`", UNCOUNTED),
    ("count_lines", "Lines { files: 0, lines: 0 }", "becomes `1`", UNCOUNTED),
    ("count_lines", "counted.files += 1", "becomes", UNCOUNTED),
    ("count_lines", "(counted.files > 0).then_some", "becomes `1`", UNCOUNTED),
    ("ask_user", "(1..options.len()).all(", "`1` at 22 becomes `0`", SAME),
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
