use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use crate::{Registry, Status, ToolCall};

#[derive(Debug, clap::Args)]
pub struct Call {
    /// The name of the tool.
    name: String,
    /// Its arguments as a JSON object; `-` reads them from standard input.
    #[arg(default_value = "{}")]
    arguments: String,
}

impl Call {
    pub(super) fn run(self, registry: &Registry) -> io::Result<ExitCode> {
        let mut arguments = self.arguments;
        if arguments == "-" {
            arguments.clear();
            io::stdin().lock().read_to_string(&mut arguments)?;
        }
        let outcome = registry.call_blocking(ToolCall::new("1", self.name, arguments));
        let status = outcome.status();
        let result = outcome.into_result();
        if status == Status::Ok {
            writeln!(io::stdout(), "{}", result.text())?;
            return Ok(ExitCode::SUCCESS);
        }
        writeln!(io::stderr(), "{}: {}", status.name(), result.text())?;
        Ok(ExitCode::FAILURE)
    }
}
