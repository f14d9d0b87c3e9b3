//! A promise is about the result, not about what is left of it for the model.

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::{FileText, Problem, Workspace};

use crate::common::{Ground, call, ended};

const LENGTH: usize = 50_000;

/// A tool of an outside author, made of one of the package.
struct Whole(Workspace);

#[tool]
impl Whole {
    /// Read a file that must be there to its end.
    #[tool(read_only, blocking)]
    #[post(|file| file.text.len() == LENGTH && file.text.ends_with("end\n"), "the file must be whole")]
    fn read_whole(&self, path: &str) -> Result<FileText, Problem> {
        let nobody = CancellationToken::new();
        toolkit::read_file(path, None, None, None, false, &self.0, &nobody)
    }
}

/// P5
#[test]
fn a_promise_is_judged_of_the_typed_result_before_anything_is_cut() {
    let ground = Ground::new();
    let line = "0123456789\n".repeat(LENGTH / 11 + 1);
    ground.write("whole.txt", format!("{}end\n", &line[..LENGTH - 4]));
    ground.write("broken.txt", format!("{}end.", &line[..LENGTH - 4]));
    ground.write("short.txt", format!("{}end\n", &line[..LENGTH - 5]));
    for cap in [50, 1_000, 100_000] {
        let registry = Registry::builder()
            .with(Whole(ground.workspace().build().unwrap()))
            .max_output_chars(cap)
            .build()
            .unwrap();
        let outcome = call(&registry, "read_whole", &json!({"path": "whole.txt"}));
        assert!(outcome.is_ok(), "{}", ended(&outcome));
        let cut = outcome.output().unwrap().contains("characters left out");
        assert_eq!(cut, cap < LENGTH);
        for path in ["broken.txt", "short.txt"] {
            let outcome = call(&registry, "read_whole", &json!({"path": path}));
            assert_eq!(outcome.status(), Status::Violation, "{}", ended(&outcome));
        }
    }
}
