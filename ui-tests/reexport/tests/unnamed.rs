//! A program that does not name the library of its package, in which the tools are.

use ct::{Registry, Tool};

#[test]
fn a_registry_that_found_no_tool_says_which_line_is_missing() {
    let error = ct::registry!().build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the registry cannot be built: `registry!()` found no tool: none of package `ui-reexport` is linked into this program, and no other was added; if they are in its library, write `use ui_reexport as _;` in the program, so that the linker keeps them; if they are methods, add `.with(state)`; for a registry without tools, write `Registry::builder()`",
    );
    let error = ct::registry!()
        .everything_linked()
        .only(["half"])
        .build()
        .unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
}

#[test]
fn a_package_without_functions_of_its_own_may_add_others_or_none() {
    let spec = ct::DynamicSpec::new("echo", "Repeat what was said.");
    let echo = Tool::dynamic(spec, |_| async { Ok::<_, String>(ct::Content::text("")) });
    for tools in [vec![echo], Vec::new()] {
        assert!(ct::registry!().with(tools).build().is_ok());
    }
    assert!(Registry::builder().build().is_ok());
}
