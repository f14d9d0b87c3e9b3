//! The formats of strings that a refusal can name with an example.

use std::net::{Ipv4Addr, Ipv6Addr};

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
        is_date_time,
    ),
    format("date", "a date such as 2024-02-29", is_date),
    format("time", "a time such as 12:00:00Z", is_time),
    format("duration", "a duration such as PT1H30M", is_duration),
    format(
        "uuid",
        "a UUID such as 67e55044-10b1-426f-9247-bb680e5fe0c8",
        is_uuid,
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

fn is_date_time(text: &str) -> bool {
    let parts = text.split_once(['T', 't', ' ']);
    parts.is_some_and(|(date, time)| is_date(date) && is_time(time))
}

/// `full-date` of RFC 3339, section 5.6.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let from_one = |text, most| number(text, 2, most).is_some_and(|number| number > 0);
    number(year, 4, 9999).is_some() && from_one(month, 12) && from_one(day, 31)
}

/// `full-time` of RFC 3339, section 5.6, with or without its offset.
fn is_time(text: &str) -> bool {
    let end = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    let (clock, offset) = text.split_at(end);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let [hours, minutes, seconds] = parts.as_slice() else {
        return false;
    };
    let within = |text, most| number(text, 2, most).is_some();
    let clock = within(hours, 23) && within(minutes, 59) && within(seconds, 60);
    clock && is_digits(fraction) && is_offset(offset)
}

fn is_offset(text: &str) -> bool {
    let Some(offset) = text.strip_prefix(['+', '-']) else {
        return matches!(text, "" | "Z" | "z");
    };
    offset.split_once(':').is_some_and(|(hours, minutes)| {
        number(hours, 2, 23).is_some() && number(minutes, 2, 59).is_some()
    })
}

/// Numbers with their units, behind `P` (RFC 3339, appendix A).
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else {
        return false;
    };
    let units = rest.split(|c: char| c.is_ascii_digit() || matches!(c, '.' | 'T'));
    let known = |unit: &str| matches!(unit, "" | "Y" | "M" | "W" | "D" | "H" | "S");
    rest.ends_with(['Y', 'M', 'W', 'D', 'H', 'S'])
        && rest.contains(|c: char| c.is_ascii_digit())
        && units.into_iter().all(known)
}

/// The usual form of RFC 9562, section 4.
fn is_uuid(text: &str) -> bool {
    let mut lengths = text.split('-').map(|part| {
        let hexadecimal = part.bytes().all(|byte| byte.is_ascii_hexdigit());
        hexadecimal.then_some(part.len())
    });
    [8, 4, 4, 4, 12]
        .into_iter()
        .all(|length| lengths.next() == Some(Some(length)))
        && lengths.next().is_none()
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

/// A number of exactly `digits` digits, at most `most`.
fn number(text: &str, digits: usize, most: u32) -> Option<u32> {
    let plain = text.len() == digits && is_digits(text);
    let number = plain.then(|| text.parse().ok()).flatten()?;
    (number <= most).then_some(number)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Format, is_date_time};

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
            assert!(is_date_time(text), "{text}");
        }
        assert!(Format::named("email").is_none());
    }
}
