//! The model: a real one if the environment names one, otherwise recorded conversations.

mod recorded;
mod recording_model;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract_agent::{GenaiBuildError, GenaiModel, Model, Recorder};

pub use recorded::Recorded;
pub use recording_model::{RecordedCalls, RecordingModel};

/// What each run takes its model from.
#[derive(Clone)]
pub enum Models {
    /// A provider.
    Provider(Arc<dyn Model>),
    /// Conversations in a folder, played by whoever begins one of them.
    Recorded(Arc<[PathBuf]>),
}

impl Models {
    /// Takes the provider that the environment names, or else the recordings in this folder.
    ///
    /// # Errors
    ///
    /// Variables that do not fit together, or a folder that cannot be read.
    pub fn choose(recordings: &Path) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        match GenaiModel::from_environment() {
            Ok(builder) => Ok(Self::Provider(Arc::new(builder.build()?))),
            Err(GenaiBuildError::NoProvider) => Self::recorded(recordings),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the recordings in a folder.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn recorded(folder: &Path) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let failed = |error| format!("the recordings in `{}`: {error}", folder.display());
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                files.push(path);
            }
        }
        files.sort();
        Ok(Self::Recorded(files.into()))
    }

    /// Records what the provider says, all in one file: for one turn of one run.
    ///
    /// # Errors
    ///
    /// When there is such a file already, or no provider.
    pub fn recording(
        self,
        file: PathBuf,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        match self {
            Self::Provider(model) => Ok(Self::Provider(Arc::new(Recorder::new(model, file)?))),
            Self::Recorded(_) => Err(GenaiBuildError::NoProvider.into()),
        }
    }

    /// Returns a model for one turn of one run.
    #[must_use]
    pub fn model(&self) -> Arc<dyn Model> {
        match self {
            Self::Provider(model) => Arc::clone(model),
            Self::Recorded(files) => Arc::new(Recorded::new(Arc::clone(files))),
        }
    }
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Provider(model) => f.debug_tuple("Provider").field(&model.name()).finish(),
            Self::Recorded(files) => f.debug_tuple("Recorded").field(files).finish(),
        }
    }
}
