//! The ids of tasks, calls and journals.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

/// One piece of work that a backend does with the tools of one executor: 128 random bits (UUID version 4, RFC 9562, 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(Uuid);

/// One accepted call; ids grow with time (UUID version 7, RFC 9562, 2024). That of a call with an idempotency key is derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Uuid);

/// One journal of one executor: 128 random bits (UUID version 4, RFC 9562, 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JournalId(Uuid);

impl JournalId {
    /// Generates the id of a new journal.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

impl TaskId {
    /// Generates an unguessable id.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

impl CallId {
    /// Generates the next id.
    #[must_use]
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }

    /// Derives the id of a call from its idempotency key, if that is a UUID of version 7: ids begin with a time, by which a journal
    /// refuses calls that it may have forgotten.
    pub(crate) fn of_key(task: TaskId, key: &str) -> Option<Self> {
        let time = Uuid::try_parse(key).ok()?;
        let digest = Sha256::new()
            .chain_update(task.to_bytes())
            .chain_update(key);
        let digest = digest.finalize();
        let (millis, random) = (time.as_u64_pair().0 >> 16, digest.first_chunk()?);
        let id = Builder::from_unix_timestamp_millis(millis, random).into_uuid();
        (time.get_version_num() == 7).then_some(Self(id))
    }
}

/// The key of one attempt at a call, which results, cancellations and journal entries refer to.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct CallKey {
    /// The id of the call, the same for each attempt at it.
    pub tool_id: CallId,
    /// The number of the attempt, from 1.
    #[serde(deserialize_with = "from_one", skip_serializing_if = "is_no_attempt")]
    #[schemars(range(min = 1))]
    pub attempt: u32,
}

/// Stands for an omitted attempt number; no attempt has this number.
const NO_ATTEMPT: u32 = 0;

fn from_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    NonZeroU32::deserialize(deserializer).map(NonZeroU32::get)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_no_attempt(attempt: &u32) -> bool {
    *attempt == NO_ATTEMPT
}

impl CallKey {
    /// Whether the attempt number was omitted: then the attempt in flight is meant.
    pub(crate) fn has_no_attempt(self) -> bool {
        is_no_attempt(&self.attempt)
    }
}

/// The key of a call in a message of an executor.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) struct ReceivedKey {
    /// The id of the call, the same for each attempt at it.
    tool_id: CallId,
    /// The number of the attempt, from 1; if omitted, the attempt in flight is meant.
    attempt: Option<NonZeroU32>,
}

impl From<ReceivedKey> for CallKey {
    fn from(ReceivedKey { tool_id, attempt }: ReceivedKey) -> Self {
        let attempt = attempt.map_or(NO_ATTEMPT, NonZeroU32::get);
        Self { tool_id, attempt }
    }
}

/// Deserialises a key whose attempt number may be omitted.
pub(crate) fn received_key<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<CallKey, D::Error> {
    ReceivedKey::deserialize(deserializer).map(CallKey::from)
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool_id.fmt(f)?;
        if self.has_no_attempt() {
            return Ok(());
        }
        write!(f, "#{}", self.attempt)
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
