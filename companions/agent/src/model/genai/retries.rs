//! Retries requests that failed because a provider was busy, failing or unreachable.

use std::time::Duration;

use reqwest::header::HeaderMap;

use crate::model::ModelError;

/// Before the first further try, where the provider names no time; doubled for each one after it.
const FIRST: Duration = Duration::from_millis(500);

/// A provider that asks for more is not asked again.
const LONGEST: Duration = Duration::from_secs(60);

/// How long to wait before the next try, if there is one.
pub(super) fn wait(most: u32, error: &ModelError, tries: u32) -> Option<Duration> {
    let asked_for = match *error {
        ModelError::Status {
            status: 408 | 429 | 500 | 502 | 503 | 504 | 529,
            retry_after,
            ..
        } => retry_after,
        ModelError::Unreachable { .. } | ModelError::Cut => None,
        _ => return None,
    };
    let doubled = FIRST.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
    let wait = asked_for.unwrap_or(doubled.min(LONGEST));
    (tries <= most && wait <= LONGEST).then_some(wait)
}

/// The wait that a server asks for: `retry-after-ms`, else `retry-after` in seconds.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let milliseconds = number("retry-after-ms").map(|milliseconds| milliseconds / 1_000.0);
    let seconds = milliseconds.or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::HeaderMap;

    use super::{retry_after, wait};
    use crate::model::ModelError;

    fn busy(status: u16, retry_after: Option<Duration>) -> ModelError {
        ModelError::Status {
            status,
            retry_after,
            tries: 1,
            message: String::new(),
        }
    }

    #[test]
    fn the_wait_is_the_servers_own() {
        let seven = Some(Duration::from_secs(7));
        assert_eq!(wait(2, &busy(429, seven), 1), seven);
        assert_eq!(wait(2, &busy(503, None), 2), Some(Duration::from_secs(1)));
        assert_eq!(wait(2, &busy(429, seven), 3), None);
        for status in [408, 429, 500, 502, 503, 504, 529] {
            assert_eq!(wait(2, &busy(status, seven), 1), seven, "{status}");
        }
        for status in [400, 401, 403, 404, 409, 413, 422, 501] {
            assert_eq!(wait(2, &busy(status, seven), 1), None, "{status}");
        }
        let first = Some(Duration::from_millis(500));
        let message = String::new();
        assert_eq!(wait(2, &ModelError::Unreachable { message }, 1), first);
        assert_eq!(wait(2, &ModelError::Cut, 1), first);
        assert_eq!(wait(2, &ModelError::Cut, 3), None);
        assert_eq!(wait(2, &ModelError::TooLong, 1), None);
        // A server that asks for too long a wait is not waited for.
        let hour = Some(Duration::from_secs(3_600));
        assert_eq!(wait(2, &busy(429, hour), 1), None);
    }

    #[test]
    fn a_wait_that_is_no_time_is_none() {
        let header = |name: &'static str, text: &'static str| {
            HeaderMap::from_iter([(
                name.parse().expect("a name"),
                text.parse().expect("a value"),
            )])
        };
        for text in [
            "-1",
            "NaN",
            "inf",
            "1e300",
            "",
            "Wed, 21 Oct 2026 07:28:00 GMT",
        ] {
            assert_eq!(retry_after(&header("retry-after", text)), None, "{text}");
        }
        let mut both = header("retry-after", " 2 ");
        assert_eq!(retry_after(&both), Some(Duration::from_secs(2)));
        both.extend(header("retry-after-ms", "150"));
        assert_eq!(retry_after(&both), Some(Duration::from_millis(150)));
    }
}
