//! Which safeguard ended a run.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The safeguard that ended a run; its `Display` says what happened, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "safeguard", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Tripped {
    /// One call was repeated.
    EqualCalls {
        /// The tool, its name shortened where it is long.
        tool: String,
        /// How often: in a row, or anywhere in the run under [`anywhere`](crate::Safeguards::anywhere).
        times: u64,
    },
    /// A short cycle of calls was repeated.
    Cycle {
        /// Their tools, in order.
        tools: Vec<String>,
        /// How often it was repeated.
        times: u64,
    },
    /// The run made too many calls.
    Steps {
        /// The maximum number of calls.
        most: u64,
    },
    /// Neither the executor nor the model sent anything for too long.
    Silence {
        /// For how long.
        #[serde(
            rename = "after_ms",
            serialize_with = "milliseconds",
            deserialize_with = "from_milliseconds"
        )]
        #[schemars(with = "u64")]
        after: Duration,
    },
    /// The run took too long.
    Total {
        /// The time limit.
        #[serde(
            rename = "after_ms",
            serialize_with = "milliseconds",
            deserialize_with = "from_milliseconds"
        )]
        #[schemars(with = "u64")]
        after: Duration,
    },
}

impl fmt::Display for Tripped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EqualCalls { tool, times } => write!(
                f,
                "`{tool}` was called {times} times with the same arguments; the run was ended, begin another one that tells the model why this gets it nowhere"
            ),
            Self::Cycle { tools, times } => write!(
                f,
                "`{}` were called {times} times in turn with the same arguments; the run was ended, begin another one that tells the model why this gets it nowhere",
                tools.join("`, `")
            ),
            Self::Steps { most } => write!(
                f,
                "the run made {most} calls, which is the limit; begin another one for what is left, or raise `Safeguards::steps`"
            ),
            Self::Silence { after } => write!(
                f,
                "neither the executor nor the model said anything for {}; see whether both are there and begin again, or raise `Safeguards::silence`",
                format_duration(*after)
            ),
            Self::Total { after } => write!(
                f,
                "the run took {}, which is the limit; begin another one for what is left, or raise `Safeguards::total`",
                format_duration(*after)
            ),
        }
    }
}

impl std::error::Error for Tripped {}

fn format_duration(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds if seconds % 3600 == 0 => format!("{} h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

fn milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn from_milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}
