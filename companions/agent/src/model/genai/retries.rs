//! Retries requests that failed because a provider was busy, failing or unreachable.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::model::ModelError;

/// How often a provider is asked again, and how long is waited for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retries {
    pub(super) most: u32,
    pub(super) longest: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            most: 2,
            longest: Duration::from_secs(60),
        }
    }
}

/// Before the first further try, where the provider names no time; doubled for each one after it.
const FIRST: Duration = Duration::from_millis(500);

impl Retries {
    /// How long to wait before the next try, if there is one.
    pub(super) fn wait(self, error: &ModelError, tries: u32) -> Option<Duration> {
        let retry_after = match *error {
            ModelError::Status {
                status: 408 | 429 | 500 | 502 | 503 | 504 | 529,
                retry_after,
                ..
            } => retry_after,
            ModelError::Unreachable { .. } | ModelError::Cut => None,
            _ => return None,
        };
        if tries > self.most {
            return None;
        }
        let doubled = FIRST.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
        match retry_after {
            Some(wait) => (wait <= self.longest).then_some(wait),
            None => Some(doubled.min(self.longest)),
        }
    }
}

/// The wait that a server asks for: `retry-after-ms`, else `retry-after` in seconds or as a date.
pub(super) fn retry_after<'h>(
    header: impl Fn(&'static str) -> Option<&'h str>,
    now: SystemTime,
) -> Option<Duration> {
    let number = |name| header(name)?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms")
        .map(|milliseconds| milliseconds / 1_000.0)
        .or_else(|| number("retry-after"));
    if let Some(seconds) = seconds {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = UNIX_EPOCH.checked_add(date(header("retry-after")?)?)?;
    Some(until.duration_since(now).unwrap_or_default())
}

/// A date as HTTP writes it, since 1970: `Wed, 21 Oct 2026 07:28:00 GMT`.
///
/// Sources: RFC 9110, 2022, section 5.6.7, `IMF-fixdate`; Hinnant, "chrono-compatible low-level date algorithms", 2021,
/// `days_from_civil`.
fn date(text: &str) -> Option<Duration> {
    const MONTHS: [&str; 12] = [
        "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb",
    ];
    let mut words = text.trim().strip_suffix(" GMT")?.split(' ').skip(1);
    let day = words.next()?.parse::<u64>().ok();
    let day = day.filter(|day| (1..=31).contains(day))?;
    let month = words.next()?;
    let (month, _) = (0_u64..).zip(MONTHS).find(|(_, known)| *known == month)?;
    let year = words.next()?.parse::<u64>().ok();
    let year = year.filter(|year| *year <= 9_999)?;
    let mut parts = words.next()?.split(':');
    let mut part = |most: u64| parts.next()?.parse().ok().filter(|part| *part <= most);
    let (hours, minutes, seconds): (u64, u64, u64) = (part(23)?, part(59)?, part(60)?);
    // Years begin in March, so that the day that some have more is their last.
    let year = if month >= 10 {
        year.checked_sub(1)?
    } else {
        year
    };
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = (365 * year + year / 4 - year / 100 + year / 400 + of_year).checked_sub(719_468)?;
    Some(Duration::from_secs(
        ((days * 24 + hours) * 60 + minutes) * 60 + seconds,
    ))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{Retries, retry_after};
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
        let retries = Retries::default();
        let wait = Some(Duration::from_secs(7));
        assert_eq!(retries.wait(&busy(429, wait), 1), wait);
        assert_eq!(
            retries.wait(&busy(503, None), 2),
            Some(Duration::from_secs(1))
        );
        assert_eq!(retries.wait(&busy(429, wait), 3), None);
        for status in [408, 429, 500, 502, 503, 504, 529] {
            assert_eq!(retries.wait(&busy(status, wait), 1), wait, "{status}");
        }
        for status in [400, 401, 403, 404, 409, 413, 422, 501] {
            assert_eq!(retries.wait(&busy(status, wait), 1), None, "{status}");
        }
        let first = Some(Duration::from_millis(500));
        let message = String::new();
        assert_eq!(retries.wait(&ModelError::Unreachable { message }, 1), first);
        assert_eq!(retries.wait(&ModelError::Cut, 1), first);
        assert_eq!(retries.wait(&ModelError::Cut, 3), None);
        assert_eq!(retries.wait(&ModelError::TooLong, 1), None);
    }

    #[test]
    fn a_server_that_asks_for_too_long_a_wait_is_not_waited_for() {
        let wait = Some(Duration::from_secs(3_600));
        assert_eq!(Retries::default().wait(&busy(429, wait), 1), None);
    }

    #[test]
    fn a_wait_that_is_no_time_is_none() {
        for text in [
            "-1",
            "NaN",
            "inf",
            "1e300",
            "",
            "Wed, 21 Oct",
            "Wed, 0 Oct 2026 07:28:00 GMT",
            "Wed, 21 Okt 2026 07:28:00 GMT",
            "Wed, 21 Oct 1926 07:28:00 GMT",
            "Wed, 21 Oct 2026 27:28:00 GMT",
        ] {
            let header = |name| (name == "retry-after").then_some(text);
            assert_eq!(retry_after(header, UNIX_EPOCH), None, "{text}");
        }
        let header = |name| (name == "retry-after").then_some(" 2 ");
        assert_eq!(
            retry_after(header, UNIX_EPOCH),
            Some(Duration::from_secs(2))
        );
        let header = |name| Some(if name == "retry-after-ms" { "150" } else { "9" });
        assert_eq!(
            retry_after(header, UNIX_EPOCH),
            Some(Duration::from_millis(150))
        );
    }

    /// The seconds are those that `date -u -d .. +%s` of GNU prints.
    #[test]
    fn a_wait_may_end_at_a_date() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:05 GMT", 5),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Wed, 21 Oct 2026 07:28:00 GMT", 1_792_567_680),
            ("Fri, 31 Dec 2100 12:00:00 GMT", 4_133_937_600),
        ] {
            let header = |name| (name == "retry-after").then_some(text);
            let wait = Some(Duration::from_secs(seconds));
            assert_eq!(retry_after(header, UNIX_EPOCH), wait, "{text}");
            let later = UNIX_EPOCH + Duration::from_secs(seconds + 1);
            assert_eq!(retry_after(header, later), Some(Duration::ZERO), "{text}");
        }
    }
}
