//! The formats of strings that a refusal can name with an example.

use std::net::{Ipv4Addr, Ipv6Addr};

use regex_lite::Regex;

/// A format of JSON Schema Validation 2020-12, section 7.3 ("Defined Formats").
///
/// Types decide what a call accepts, and many accept more than the format says. So a string is held against its format only
/// to explain a call that is refused in any case.
#[derive(Debug)]
pub struct Format {
    name: &'static str,
    /// What a string of this format is, with an example.
    pub described: &'static str,
    /// Whether a string has the format, as far as that can be said without a calendar.
    pub admits: fn(&str) -> bool,
}

const fn format(name: &'static str, described: &'static str, admits: fn(&str) -> bool) -> Format {
    Format {
        name,
        described,
        admits,
    }
}

static FORMATS: [Format; 8] = [
    format(
        "date-time",
        "a date and time such as 2024-02-29T12:00:00Z",
        |text| is(&format!("{DATE}[Tt ]{TIME}"), text),
    ),
    format("date", "a date such as 2024-02-29", |text| is(DATE, text)),
    format("time", "a time such as 12:00:00Z", |text| is(TIME, text)),
    format("duration", "a duration such as PT1H30M", |text| {
        is(DURATION, text)
    }),
    format(
        "uuid",
        "a UUID such as 67e55044-10b1-426f-9247-bb680e5fe0c8",
        |text| is(UUID, text),
    ),
    format("uri", "a URI such as https://example.com/path", is_uri),
    format("ipv4", "an IPv4 address such as 192.0.2.1", |text| {
        text.parse::<Ipv4Addr>().is_ok()
    }),
    format("ipv6", "an IPv6 address such as 2001:db8::1", |text| {
        text.parse::<Ipv6Addr>().is_ok()
    }),
];

impl Format {
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

/// `full-date` of RFC 3339, section 5.6.
const DATE: &str = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])";

/// `full-time` of RFC 3339, section 5.6, with or without its offset.
const TIME: &str =
    r"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?";

/// Numbers with their units, behind `P` (RFC 3339, appendix A).
const DURATION: &str = r"P(?:[YMWDHS]?[.T])*[YMWDHS]?\d(?:[YMWDHS]?[.T\d])*[YMWDHS]";

/// The usual form of RFC 9562, section 4.
const UUID: &str = r"[[:xdigit:]]{8}(?:-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}";

/// Whether a text matches a pattern as a whole.
fn is(pattern: &str, text: &str) -> bool {
    Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(text))
}

/// A scheme and something behind it, without spaces (RFC 3986, section 3).
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(in_scheme)
        && !rest.is_empty()
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn each_format_admits_its_own_example_and_refuses_what_models_write_instead() {
        for (name, refused) in [
            (
                "date-time",
                &[
                    "tomorrow",
                    "2024-02-29",
                    "2024-13-01T12:00:00Z",
                    "29.02.2024 12:00",
                    "2024-02-29T25:00:00Z",
                ][..],
            ),
            (
                "date",
                &[
                    "tomorrow",
                    "02/29/2024",
                    "2024-2-9",
                    "2024-00-10",
                    "2024-02-29T12:00:00Z",
                    "20240229",
                    "-2024-02-29",
                ],
            ),
            (
                "time",
                &[
                    "noon",
                    "12",
                    "12:00",
                    "24:00:00Z",
                    "12:00:00+0100",
                    "12:00:00.Z",
                ],
            ),
            (
                "duration",
                &["90 minutes", "1h30m", "P", "PT", "1:30", "P1X"],
            ),
            (
                "uuid",
                &[
                    "42",
                    "67e55044-10b1-426f-9247",
                    "67e5504410b1426f9247bb680e5fe0c8",
                    "g7e55044-10b1-426f-9247-bb680e5fe0c8",
                ],
            ),
            (
                "uri",
                &[
                    "example.com",
                    "/path",
                    "http:",
                    "https://example.com/a b",
                    "1http://a",
                ],
            ),
            (
                "ipv4",
                &["192.0.2", "192.0.2.256", "2001:db8::1", "localhost"],
            ),
            ("ipv6", &["192.0.2.1", "2001:db8", "[::1]"]),
        ] {
            let format = Format::named(name).unwrap();
            let (_, example) = format.described.rsplit_once(" such as ").unwrap();
            assert!((format.admits)(example), "{example}");
            for text in refused {
                assert!(!(format.admits)(text), "{name}: {text}");
            }
        }
        for text in ["2024-02-29 12:00:00.123+01:00", "1999-12-31t23:59:60z"] {
            let format = Format::named("date-time").unwrap();
            assert!((format.admits)(text), "{text}");
        }
        assert!(Format::named("email").is_none());
    }
}
