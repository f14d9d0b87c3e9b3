//! Which model is asked: one from the environment, or a recording.

use std::error::Error;

use contract_agent::{GenaiModel, Model, Recorder, Replay};

use crate::Arguments;

pub(crate) fn model(arguments: &Arguments) -> Result<Box<dyn Model>, Box<dyn Error>> {
    if let Some(file) = &arguments.replay {
        return Ok(Box::new(Replay::open(file)?));
    }
    let model = match &arguments.model {
        Some(name) => GenaiModel::builder(name).build()?,
        None => GenaiModel::from_environment()?.build()?,
    };
    match &arguments.record {
        Some(file) => Ok(Box::new(Recorder::new(model, file)?)),
        None => Ok(Box::new(model)),
    }
}
