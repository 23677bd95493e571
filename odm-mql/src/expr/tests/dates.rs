//! Operators on dates.

use bson::DateTime;

use super::*;

fn date(text: &str) -> Bson {
    DateTime::parse_rfc3339_str(text).expect("a date").into()
}

/// A Saturday in the week 24, with a date in `winter` and one in `summer` of New York.
fn document() -> Document {
    doc! {
        "at": date("2024-06-15T10:30:45.123Z"),
        "winter": date("2021-01-31T04:30:00Z"),
        "null": null,
        "text": "a",
    }
}

fn check(cases: impl IntoIterator<Item = (Document, Bson)>) {
    for (expression, expected) in cases {
        let value = value(expression.clone(), document());
        assert_eq!(value, Some(expected), "{expression}");
    }
}

fn check_errors(cases: impl IntoIterator<Item = (Document, i32)>) {
    for (expression, code) in cases {
        let parsed = Expr::parse(&expression.clone().into());
        let result = parsed.and_then(|parsed| parsed.evaluate(&raw(document())));
        let error = result.expect_err("no value");
        assert_eq!(error.code(), code, "{expression}: {error}");
    }
}

#[test]
fn a_date_has_parts_in_every_time_zone() {
    let york = "America/New_York";
    check([
        (doc! { "$year": "$at" }, 2024.into()),
        (doc! { "$month": ["$at"] }, 6.into()),
        (doc! { "$dayOfMonth": { "date": "$at" } }, 15.into()),
        (doc! { "$dayOfYear": "$at" }, 167.into()),
        (doc! { "$dayOfWeek": "$at" }, 7.into()),
        (doc! { "$week": "$at" }, 23.into()),
        (doc! { "$isoWeek": "$at" }, 24.into()),
        (doc! { "$isoWeekYear": date("2021-01-01T00:00:00Z") }, 2020_i64.into()),
        (doc! { "$isoDayOfWeek": "$at" }, 6.into()),
        (doc! { "$hour": { "date": "$at", "timezone": york } }, 6.into()),
        (doc! { "$hour": { "date": "$winter", "timezone": york } }, 23.into()),
        (doc! { "$minute": { "date": "$at", "timezone": "+05:30" } }, 0.into()),
        (doc! { "$second": "$at" }, 45.into()),
        (doc! { "$millisecond": "$at" }, 123.into()),
        (doc! { "$year": "$null" }, Bson::Null),
        (
            doc! { "$dateToParts": { "date": "$at", "timezone": york } },
            doc! { "year": 2024, "month": 6, "day": 15, "hour": 6, "minute": 30, "second": 45, "millisecond": 123 }.into(),
        ),
        (
            doc! { "$dateFromParts": { "year": 2024, "month": 14, "day": 1, "timezone": "-01" } },
            date("2025-02-01T01:00:00Z"),
        ),
        (
            doc! { "$dateFromParts": { "isoWeekYear": 2024, "isoWeek": 24, "isoDayOfWeek": 6 } },
            date("2024-06-15T00:00:00Z"),
        ),
    ]);
    check_errors([
        (doc! { "$year": "$text" }, 16_006),
        (
            doc! { "$year": { "date": "$at", "timezone": "Nowhere" } },
            40_485,
        ),
        (doc! { "$year": { "date": "$at", "timezone": 1 } }, 40_517),
        (doc! { "$year": [] }, 40_536),
        (doc! { "$year": { "timezone": "UTC" } }, 40_539),
        (doc! { "$dateFromParts": { "month": 1 } }, 40_516),
        (
            doc! { "$dateFromParts": { "year": 1, "isoWeek": 1 } },
            40_489,
        ),
        (doc! { "$dateFromParts": { "year": 0 } }, 40_523),
        (doc! { "$dateFromParts": { "year": "a" } }, 40_515),
    ]);
}

