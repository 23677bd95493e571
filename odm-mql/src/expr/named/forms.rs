//! The names, and the codes of errors, of the operators whose arguments have names.

/// An operator whose arguments have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::expr) enum NamedOperator {
    DateAdd,
    DateSubtract,
    DateDiff,
    DateTrunc,
    DateFromParts,
    DateFromString,
    DateToParts,
    DateToString,
    Year,
    Month,
    DayOfMonth,
    DayOfYear,
    DayOfWeek,
    Week,
    IsoWeekYear,
    IsoWeek,
    IsoDayOfWeek,
    Hour,
    Minute,
    Second,
    Millisecond,
    RegexMatch,
    RegexFind,
    RegexFindAll,
    Trim,
    Ltrim,
    Rtrim,
    ReplaceOne,
    ReplaceAll,
    Zip,
    SortArray,
    FirstN,
    LastN,
    MaxN,
    MinN,
    Median,
    Percentile,
}

use NamedOperator::*;

impl NamedOperator {
    pub(super) fn is_regex(self) -> bool {
        matches!(self, RegexMatch | RegexFind | RegexFindAll)
    }
}

/// How the arguments of an operator are written.
#[derive(Debug, PartialEq)]
pub(in crate::expr) struct Form {
    pub(super) operator: NamedOperator,
    pub(super) name: &'static str,
    /// The names of the arguments. One that is required has the code of the error without it.
    pub(super) keys: Keys,
    /// The code if there is no document of arguments.
    pub(super) no_document: i32,
    /// The code of an argument with another name.
    pub(super) unknown: i32,
    /// Whether an expression, alone or in an array, can take the place of the document: it is the first argument.
    pub(super) takes_value: bool,
}

type Keys = &'static [(&'static str, Option<i32>)];

impl Form {
    pub(in crate::expr) fn by_name(name: &str) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.name == name)
    }

    const fn new(
        operator: NamedOperator,
        name: &'static str,
        keys: Keys,
        (no_document, unknown): (i32, i32),
    ) -> Form {
        Form {
            operator,
            name,
            keys,
            no_document,
            unknown,
            takes_value: false,
        }
    }

    /// The form of an operator on a date alone.
    const fn of_date(operator: NamedOperator, name: &'static str) -> Form {
        Form {
            takes_value: true,
            ..Form::new(operator, name, OF_DATE, (40_536, 40_535))
        }
    }
}

const OF_DATE: Keys = &[("date", Some(40_539)), ("timezone", None)];
const SHIFT: Keys = &[
    ("startDate", Some(5_166_402)),
    ("unit", Some(5_166_402)),
    ("amount", Some(5_166_402)),
    ("timezone", None),
];
const DIFF: Keys = &[
    ("startDate", Some(5_166_303)),
    ("endDate", Some(5_166_304)),
    ("unit", Some(5_166_305)),
    ("timezone", None),
    ("startOfWeek", None),
];
const TRUNC: Keys = &[
    ("date", Some(5_439_009)),
    ("unit", Some(5_439_010)),
    ("binSize", None),
    ("timezone", None),
    ("startOfWeek", None),
];
const FROM_PARTS: Keys = &[
    ("year", None),
    ("month", None),
    ("day", None),
    ("isoWeekYear", None),
    ("isoWeek", None),
    ("isoDayOfWeek", None),
    ("hour", None),
    ("minute", None),
    ("second", None),
    ("millisecond", None),
    ("timezone", None),
];
const FROM_STRING: Keys = &[
    ("dateString", Some(40_542)),
    ("format", None),
    ("timezone", None),
    ("onNull", None),
    ("onError", None),
];
const TO_PARTS: Keys = &[
    ("date", Some(40_522)),
    ("timezone", None),
    ("iso8601", None),
];
const TO_STRING: Keys = &[
    ("date", Some(18_628)),
    ("format", None),
    ("timezone", None),
    ("onNull", None),
];
const REGEX: Keys = &[
    ("input", Some(31_022)),
    ("regex", Some(31_023)),
    ("options", None),
];
const TRIM: Keys = &[("input", Some(50_695)), ("chars", None)];
const REPLACE: Keys = &[
    ("input", Some(51_749)),
    ("find", Some(51_748)),
    ("replacement", Some(51_747)),
];
const ZIP: Keys = &[
    ("inputs", Some(34_465)),
    ("useLongestLength", None),
    ("defaults", None),
];
const SORT_ARRAY: Keys = &[("input", Some(2_942_502)), ("sortBy", Some(2_942_503))];
const SOME: Keys = &[("n", Some(5_787_906)), ("input", Some(5_787_907))];
const MEDIAN: Keys = &[("input", Some(40_414)), ("method", Some(40_414))];
const PERCENTILE: Keys = &[
    ("input", Some(40_414)),
    ("method", Some(40_414)),
    ("p", Some(40_414)),
];

