use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

/// One piece of work that a backend does with the tools of one executor: 128 random bits (UUID version 4, RFC 9562, 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(Uuid);

/// One accepted call; ids grow with time (UUID version 7, RFC 9562, 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Uuid);

/// One journal of one executor: 128 random bits (UUID version 4, RFC 9562, 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JournalId(Uuid);

impl JournalId {
    /// The id of a journal that is new.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

impl TaskId {
    /// An id that nobody can guess.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

impl CallId {
    /// The next id.
    #[must_use]
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }
}

/// One attempt at one call: what results, cancellations and journal entries speak of.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct CallKey {
    /// The call: the same in each attempt at it.
    pub tool_id: CallId,
    /// Which attempt, from 1.
    #[serde(deserialize_with = "from_one")]
    #[schemars(range(min = 1))]
    pub attempt: u32,
}

fn from_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    NonZeroU32::deserialize(deserializer).map(NonZeroU32::get)
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.tool_id, self.attempt)
    }
}

macro_rules! uuid_text {
    ($id:ident, $name:literal) => {
        impl $id {
            pub(crate) const fn to_bytes(self) -> [u8; 16] {
                self.0.into_bytes()
            }

            pub(crate) const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $id {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }

        impl JsonSchema for $id {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "format": "uuid"})
            }
        }
    };
}

uuid_text!(TaskId, "TaskId");
uuid_text!(CallId, "CallId");
uuid_text!(JournalId, "JournalId");
