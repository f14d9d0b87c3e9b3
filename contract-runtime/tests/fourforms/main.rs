//! The forms of a contract: what is enforced is what is shown, sent and found.

mod anthropic;
mod demands;
mod explained;
mod exports;
mod exports_sample;
mod findings;
mod gemini;
mod gemini_limits;
mod judges;
mod judges_random;
mod judges_tools;
mod lowering;
mod mcp;
mod openai;
mod openai_limits;
mod openai_superset;
mod published;
mod reading;
mod renames;
mod rules;
mod shown;
