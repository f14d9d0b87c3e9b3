//! Agents under contract, over scripted models.

mod constrained;
mod faults;
mod feedback;
mod hooks;
mod misuse;
mod order;
mod react;
mod recorded;
mod tools;
mod wellformed;
