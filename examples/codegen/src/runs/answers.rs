//! Formats a user's answers for the model.

use super::refused::Refused;
use crate::contract::{Answer, Question};

/// What the model is told: every answer below its question, and whatever else the user said.
pub(super) fn text(
    questions: &[Question],
    message: &str,
    answers: &[Answer],
) -> Result<String, Refused> {
    // Words alone answer as well: the model reads them.
    if answers.is_empty() {
        return Ok(message.to_owned());
    }
    for (at, answer) in answers.iter().enumerate() {
        let question = questions.iter().find(|one| one.id == answer.question);
        let Some(question) = question else {
            let asked: Vec<_> = questions.iter().map(|one| &*one.id).collect();
            return Err(Refused::Answers(format!(
                "`{}` was not asked; the questions are `{}`",
                answer.question,
                asked.join("`, `")
            )));
        };
        if answers[..at]
            .iter()
            .any(|other| other.question == answer.question)
        {
            let twice = format!("`{}` is answered twice", answer.question);
            return Err(Refused::Answers(twice));
        }
        question.judge(answer).map_err(Refused::Answers)?;
    }
    let mut lines = Vec::new();
    for question in questions {
        let answer = answers.iter().find(|one| one.question == question.id);
        let Some(answer) = answer else {
            let missing = format!("`{}` is not answered", question.id);
            return Err(Refused::Answers(missing));
        };
        let values = match &*answer.values {
            [] => "none of them".to_owned(),
            values => values.join(", "),
        };
        lines.push(format!("{} {values}", question.text));
    }
    if !message.trim().is_empty() {
        lines.push(message.to_owned());
    }
    Ok(lines.join("\n"))
}
