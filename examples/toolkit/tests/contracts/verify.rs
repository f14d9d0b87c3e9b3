//! The contracts of the tools prove themselves: their forms agree, each precondition says something, the bodies of those that
//! only read keep their promises in a small folder, and no bound has moved since the boundaries were recorded.

use std::fs;

use contract_runtime::prelude::*;
use contract_verify::Verifier;
use toolkit::Workspace;

#[test]
fn every_contract_holds_and_no_bound_has_moved() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("a"), "a\ntwo\n")?;
    fs::create_dir(folder.path().join("aa"))?;
    fs::write(folder.path().join("aa/a"), "a\n".repeat(80))?;
    let registry = Registry::builder()
        .tool(toolkit::read_file)
        .tool(toolkit::read_folder)
        .tool(toolkit::write_file)
        .tool(toolkit::edit_file)
        .tool(toolkit::get_working_directory)
        .tool(toolkit::search_in_files)
        .context(Workspace::new(folder.path())?)
        .build()?;
    let boundaries = concat!(env!("CARGO_MANIFEST_DIR"), "/verify-boundaries");
    let report = Verifier::new(registry)
        .cases(100)
        .boundaries(boundaries)
        .run();
    assert_eq!(report.problems().count(), 0, "{report}");
    Ok(())
}