#[test]
fn dates_are_moved_compared_and_truncated_on_the_local_clock() {
    let add = |unit: &str, amount: i64| {
        doc! { "$dateAdd": { "startDate": "$winter", "unit": unit, "amount": amount, "timezone": "America/New_York" } }
    };
    let diff = |unit: &str, end: &str| {
        doc! { "$dateDiff": { "startDate": "$at", "endDate": date(end), "unit": unit } }
    };
    let trunc = |unit: &str, size: i32, zone: &str| {
        doc! { "$dateTrunc": { "date": "$at", "unit": unit, "binSize": size, "timezone": zone } }
    };
    check([
        // It is the 30th in New York.
        (add("month", 1), date("2021-03-01T04:30:00Z")),
        // The clocks change in March.
        (add("day", 45), date("2021-03-17T03:30:00Z")),
        (add("hour", 24 * 45), date("2021-03-17T04:30:00Z")),
        (
            doc! { "$dateSubtract": { "startDate": "$at", "unit": "year", "amount": 1 } },
            date("2023-06-15T10:30:45.123Z"),
        ),
        (diff("day", "2024-06-17T00:00:00Z"), 2_i64.into()),
        (diff("week", "2024-06-16T00:00:00Z"), 1_i64.into()),
        (diff("quarter", "2024-03-31T00:00:00Z"), (-1_i64).into()),
        (diff("hour", "2024-06-15T11:00:00Z"), 1_i64.into()),
        (
            trunc("day", 1, "America/New_York"),
            date("2024-06-15T04:00:00Z"),
        ),
        (trunc("hour", 6, "UTC"), date("2024-06-15T06:00:00Z")),
        (trunc("week", 1, "UTC"), date("2024-06-09T00:00:00Z")),
        (trunc("quarter", 1, "UTC"), date("2024-04-01T00:00:00Z")),
        (trunc("year", 10, "UTC"), date("2020-01-01T00:00:00Z")),
        (
            doc! { "$dateTrunc": { "date": "$at", "unit": "week", "startOfWeek": "Mon" } },
            date("2024-06-10T00:00:00Z"),
        ),
    ]);
    check_errors([
        (add("moon", 1), 9),
        (add("month", 30_000_000_000), 5_976_500),
        (add("year", 300_000_000), 5_166_406),
        (
            doc! { "$dateAdd": { "startDate": "$at", "unit": "day", "amount": 1.5 } },
            5_166_405,
        ),
        (
            doc! { "$dateAdd": { "startDate": "$text", "unit": "day", "amount": 1 } },
            5_166_403,
        ),
        (
            doc! { "$dateDiff": { "startDate": "$at", "unit": "day" } },
            5_166_304,
        ),
        (trunc("day", 0, "UTC"), 5_439_018),
        (
            doc! { "$dateTrunc": { "date": "$at", "unit": "week", "startOfWeek": "never" } },
            5_439_016,
        ),
    ]);
}

#[test]
fn dates_are_written_and_read_by_a_format() {
    let to = |format: &str| doc! { "$dateToString": { "date": "$at", "format": format } };
    let from = |text: &str, format: &str| doc! { "$dateFromString": { "dateString": text, "format": format } };
    check([
        (
            doc! { "$dateToString": { "date": "$at" } },
            "2024-06-15T10:30:45.123Z".into(),
        ),
        (
            doc! { "$dateToString": { "date": "$at", "timezone": "+02" } },
            "2024-06-15T12:30:45.123".into(),
        ),
        (
            to("%d.%m.%Y %H:%M:%S,%L %% %j %b %B"),
            "15.06.2024 10:30:45,123 % 167 Jun June".into(),
        ),
        (
            to("%G-W%V-%u %w %U %z %Z"),
            "2024-W24-6 7 23 +0000 0".into(),
        ),
        (
            doc! { "$dateToString": { "date": "$null", "onNull": "-" } },
            "-".into(),
        ),
        (
            from("15.06.2024 9:05", "%d.%m.%Y %H:%M"),
            date("2024-06-15T09:05:00Z"),
        ),
        (
            from("jun 2024 +0200", "%b %Y %z"),
            date("2024-05-31T22:00:00Z"),
        ),
        (from("2024-24-6", "%G-%V-%u"), date("2024-06-15T00:00:00Z")),
        (
            doc! { "$dateFromString": { "dateString": "2024-06-15T12:00", "timezone": "Europe/Paris" } },
            date("2024-06-15T10:00:00Z"),
        ),
        (
            doc! { "$dateFromString": { "dateString": "no date", "onError": 0 } },
            0.into(),
        ),
        (
            doc! { "$dateFromString": { "dateString": "$null", "onNull": 1 } },
            1.into(),
        ),
    ]);
    check_errors([
        (to("%Q"), 18_536),
        (
            doc! { "$dateToString": { "date": "$at", "format": 1 } },
            18_533,
        ),
        (doc! { "$dateToString": { "date": DateTime::MAX } }, 18_537),
        (from("2024-02-30", "%Y-%m-%d"), 241),
        (from("2024", "%Q"), 18_536),
        (doc! { "$dateFromString": { "dateString": "no date" } }, 241),
        (
            doc! { "$dateFromString": { "dateString": "2024-06-15T12:00Z", "timezone": "UTC" } },
            241,
        ),
    ]);
}

proptest! {
    /// The calendar against that of `bson`, which has the years from 0000 to 9999.
    #[test]
    fn the_parts_of_a_date_are_those_of_its_text(millis in -62_167_219_200_000_i64..253_402_300_800_000) {
        let at = DateTime::from_millis(millis);
        let text = value(doc! { "$dateToString": { "date": at } }, doc! {});
        let expected = value(doc! { "$toString": at }, doc! {});
        prop_assert_eq!(&text, &expected);
        let read = value(doc! { "$dateFromString": { "dateString": text.expect("a text") } }, doc! {});
        prop_assert_eq!(read, Some(at.into()));
        let parts = doc! { "$dateToParts": { "date": at, "iso8601": true, "timezone": "Asia/Kolkata" } };
        let Some(Bson::Document(mut parts)) = value(parts, doc! {}) else {
            panic!("no parts");
        };
        parts.insert("timezone", "Asia/Kolkata");
        let made = evaluated(doc! { "$dateFromParts": parts }, doc! {});
        prop_assert!(made == Ok(Some(at.into())) || made.is_err_and(|error| error.code() == 40_523));
    }
}

