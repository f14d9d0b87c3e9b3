//! Contracts are for the model. What keeps a tool within its folder holds without them.

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;

use crate::common::{CANARY, Ground, call, ended, samples, strings};
use crate::violating;

/// Texts that would lead out where a path is taken as text.
fn ways_out(ground: &Ground) -> Vec<String> {
    let secret = ground.outside().join("secret.txt").display().to_string();
    let mut ways = vec![
        "../ws-outside/secret.txt".to_owned(),
        "src/../../ws-outside/secret.txt".to_owned(),
        "./src/.././../ws-outside//secret.txt".to_owned(),
        format!("{}/../ws-outside/secret.txt", ground.root().display()),
        format!("{}-outside/secret.txt", ground.root().display()),
        format!("/proc/self/root{secret}"),
        format!("/proc/self/cwd/..{secret}"),
        "out".to_owned(),
        "out/secret.txt".to_owned(),
        "out-file".to_owned(),
        "~/secret.txt".to_owned(),
        format!("file://{secret}"),
        secret.clone(),
        format!("{secret}\0"),
        format!(" {secret}"),
        format!("{secret} "),
        "../ws-outside".to_owned(),
        "..".to_owned(),
        "/".to_owned(),
        String::new(),
    ];
    ways.push(ways[0].replace('/', "//"));
    ways
}

/// P1, F1, F2
#[test]
fn switching_the_contracts_off_opens_no_way_out() {
    let ground = Ground::new();
    std::os::unix::fs::symlink(ground.outside(), ground.path("out")).unwrap();
    std::os::unix::fs::symlink(ground.outside().join("secret.txt"), ground.path("out-file"))
        .unwrap();
    let outside = ground.outside();
    let state = || {
        let mut all = ground.snapshot();
        all.retain(|path, _| path.starts_with(&outside) || path.parent() == outside.parent());
        all
    };
    let before = state();
    for policy in [Policy::Ignore, Policy::Observe, Policy::Enforce] {
        let registry = ground.builder().policy(policy).build().unwrap();
        for tool in registry.tools().filter(|tool| tool.name() != "run_shell") {
            for place in strings(tool.input_schema()) {
                for way in ways_out(&ground) {
                    for mut arguments in samples(tool.name()) {
                        let name = place.split('/').nth(1).unwrap();
                        let listed = place.split('/').nth(2).is_some();
                        arguments[name] = if listed { json!([way]) } else { json!(way) };
                        let outcome = call(&registry, tool.name(), &arguments);
                        let said = format!("{}({arguments}): {outcome:?}", tool.name());
                        assert!(!said.contains(CANARY), "{said}");
                        assert_ne!(outcome.status(), Status::Panicked, "{said}");
                        assert_ne!(outcome.status(), Status::TimedOut, "{said}");
                    }
                }
            }
        }
        assert_eq!(before, state(), "{policy:?}");
    }
}

/// P1
#[test]
fn a_body_whose_preconditions_are_off_still_refuses_or_copes() {
    let ground = Ground::new();
    let calls = violating(&ground.registry());
    for policy in [Policy::Ignore, Policy::Observe] {
        let registry = ground.builder().policy(policy).build().unwrap();
        for (tool, arguments) in &calls {
            let outcome = call(&registry, tool, arguments);
            assert!(
                matches!(outcome.status(), Status::Ok | Status::Failed),
                "{tool}({arguments}): {}",
                ended(&outcome)
            );
        }
    }
}
