//! The questions of an interview and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One question of an interview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// What answers refer to; no two questions of an interview have the same.
    pub id: String,
    /// The question.
    pub text: String,
    /// How it is answered.
    #[serde(rename = "type")]
    pub kind: QuestionType,
    /// What there is to choose from; empty for `text`.
    #[serde(default)]
    pub options: Vec<String>,
}

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionType {
    /// By one of the options.
    Radio,
    /// By any number of the options.
    Checkbox,
    /// In words.
    Text,
}

/// What answers a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The id of the question.
    pub question: String,
    /// One value for `radio` and `text`, any number for `checkbox`.
    pub values: Vec<String>,
}

impl Question {
    /// Whether it can be asked: a choice needs at least two options that differ, a text has none.
    #[must_use]
    pub fn is_askable(&self) -> bool {
        let options = &self.options;
        let differ = (1..options.len()).all(|at| !options[..at].contains(&options[at]));
        let fits = match self.kind {
            QuestionType::Radio | QuestionType::Checkbox => options.len() >= 2,
            QuestionType::Text => options.is_empty(),
        };
        fits && differ && !self.id.trim().is_empty() && !self.text.trim().is_empty()
    }

    /// Whether this answers it.
    ///
    /// # Errors
    ///
    /// What is expected, for whoever answers.
    pub fn judge(&self, answer: &Answer) -> Result<(), String> {
        let values = &answer.values;
        let known = |value: &String| self.options.contains(value);
        let (is_answer, expected) = match self.kind {
            QuestionType::Radio => (values.len() == 1 && values.iter().all(known), "one of"),
            QuestionType::Checkbox => (values.iter().all(known), "any of"),
            QuestionType::Text => {
                let is_text = values.len() == 1 && !values[0].trim().is_empty();
                return if is_text {
                    Ok(())
                } else {
                    Err(format!("`{}` is answered by one text", self.id))
                };
            }
        };
        if is_answer {
            return Ok(());
        }
        let options = self.options.join("`, `");
        Err(format!(
            "`{}` is answered by {expected} `{options}`",
            self.id
        ))
    }
}
