//! Names, values and documents.

use odm::bson::{
    Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, RawDocumentBuf, Regex,
    Timestamp, oid::ObjectId, raw::CString, spec::BinarySubtype,
};

use super::Choices;

/// Few names, so that paths meet existing fields, and names with a meaning.
const NAMES: [&str; 25] = [
    "a",
    "b",
    "c",
    "a",
    "b",
    "_id",
    "0",
    "1",
    "a.b",
    "a.0",
    "a.b.c",
    "a.0.b",
    "a.$[]",
    "a.$[x].b",
    "a.$",
    "",
    ".",
    "a.",
    "$a",
    "99999999999999999999",
    "-1",
    "a.3000",
    "a.15000000",
    "parent",
    "shown.0.a",
];

const PLAIN_NAMES: [&str; 18] = [
    "a", "b", "c", "a", "b", "c", "_id", "0", "a.b", "a.0", "b.a", "a.b.c", "a.0.b", "c.a.0",
    "b.1", "c.b", "b.0.0", "a.x",
];

/// The names of fields in plain documents.
const FIELDS: [&str; 8] = ["a", "b", "c", "a", "b", "0", "1", ""];

const TEXTS: [&str; 12] = [
    "",
    "a",
    "b",
    "(",
    "a*",
    "[[:alpha:]]",
    "(?i)a{1,9}",
    "double",
    "\u{0}",
    "\u{10ffff}",
    "date",
    "^a.b$",
];

const PLAIN_TEXTS: [&str; 14] = [
    "",
    "a",
    "b",
    "ab",
    "A",
    "aB",
    "é",
    "É",
    "a\nb",
    "a\u{0}b",
    "\u{ffff}",
    "\u{10000}",
    "a.b",
    "1",
];

/// Regular expressions.
pub(crate) const PATTERNS: [&str; 16] = [
    "",
    "a",
    "^a",
    "b$",
    "^a.b$",
    "a*",
    "[ab]+",
    "(?i)AB",
    "[[:alpha:]]",
    "\\d",
    "é",
    "a|^$",
    "(a)?b",
    "a b",
    "(",
    "a(?=b)",
];

/// Numbers close to each other, or at the limits of a type.
const DOUBLES: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    1.5,
    2.0,
    2.5,
    -1.0,
    -1.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    5e-324,
    9_007_199_254_740_993.0,
    9_223_372_036_854_775_808.0,
    0.1,
];

const DECIMALS: [&str; 14] = [
    "0",
    "-0",
    "1",
    "1.0",
    "1.5",
    "2",
    "-1",
    "0.1",
    "1E+3",
    "NaN",
    "Infinity",
    "-Infinity",
    "9223372036854775808",
    "9.999999999999999999999999999999999E+6144",
];

