//! What a model is told of the tools, and how to call them in text.

use std::fmt::Write as _;

use crate::agent::inner::shown::{self, Shown};
use crate::registry::Registry;

/// Every tool as it is shown to models: with its description, which states its conditions, and the schema of its arguments, which holds its bounds.
pub(super) fn system(own: Option<&str>, registry: &Registry) -> String {
    let mut text = String::new();
    if let Some(own) = own {
        text.push_str(own);
        text.push_str("\n\n");
    }
    text.push_str("You can use these tools:\n");
    for Shown {
        name,
        description,
        schema,
    } in shown::tools(registry)
    {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {name}\n\n{description}\n\nArguments, as JSON Schema: {schema}\n"
        );
    }
    text.push_str(
        "\nTo use one, write this and stop:\n\n\
         Thought: why you use it\n\
         Action: the name of the tool\n\
         Action Input: its arguments as one JSON object\n\n\
         What comes of it is told to you as an observation. When you know enough, write this:\n\n\
         Answer: the answer\n",
    );
    text
}
