//! What is recorded; `UPDATE_EXPECTED=1` records it anew.

use std::fs;
use std::path::Path;

use super::started::run;

tests![the_recorded_texts_are_what_it_says];

const RECORDED: [(&str, &[&str]); 7] = [
    ("help.txt", &["--help"]),
    ("call-help.txt", &["call", "--help"]),
    ("call-divide-help.txt", &["call", "divide", "--help"]),
    ("list.txt", &["list"]),
    ("list.json", &["list", "--json"]),
    ("show.txt", &["show", "divide"]),
    ("show.json", &["show", "divide", "--json"]),
];

fn the_recorded_texts_are_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/expected");
    for (file, words) in RECORDED {
        let said = run(words);
        assert_eq!((said.code, &*said.err), (0, ""), "{words:?}");
        // Only some builds have this command.
        let lines = said
            .out
            .lines()
            .filter(|line| !line.starts_with("  verify "));
        let text = lines.collect::<Vec<_>>().join("\n") + "\n";
        let path = folder.join(file);
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, text).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            text, expected,
            "{file} differs; `UPDATE_EXPECTED=1` records it"
        );
    }
}
