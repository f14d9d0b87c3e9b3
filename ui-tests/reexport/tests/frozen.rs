//! Freezing works where the runtime has another name.

use std::panic::catch_unwind;

use ui_reexport as _;

#[test]
fn a_program_that_names_its_library_has_its_tools() {
    let registry = ct::registry!().build().unwrap();
    assert!(registry.tool("half").is_some());
}

#[test]
fn the_tools_of_the_package_are_found() {
    let missing = std::env::temp_dir().join(format!("ui-reexport-{}.json", std::process::id()));
    let text = missing.display().to_string();
    let judged = catch_unwind(|| contract_manifest::assert_frozen!(&text));
    let report = judged.map_err(|panic| panic.downcast_ref::<String>().cloned());
    // With the command to write, it is written.
    if let Err(report) = report {
        let report = report.unwrap_or_default();
        assert!(
            report.starts_with("the contracts are not frozen yet"),
            "{report}"
        );
    }
}