#[test]
fn null_is_met_in_the_order_of_mongodb() {
    check([
        (
            doc! { "$year": { "date": "$null", "timezone": "$text" } },
            Bson::Null,
        ),
        (
            doc! { "$dateDiff": { "startDate": "$at", "endDate": "$null", "unit": "$text" } },
            Bson::Null,
        ),
        (
            doc! { "$dateDiff": { "startDate": "$null", "endDate": 1, "unit": "$text" } },
            Bson::Null,
        ),
        (
            doc! { "$dateAdd": { "startDate": "$null", "unit": "$text", "amount": 1 } },
            Bson::Null,
        ),
        (
            doc! { "$dateAdd": { "startDate": "$at", "unit": "day", "amount": "$null", "timezone": "$text" } },
            Bson::Null,
        ),
        (
            doc! { "$dateTrunc": { "date": "$null", "unit": "$text" } },
            Bson::Null,
        ),
        (
            doc! { "$dateTrunc": { "date": "$at", "binSize": "$null", "unit": "$text" } },
            Bson::Null,
        ),
        (
            doc! { "$dateFromParts": { "year": 0, "month": "$null" } },
            Bson::Null,
        ),
        (
            doc! { "$dateFromParts": { "year": "$text", "hour": "$null" } },
            Bson::Null,
        ),
        (
            doc! { "$dateToParts": { "date": "$at", "timezone": "$null", "iso8601": "$text" } },
            Bson::Null,
        ),
        (
            doc! { "$dateToString": { "date": "$null", "format": "$null", "onNull": "none" } },
            "none".into(),
        ),
    ]);
    check_errors([
        (
            doc! { "$year": { "date": "$text", "timezone": "$text" } },
            16_006,
        ),
        (
            doc! { "$dateTrunc": { "date": "$at", "binSize": 0, "unit": "$text" } },
            5_439_018,
        ),
        (doc! { "$dateFromParts": { "isoWeekYear": 0 } }, 31_095),
    ]);
}

#[test]
fn a_bin_size_has_one_bound_for_long_units_and_one_for_short_ones() {
    let trunc = |unit: &str, size: i64| doc! { "$dateTrunc": { "date": "$at", "unit": unit, "binSize": size } };
    let most = 100_000_000_000;
    for unit in ["day", "week", "month", "quarter", "year"] {
        check_errors([(trunc(unit, most + 1), 5_439_006)]);
        check([(
            trunc(unit, most),
            value(trunc(unit, most), document()).unwrap_or(Bson::Null),
        )]);
    }
    for unit in ["hour", "minute", "second"] {
        check_errors([(trunc(unit, i64::MAX), 5_439_002)]);
    }
}

#[cfg(feature = "time-zones")]
#[test]
fn hours_pass_alike_on_a_clock_that_is_changed() {
    let trunc = |at: &str, unit: &str, size: i32, zone: &str| {
        doc! { "$dateTrunc": { "date": date(at), "unit": unit, "binSize": size, "timezone": zone } }
    };
    let hours = |start: &str, end: &str, unit: &str| {
        let (start, end) = (date(start), date(end));
        let zone = "Australia/Lord_Howe";
        doc! { "$dateDiff": { "startDate": start, "endDate": end, "unit": unit, "timezone": zone } }
    };
    check([
        (
            trunc("2024-07-01T04:30:00Z", "hour", 2, "America/New_York"),
            date("2024-07-01T03:00:00Z"),
        ),
        (
            trunc("2024-01-01T04:30:00Z", "hour", 2, "America/New_York"),
            date("2024-01-01T03:00:00Z"),
        ),
        // The clock is half an hour later in summer: at 10:10 in winter, and at 10:40 in summer.
        (
            hours("2024-06-30T23:40:00Z", "2024-12-31T23:40:00Z", "minute"),
            264_960_i64.into(),
        ),
        (
            hours("2024-06-30T23:40:00Z", "2024-12-31T23:40:00Z", "hour"),
            4_416_i64.into(),
        ),
        (
            hours("2024-06-30T23:40:00Z", "2025-01-01T00:10:00Z", "hour"),
            4_417_i64.into(),
        ),
    ]);
    let text = |format: &str| {
        let at = date("1880-01-01T12:00:00Z");
        doc! { "$dateToString": { "date": at, "format": format, "timezone": "America/New_York" } }
    };
    check([(text("%z"), "-0456".into()), (text("%Z"), "-296".into())]);
}
