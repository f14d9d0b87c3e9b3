//! What the environment says about a model.

use super::builder::{GenaiBuildError, GenaiModelBuilder};
use super::provider::Provider;

/// The first provider of which a key or an endpoint is set, with its model.
pub(super) fn model(
    read: impl Fn(&str) -> Option<String>,
) -> Result<GenaiModelBuilder, GenaiBuildError> {
    let read = |variable: &str| read(variable).filter(|text| !text.trim().is_empty());
    let found = Provider::ALL.into_iter().find_map(|provider| {
        let key = read(provider.key_variable());
        let endpoint = read(endpoint_variable(provider));
        (key.is_some() || endpoint.is_some()).then_some((provider, key, endpoint))
    });
    let Some((provider, key, endpoint)) = found else {
        return Err(GenaiBuildError::NoProvider);
    };
    let variable = model_variable(provider);
    let Some(model) = read(variable) else {
        return Err(GenaiBuildError::NoModel { variable });
    };
    let mut builder = GenaiModelBuilder::new(model.trim().to_owned()).provider(provider);
    if let Some(endpoint) = endpoint {
        builder = builder.endpoint(versioned(provider, endpoint.trim()));
    }
    if let Some(key) = key {
        builder = builder.key(key);
    }
    Ok(builder)
}

const fn model_variable(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "OPENAI_MODEL",
        Provider::Anthropic => "ANTHROPIC_MODEL",
        Provider::Gemini => "GEMINI_MODEL",
    }
}

const fn endpoint_variable(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "OPENAI_BASE_URL",
        Provider::Anthropic => "ANTHROPIC_BASE_URL",
        Provider::Gemini => "GOOGLE_GEMINI_BASE_URL",
    }
}

/// The variable of `OpenAI` holds the version of the protocol, and those of the others do not.
fn versioned(provider: Provider, endpoint: &str) -> String {
    let version = match provider {
        Provider::OpenAi => return endpoint.to_owned(),
        Provider::Anthropic => "/v1",
        Provider::Gemini => "/v1beta",
    };
    let endpoint = endpoint.trim_end_matches('/');
    if endpoint.ends_with(version) {
        return endpoint.to_owned();
    }
    format!("{endpoint}{version}")
}

#[cfg(test)]
mod tests {
    use super::{GenaiBuildError, model};
    use crate::agent::model::{Model as _, Provider};

    fn of(variables: &[(&str, &str)]) -> Result<(Provider, String, String), GenaiBuildError> {
        let read = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let model = model(read)?.build()?;
        let endpoint = model.settings.endpoint.clone();
        Ok((model.provider(), model.name().to_owned(), endpoint))
    }

    #[test]
    fn the_environment_names_provider_model_and_endpoint() {
        let said = of(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_MODEL", "claude-x")]);
        let endpoint = "https://api.anthropic.com/v1/".to_owned();
        assert_eq!(
            said,
            Ok((Provider::Anthropic, "claude-x".to_owned(), endpoint))
        );
        let said = of(&[
            ("OPENAI_API_KEY", " "),
            ("OPENAI_BASE_URL", "http://localhost:8080/v1"),
            ("OPENAI_MODEL", "qwen"),
        ]);
        let endpoint = "http://localhost:8080/v1".to_owned();
        assert_eq!(said, Ok((Provider::OpenAi, "qwen".to_owned(), endpoint)));
        let said = of(&[
            ("GEMINI_API_KEY", "k"),
            ("GEMINI_MODEL", "gemini-x"),
            ("GOOGLE_GEMINI_BASE_URL", "http://localhost:1/"),
        ]);
        let endpoint = "http://localhost:1/v1beta".to_owned();
        assert_eq!(
            said,
            Ok((Provider::Gemini, "gemini-x".to_owned(), endpoint))
        );
    }

    #[test]
    fn an_environment_that_says_too_little_says_what_is_missing() {
        assert_eq!(of(&[]), Err(GenaiBuildError::NoProvider));
        let variable = "OPENAI_MODEL";
        let said = of(&[("OPENAI_API_KEY", "k")]);
        assert_eq!(said, Err(GenaiBuildError::NoModel { variable }));
    }
}
