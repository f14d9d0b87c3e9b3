//! `#[verify(..)]` stands anywhere among the attributes of a tool.

#![deny(warnings, unused)]

use contract_runtime::prelude::*;
use contract_runtime::{Builder, pre};

/// What runs need.
struct Paper(u32);

fn authorise() {}

fn on_paper(builder: Builder) -> Builder {
    builder.context(Paper(2))
}

/// Below the others.
#[tool]
#[pre(number > 0)]
#[verify(run, setup = on_paper)]
fn below(number: u32, #[context] paper: &Paper) -> u32 {
    number.min(paper.0)
}

/// Above the others.
#[verify(run, setup = on_paper)]
#[tool]
#[pre(number > 0)]
fn above(number: u32, #[context] paper: &Paper) -> u32 {
    number.min(paper.0)
}

/// Around another attribute.
#[verify(run = false)]
#[ui_attributes::authorise]
#[tool]
#[pre(number > 0)]
fn around(number: u32) -> u32 {
    number
}

/// Under a condition.
#[tool]
#[cfg_attr(all(), verify(run))]
#[pre(number > 0)]
fn conditional(number: u32) -> u32 {
    number
}

/// Under a condition that does not hold: nothing of it has to exist.
#[tool]
#[cfg_attr(any(), verify(run, setup = nothing))]
#[pre(number > 0)]
fn unconditional(number: u32) -> u32 {
    number
}

/// By its path, and with a closure.
#[contract_runtime::prelude::verify(setup = |builder| builder.context(Paper(3)))]
#[tool(read_only)]
async fn by_path(number: u32, #[context] paper: &Paper) -> u32 {
    number.min(paper.0)
}

struct Base<T>(T);

#[tool]
impl<T: Copy + Into<u64> + Send + Sync + 'static> Base<T> {
    fn fresh(builder: Builder) -> Builder {
        builder.context(Paper(4))
    }

    /// Of a state.
    #[tool]
    #[verify(run, setup = Self::fresh)]
    #[pre(number > 0)]
    fn add(&self, number: u32, #[context] paper: &Paper) -> u64 {
        self.0.into() + u64::from(number) + u64::from(paper.0)
    }
}

mod without_the_prelude {
    use contract_runtime::tool;

    /// Not imported.
    #[tool]
    #[verify(run)]
    fn lonely(number: u32) -> u32 {
        number
    }

    /// Not imported, and under a condition.
    #[tool]
    #[cfg_attr(all(), verify(run))]
    fn lonely_under_a_condition(number: u32) -> u32 {
        number
    }
}

fn main() {
    let built = registry!().with(Base(5_u32)).context(Paper(1)).build();
    let registry = built.unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<&str> = registry.tools().map(|tool| tool.name()).collect();
    let expected = [
        "above",
        "add",
        "around",
        "below",
        "by_path",
        "conditional",
        "lonely",
        "lonely_under_a_condition",
        "unconditional",
    ];
    assert_eq!(names, expected);
    assert_eq!(above(5, &Paper(1)), 1);
}
