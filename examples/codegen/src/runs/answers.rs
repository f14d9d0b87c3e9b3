//! Checks what a user says, and formats it for the model.

use crate::contract::{Answer, Problem, Question};

/// The longest message, in bytes: a task, not a file.
const LONGEST: usize = 20_000;

/// Checks that a text can be given to a model.
pub(super) fn judge(text: &str) -> Result<(), Problem> {
    if text.trim().is_empty() {
        let message = "the message is empty; say what to do";
        return Err(Problem::new(400, "empty_message", message));
    }
    if text.len() > LONGEST {
        let message = format!(
            "the message has {} bytes, and {LONGEST} are the limit; put long texts into files of the project",
            text.len()
        );
        return Err(Problem::new(400, "long_message", message));
    }
    Ok(())
}

/// Returns the text for the model: every answer behind its question, and the message if there is one.
pub(super) fn text(
    questions: &[Question],
    message: &str,
    answers: &[Answer],
) -> Result<String, Problem> {
    let wrong = |message: String| Problem::new(400, "wrong_answers", message);
    // A message alone answers as well: the model reads it.
    if answers.is_empty() {
        return Ok(message.to_owned());
    }
    for answer in answers {
        let question = questions.iter().find(|one| one.id == answer.question);
        let question = question.ok_or_else(|| {
            let asked: Vec<_> = questions.iter().map(|one| &*one.id).collect();
            wrong(format!(
                "`{}` was not asked; the questions are `{}`",
                answer.question,
                asked.join("`, `")
            ))
        })?;
        question.judge(answer).map_err(wrong)?;
    }
    let mut lines = Vec::new();
    for question in questions {
        let mut given = answers.iter().filter(|one| one.question == question.id);
        let answer = match (given.next(), given.next()) {
            (Some(answer), None) => answer,
            (None, _) => return Err(wrong(format!("`{}` is not answered", question.id))),
            _ => return Err(wrong(format!("`{}` is answered twice", question.id))),
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
