//! Names of tools and of their arguments.

use contract_runtime::Status;
use serde_json::json;

use crate::common::{Ground, call, samples};

/// D7
#[test]
fn only_the_exact_name_is_a_tool_and_no_list_is_told() {
    let ground = Ground::new();
    let registry = ground.registry();
    let names: Vec<&str> = registry.tools().map(|tool| tool.name()).collect();
    for name in &names {
        for near in [
            name.to_uppercase(),
            format!(" {name}"),
            format!("{name} "),
            format!("{name}\n"),
            format!("{name}\0"),
            name.replace('e', "\u{435}"),
            format!("\u{200b}{name}"),
            name.replace('_', "-"),
            name.replace('_', ""),
            format!("{name}/"),
            format!("./{name}"),
            format!("toolkit::{name}"),
            format!("{name}()"),
            format!("{name}\u{301}"),
        ] {
            let outcome = call(&registry, &near, &samples(name)[0]);
            assert_eq!(outcome.status(), Status::UnknownTool, "{near:?}");
            let error = outcome.error().unwrap();
            let told = names
                .iter()
                .filter(|name| error.contains(&format!("`{name}`")))
                .count();
            assert!(told <= 1, "{error}");
        }
    }
}

/// D7
#[test]
fn a_tool_that_was_left_out_is_not_told() {
    let ground = Ground::new();
    let registry = ground.builder().only(["read_folder"]).build().unwrap();
    let outcome = call(&registry, "read_file", &json!({"path": "notes.txt"}));
    assert_eq!(outcome.status(), Status::UnknownTool);
    assert!(!outcome.error().unwrap().contains("read_file"));
}

/// Models know the tools of other agents.
#[test]
fn an_argument_under_the_name_that_other_agents_use_is_answered_with_its_own() {
    let ground = Ground::new();
    let registry = ground.registry();
    for (tool, given, meant) in [
        ("run_shell", "command", "script"),
        ("read_file", "file_path", "path"),
        ("write_file", "content", "text"),
        ("edit_file", "old_string", "old"),
        ("edit_file", "new_string", "new"),
        ("search_in_files", "case_insensitive", "case"),
    ] {
        let outcome = call(&registry, tool, &json!({given: "x"}));
        assert_eq!(outcome.status(), Status::InvalidArguments);
        let told = format!("`/{given}`: no such argument; did you mean `{meant}`?");
        let error = outcome.error().unwrap();
        assert!(error.contains(&told), "{error}");
    }
}
