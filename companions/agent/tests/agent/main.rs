//! Agents under contract, over scripted models.

mod answer_buffer;
mod asking;
mod budgets;
mod constrained;
mod equal_ids;
mod faults;
mod feedback;
mod history;
mod hooks;
mod hostile;
mod keys;
mod late;
mod loop_detection;
mod misuse;
mod order;
mod react;
mod recorded;
mod resumed;
mod runs;
mod stores;
mod streaming;
mod tools;
mod tracing;
mod truth;
mod typed;
mod wellformed;
