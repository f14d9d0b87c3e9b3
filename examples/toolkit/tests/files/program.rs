//! The toolkit as a program.

use std::path::Path;
use std::process::{Command, Output};

/// The program, started where a client may start it.
fn toolkit(here: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolkit"))
        .args(arguments)
        .current_dir(here)
        .output()
        .unwrap()
}

/// F1: nobody who starts a server in `/` has chosen to lend the whole machine.
#[test]
fn the_whole_machine_is_lent_only_to_who_says_so() {
    let call = ["call", "get_working_directory", "{}"];
    let refused = toolkit(Path::new("/"), &call);
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty());
    assert_eq!(
        String::from_utf8_lossy(&refused.stderr),
        "toolkit: the current folder is `/`, which is the whole machine; give the folder that the tools may touch with \
         `--root FOLDER`, or `--root /` if all of it is meant\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let said = |here: &Path, arguments: &[&str]| {
        let output = toolkit(here, arguments);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["path"].clone()
    };
    let named = ["--root", path.to_str().unwrap()];
    assert_eq!(
        said(Path::new("/"), &[&named[..], &call].concat()),
        path.to_str().unwrap()
    );
    assert_eq!(said(&path, &call), path.to_str().unwrap());
    assert_eq!(
        said(Path::new("/"), &[&["--root", "/"][..], &call].concat()),
        "/"
    );
}
