//! Reads the model, its key and its endpoint from environment variables.

use super::builder::{GenaiBuildError, GenaiModelBuilder};
use super::provider::Provider;

/// A variable that says something.
pub(super) fn set(read: &impl Fn(&str) -> Option<String>, variable: &str) -> Option<String> {
    let text = read(variable)?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The key of a provider.
pub(super) fn key(provider: Provider, read: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let facts = provider.facts();
    set(read, facts.key).or_else(|| set(read, facts.other_key?))
}

/// The endpoint that a key of a provider belongs to, where that is not the provider's own. The variable of `OpenAI` holds the version
/// of the protocol, and those of the others do not.
pub(super) fn endpoint(
    provider: Provider,
    read: &impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let facts = provider.facts();
    let endpoint = set(read, facts.endpoint_variable)?;
    let base = endpoint.trim_end_matches('/');
    if base.ends_with(facts.version) {
        return Some(endpoint);
    }
    Some(format!("{base}{}", facts.version))
}

/// Returns the first provider with a key or an endpoint in the environment, and its model.
pub(super) fn model(
    read: &impl Fn(&str) -> Option<String>,
) -> Result<GenaiModelBuilder, GenaiBuildError> {
    let is_set =
        |provider: &Provider| key(*provider, read).is_some() || endpoint(*provider, read).is_some();
    let provider = Provider::ALL.into_iter().find(is_set);
    let provider = provider.ok_or(GenaiBuildError::NoProvider)?;
    let variable = provider.facts().model_variable;
    let model = set(read, variable).ok_or(GenaiBuildError::NoModel { variable })?;
    Ok(GenaiModelBuilder::new(model).provider(provider))
}

#[cfg(test)]
mod tests {
    use super::{GenaiBuildError, GenaiModelBuilder, model};
    use crate::model::{Model as _, Provider};

    fn of(variables: &[(&str, &str)]) -> Result<(Provider, String, String), GenaiBuildError> {
        let read = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let model = model(&read)?.build_in(&read)?;
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

    /// The host that a model asks, and the keys that go there.
    fn host_and_keys(
        builder: GenaiModelBuilder,
        variables: &[(&str, &str)],
    ) -> Result<(String, String), GenaiBuildError> {
        let read = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let model = builder.build_in(&read)?;
        let endpoint = model.settings.endpoint.clone();
        let hidden = model.settings.secrets.hide("key-1 key-2 key-3");
        let keys = ["key-1", "key-2", "key-3"];
        let known = keys.into_iter().filter(|key| !hidden.contains(key));
        Ok((endpoint, known.collect()))
    }

    /// Of each provider: its name, its keys, its endpoint as the environment says it, and as it is asked, and its own.
    const PAIRS: [(&str, &[&str], &str, &str, &str); 3] = [
        (
            "gpt-x",
            &["OPENAI_API_KEY"],
            "OPENAI_BASE_URL",
            "http://gateway/v1",
            "https://api.openai.com/v1/",
        ),
        (
            "claude-x",
            &["ANTHROPIC_API_KEY"],
            "ANTHROPIC_BASE_URL",
            "http://gateway/v1",
            "https://api.anthropic.com/v1/",
        ),
        (
            "gemini-x",
            &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            "GOOGLE_GEMINI_BASE_URL",
            "http://gateway/v1/v1beta",
            "https://generativelanguage.googleapis.com/v1beta/",
        ),
    ];

    #[test]
    fn a_key_of_the_environment_goes_to_no_host_that_was_not_named_with_it() {
        for (name, keys, variable, asked, own) in PAIRS {
            for key in keys {
                let build = || GenaiModelBuilder::new(name.to_owned());
                let sends = |endpoint: &str, key: &str| Ok((endpoint.to_owned(), key.to_owned()));
                let alone = [(*key, "key-1")];
                let with_endpoint = [(*key, "key-1"), (variable, "http://gateway/v1")];
                assert_eq!(host_and_keys(build(), &alone), sends(own, "key-1"));
                assert_eq!(
                    host_and_keys(build(), &with_endpoint),
                    sends(asked, "key-1")
                );
                // Chosen by its variable, it is the same key.
                assert_eq!(
                    host_and_keys(build().key_from(*key), &with_endpoint),
                    sends(asked, "key-1")
                );
                // Another endpoint gets none, unless that is said.
                let other = || build().endpoint("http://other/v1");
                for environment in [&alone[..], &with_endpoint[..]] {
                    assert_eq!(
                        host_and_keys(other(), environment),
                        sends("http://other/v1", "")
                    );
                }
                assert_eq!(
                    host_and_keys(other().key_from(*key), &with_endpoint),
                    sends("http://other/v1", "key-1")
                );
                // A key of the program's own is not the gateway's.
                assert_eq!(
                    host_and_keys(build().key("key-2"), &with_endpoint),
                    sends(own, "key-2")
                );
                // Those of the others stay where they are.
                for (_, keys, variable, ..) in PAIRS.into_iter().filter(|pair| pair.0 != name) {
                    let others = [
                        (keys[0], "key-3"),
                        (variable, "http://third/v1"),
                        (*key, "key-1"),
                    ];
                    assert_eq!(host_and_keys(build(), &others), sends(own, "key-1"));
                    let missing = host_and_keys(build(), &others[..2]);
                    assert!(
                        matches!(missing, Err(GenaiBuildError::NoKey { .. })),
                        "{missing:?}"
                    );
                }
            }
            // A server of one's own may need none.
            let endpoint = [(variable, "http://gateway/v1")];
            let model = GenaiModelBuilder::new(name.to_owned());
            let without = (asked.to_owned(), String::new());
            assert_eq!(host_and_keys(model, &endpoint), Ok(without));
        }
    }

    #[test]
    fn the_key_of_gemini_may_be_named_after_google() {
        let both = [("GOOGLE_API_KEY", "key-2"), ("GEMINI_API_KEY", "key-1")];
        for (variables, key) in [
            (&both[..1], "key-2"),
            (&both[1..], "key-1"),
            (&both, "key-1"),
        ] {
            let model = GenaiModelBuilder::new("gemini-x".to_owned());
            let sent = host_and_keys(model, variables).map(|(_, keys)| keys);
            assert_eq!(sent, Ok(key.to_owned()), "{variables:?}");
            let named = [variables, &[("GEMINI_MODEL", "gemini-x")]].concat();
            assert_eq!(of(&named).map(|said| said.0), Ok(Provider::Gemini));
        }
    }

    #[test]
    fn an_environment_that_says_too_little_says_what_is_missing() {
        assert_eq!(of(&[]), Err(GenaiBuildError::NoProvider));
        let variable = "OPENAI_MODEL";
        let said = of(&[("OPENAI_API_KEY", "k")]);
        assert_eq!(said, Err(GenaiBuildError::NoModel { variable }));
    }
}
