//! Agents under contract, over scripted models.

mod as_it_comes;
mod budgets;
mod constrained;
mod equal_ids;
mod faults;
mod feedback;
mod hooks;
mod hostile;
mod kept_back;
mod late;
mod misuse;
mod order;
mod react;
mod recorded;
mod stuck;
mod tools;
mod wellformed;