static FORMS: [Form; 37] = [
    Form::new(DateAdd, "$dateAdd", SHIFT, (5_166_400, 5_166_401)),
    Form::new(DateSubtract, "$dateSubtract", SHIFT, (5_166_400, 5_166_401)),
    Form::new(DateDiff, "$dateDiff", DIFF, (5_166_301, 5_166_302)),
    Form::new(DateTrunc, "$dateTrunc", TRUNC, (5_439_007, 5_439_008)),
    Form::new(
        DateFromParts,
        "$dateFromParts",
        FROM_PARTS,
        (40_519, 40_518),
    ),
    Form::new(
        DateFromString,
        "$dateFromString",
        FROM_STRING,
        (40_540, 40_541),
    ),
    Form::new(DateToParts, "$dateToParts", TO_PARTS, (40_524, 40_520)),
    Form::new(DateToString, "$dateToString", TO_STRING, (18_629, 18_534)),
    Form::of_date(Year, "$year"),
    Form::of_date(Month, "$month"),
    Form::of_date(DayOfMonth, "$dayOfMonth"),
    Form::of_date(DayOfYear, "$dayOfYear"),
    Form::of_date(DayOfWeek, "$dayOfWeek"),
    Form::of_date(Week, "$week"),
    Form::of_date(IsoWeekYear, "$isoWeekYear"),
    Form::of_date(IsoWeek, "$isoWeek"),
    Form::of_date(IsoDayOfWeek, "$isoDayOfWeek"),
    Form::of_date(Hour, "$hour"),
    Form::of_date(Minute, "$minute"),
    Form::of_date(Second, "$second"),
    Form::of_date(Millisecond, "$millisecond"),
    Form::new(RegexMatch, "$regexMatch", REGEX, (51_103, 31_024)),
    Form::new(RegexFind, "$regexFind", REGEX, (51_103, 31_024)),
    Form::new(RegexFindAll, "$regexFindAll", REGEX, (51_103, 31_024)),
    Form::new(Trim, "$trim", TRIM, (50_696, 50_694)),
    Form::new(Ltrim, "$ltrim", TRIM, (50_696, 50_694)),
    Form::new(Rtrim, "$rtrim", TRIM, (50_696, 50_694)),
    Form::new(ReplaceOne, "$replaceOne", REPLACE, (51_751, 51_750)),
    Form::new(ReplaceAll, "$replaceAll", REPLACE, (51_751, 51_750)),
    Form::new(Zip, "$zip", ZIP, (34_460, 34_464)),
    Form::new(SortArray, "$sortArray", SORT_ARRAY, (2_942_500, 2_942_501)),
    Form::new(FirstN, "$firstN", SOME, (5_787_801, 5_787_901)),
    Form::new(LastN, "$lastN", SOME, (5_787_801, 5_787_901)),
    Form::new(MaxN, "$maxN", SOME, (5_787_900, 5_787_901)),
    Form::new(MinN, "$minN", SOME, (5_787_900, 5_787_901)),
    Form::new(Median, "$median", MEDIAN, (7_436_201, 40_415)),
    Form::new(Percentile, "$percentile", PERCENTILE, (7_436_200, 40_415)),
];