impl Choices<'_> {
    /// The name of a field, or a path.
    pub fn name(&mut self) -> String {
        match self.is_plain && !self.is_odd(1) {
            true => self.one_of(&PLAIN_NAMES).to_owned(),
            false => self.one_of(&NAMES).to_owned(),
        }
    }

    /// The name of a field of a value.
    pub(crate) fn field(&mut self) -> String {
        match self.is_plain {
            true => self.one_of(&FIELDS).to_owned(),
            false => self.name(),
        }
    }

    pub(crate) fn text(&mut self) -> String {
        match self.is_plain {
            true => self.one_of(&PLAIN_TEXTS).to_owned(),
            false => self.one_of(&TEXTS).to_owned(),
        }
    }

    /// A regular expression.
    pub(crate) fn pattern(&mut self) -> &'static str {
        match self.is_plain {
            true => self.one_of(&PATTERNS),
            false => self.one_of(&TEXTS),
        }
    }

    pub(crate) fn number(&mut self) -> i64 {
        const EDGES: [i64; 10] = [
            0,
            1,
            2,
            -1,
            i64::MAX,
            i64::MIN,
            i32::MAX as i64,
            i32::MIN as i64,
            1 << 53,
            1_500_000,
        ];
        let kinds = if self.is_plain { 12 } else { 4 };
        match self.below(kinds) {
            0 => EDGES[self.below(EDGES.len())],
            1 => i64::from_le_bytes(self.array()),
            2 => self.below(6) as i64 - 5,
            _ => self.below(4) as i64,
        }
    }

    fn cstring(&mut self) -> CString {
        let text = self.pattern().replace('\0', "");
        CString::try_from(text).expect("it has no NUL")
    }

    fn double(&mut self) -> f64 {
        match self.is_plain {
            true => DOUBLES[self.below(DOUBLES.len())],
            false => f64::from_bits(u64::from_le_bytes(self.array())),
        }
    }

    fn decimal(&mut self) -> Decimal128 {
        match self.is_plain {
            true => self.one_of(&DECIMALS).parse().expect("a decimal"),
            false => Decimal128::from_bytes(self.array()),
        }
    }

    /// A value of any type.
    pub fn value(&mut self, depth: usize) -> Bson {
        if depth > 0 && !self.is_empty() {
            match self.below(5) {
                0 => return Bson::Document(self.document(depth - 1)),
                1 => {
                    let number = self.below(5);
                    return Bson::Array((0..number).map(|_| self.value(depth - 1)).collect());
                }
                _ => {}
            }
        }
        if self.is_plain && self.below(3) > 0 {
            return match self.below(6) {
                0 => Bson::String(self.text()),
                1 => Bson::Null,
                2 => Bson::Int64(self.below(4) as i64),
                3 => Bson::Double(self.below(8) as f64 / 2.0),
                _ => Bson::Int32(self.below(4) as i32),
            };
        }
        match self.below(26) {
            0..4 => Bson::Int32(self.number() as i32),
            4..7 => Bson::Int64(self.number()),
            7 => Bson::Double(self.double()),
            8..10 => Bson::Double(self.number() as f64 / 2.0),
            10 => Bson::Decimal128(self.decimal()),
            11..14 => Bson::String(self.text()),
            14 => Bson::Symbol(self.text()),
            15 => Bson::JavaScriptCode(self.text()),
            16 => Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
                code: self.text(),
                scope: Document::new(),
            }),
            17 => Bson::Binary(self.binary()),
            18 => Bson::Boolean(self.below(2) == 0),
            19 => {
                let millis = self.number();
                // Not every server can read years outside of 1 to 9999.
                let millis = if self.is_plain {
                    millis % 60_000_000_000_000
                } else {
                    millis
                };
                Bson::DateTime(DateTime::from_millis(millis))
            }
            20 => Bson::Timestamp(Timestamp {
                time: self.number() as u32,
                // A server replaces a timestamp of zeros by its own time.
                increment: (self.number() as u32).max(u32::from(self.is_plain)),
            }),
            21 => Bson::ObjectId(ObjectId::from_bytes(self.array())),
            22 => Bson::RegularExpression(Regex {
                pattern: self.cstring(),
                // In alphabetical order, as in `bson`.
                options: CString::try_from(match self.is_plain {
                    true => self.one_of(&["", "i", "im", "s"]),
                    false => self.one_of(&["", "i", "im", "z"]),
                })
                .expect("no NUL"),
            }),
            23 => Bson::Undefined,
            24 => Bson::MinKey,
            25 => Bson::MaxKey,
            _ => Bson::Null,
        }
    }

    fn binary(&mut self) -> Binary {
        let subtype = BinarySubtype::from(self.byte());
        match self.is_plain {
            // Vectors, columns and ciphers have forms of their own.
            true => Binary {
                subtype: match subtype {
                    BinarySubtype::UserDefined(_) | BinarySubtype::Md5 => subtype,
                    _ => BinarySubtype::Generic,
                },
                bytes: vec![self.below(4) as u8; self.below(4)],
            },
            false => Binary {
                subtype,
                bytes: self.array::<3>().to_vec(),
            },
        }
    }

    /// A document of any values.
    pub fn document(&mut self, depth: usize) -> Document {
        let number = self.below(5);
        let fields = (0..number).map(|_| (self.field(), self.value(depth)));
        fields.collect()
    }

    /// A document as it can be stored.
    pub fn stored(&mut self, id: i64) -> RawDocumentBuf {
        let mut document = odm::bson::doc! { "_id": id };
        for name in ["a", "b", "c", "0"] {
            if self.below(3) > 0 {
                document.insert(name, self.value(3));
            }
        }
        RawDocumentBuf::try_from(&document).expect("values of all types are BSON")
    }
}
