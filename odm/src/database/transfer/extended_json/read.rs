//! Reads extended JSON: its canonical and relaxed forms, and the forms of older programs.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use bson::{
    Binary, Bson, DateTime, Document, JavaScriptCodeWithScope, Regex, Timestamp,
    spec::BinarySubtype,
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

/// A document of an export of this library.
pub(crate) struct ExportedDocument(pub(crate) Document);

impl<'de> Deserialize<'de> for ExportedDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ValueReader {
            has_old_forms: false,
        }
        .document(deserializer)
        .map(ExportedDocument)
    }
}

/// A document of a file of another program.
pub(in crate::database::transfer) struct ForeignDocument(
    pub(in crate::database::transfer) Document,
);

impl<'de> Deserialize<'de> for ForeignDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ValueReader {
            has_old_forms: true,
        }
        .document(deserializer)
        .map(ForeignDocument)
    }
}

/// Reads any value, and refuses an object with a duplicate name.
#[derive(Clone, Copy)]
struct ValueReader {
    /// Whether `{"$regex": .., "$options": ..}` is a regular expression, as versions of mongoexport before 4.2 write it. In an export it is
    /// a document with these two names.
    has_old_forms: bool,
}

impl ValueReader {
    fn document<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<Document, D::Error> {
        match self.deserialize(deserializer)? {
            Bson::Document(document) => Ok(document),
            other => Err(D::Error::custom(format!(
                "a document expected, and not a value of the type {}",
                type_of(&other)
            ))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueReader {
    type Value = Bson;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Bson, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReader {
    type Value = Bson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of extended JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Bson, E> {
        Ok(Bson::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Bson, E> {
        Ok(Bson::Boolean(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Bson, E> {
        Ok(i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Bson, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Ok(Bson::Double(number as f64)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Bson, E> {
        Ok(Bson::Double(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Bson, E> {
        Ok(Bson::String(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Bson, E> {
        Ok(Bson::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Bson, A::Error> {
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            array.push(element);
        }
        Ok(Bson::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Bson, A::Error> {
        let mut object = Document::new();
        let mut is_plain = true;
        while let Some(name) = entries.next_key::<String>()? {
            if object.contains_key(&name) {
                let message = format!("the name `{name}` is there twice in one object");
                return Err(A::Error::custom(message));
            }
            is_plain &= !name.starts_with('$');
            object.insert(name, entries.next_value_seed(self)?);
        }
        if is_plain {
            return Ok(Bson::Document(object));
        }
        typed(object, self.has_old_forms).map_err(A::Error::custom)
    }
}

/// The names that make an object a value of another type, each with the name that may stand beside it.
const TYPES: &[(&str, Option<&str>)] = &[
    ("$oid", None),
    ("$date", None),
    ("$numberInt", None),
    ("$numberLong", None),
    ("$numberDouble", None),
    ("$numberDecimal", None),
    ("$binary", Some("$type")),
    ("$uuid", None),
    ("$regularExpression", None),
    ("$timestamp", None),
    ("$code", Some("$scope")),
    ("$symbol", None),
    ("$dbPointer", None),
    ("$minKey", None),
    ("$maxKey", None),
    ("$undefined", None),
];

/// The value of an object with a name that begins with `$`. The values in it are read already.
fn typed(mut object: Document, has_old_forms: bool) -> Result<Bson, String> {
    if has_old_forms && object.len() == 2 {
        let texts = (object.get("$regex"), object.get("$options"));
        if let (Some(Bson::String(pattern)), Some(Bson::String(options))) = texts {
            return regular_expression(pattern, options);
        }
    }
    let mut types = TYPES.iter();
    let Some((name, beside)) = types.find(|(name, _)| object.contains_key(name)) else {
        return Ok(Bson::Document(object));
    };
    let Some(value) = object.remove(name) else {
        return Ok(Bson::Document(object));
    };
    let beside = beside.and_then(|beside| object.remove(beside));
    if let Some((other, _)) = object.iter().next() {
        return Err(format!("`{name}` is a type, and has `{other}` beside it"));
    }
    let shown = match &value {
        Bson::String(text) => format!("`{text}`"),
        other => format!("a value of the type {}", type_of(other)),
    };
    let read = match (beside, *name) {
        (None, "$code") => text(value).map(Bson::JavaScriptCode),
        (Some(Bson::Document(scope)), "$code") => {
            let scoped = |code| JavaScriptCodeWithScope { code, scope };
            text(value).map(|code| Bson::JavaScriptCodeWithScope(scoped(code)))
        }
        (Some(subtype), "$binary") => text(value).zip(text(subtype)).and_then(binary),
        (None, name) => single(name, value),
        (Some(_), _) => None,
    };
    read.ok_or_else(|| format!("`{name}` cannot be {shown}"))
}

/// The value of an object with one name, which is its type.
fn single(name: &str, value: Bson) -> Option<Bson> {
    match (name, value) {
        ("$oid", Bson::String(hex)) => hex.parse().ok().map(Bson::ObjectId),
        ("$date", value) => date(value).map(Bson::DateTime),
        ("$numberInt", Bson::Int32(number)) => Some(Bson::Int32(number)),
        ("$numberInt", Bson::String(number)) => number.parse().ok().map(Bson::Int32),
        ("$numberLong", Bson::Int32(number)) => Some(Bson::Int64(number.into())),
        ("$numberLong", Bson::Int64(number)) => Some(Bson::Int64(number)),
        ("$numberLong", Bson::String(number)) => number.parse().ok().map(Bson::Int64),
        ("$numberDouble", Bson::Int32(number)) => Some(Bson::Double(number.into())),
        ("$numberDouble", Bson::Int64(number)) => Some(Bson::Double(number as f64)),
        ("$numberDouble", Bson::Double(number)) => Some(Bson::Double(number)),
        ("$numberDouble", Bson::String(number)) => number.parse().ok().map(Bson::Double),
        ("$numberDecimal", Bson::String(number)) => number.parse().ok().map(Bson::Decimal128),
        ("$binary", Bson::Document(body)) => {
            let (bytes, subtype) = pair(body, "base64", "subType")?;
            text(bytes).zip(text(subtype)).and_then(binary)
        }
        ("$uuid", Bson::String(uuid)) => {
            let uuid = bson::Uuid::parse_str(uuid).ok()?;
            Some(Bson::Binary(Binary {
                subtype: BinarySubtype::Uuid,
                bytes: uuid.bytes().to_vec(),
            }))
        }
        ("$regularExpression", Bson::Document(body)) => {
            let (pattern, options) = pair(body, "pattern", "options")?;
            regular_expression(&text(pattern)?, &text(options)?).ok()
        }
        ("$timestamp", Bson::Document(body)) => {
            let (time, increment) = pair(body, "t", "i")?;
            Some(Bson::Timestamp(Timestamp {
                time: unsigned(&time)?,
                increment: unsigned(&increment)?,
            }))
        }
        ("$symbol", Bson::String(symbol)) => Some(Bson::Symbol(symbol)),
        ("$dbPointer", Bson::Document(body)) => db_pointer(body),
        ("$minKey", Bson::Int32(1)) => Some(Bson::MinKey),
        ("$maxKey", Bson::Int32(1)) => Some(Bson::MaxKey),
        ("$undefined", Bson::Boolean(true)) => Some(Bson::Undefined),
        _ => None,
    }
}

fn text(value: Bson) -> Option<String> {
    match value {
        Bson::String(text) => Some(text),
        _ => None,
    }
}

fn unsigned(value: &Bson) -> Option<u32> {
    match value {
        Bson::Int32(number) => u32::try_from(*number).ok(),
        Bson::Int64(number) => u32::try_from(*number).ok(),
        _ => None,
    }
}

/// The values of an object that has exactly these two names.
fn pair(mut object: Document, first: &str, second: &str) -> Option<(Bson, Bson)> {
    let pair = object.remove(first).zip(object.remove(second))?;
    object.is_empty().then_some(pair)
}

/// Reads bytes in base 64, with a subtype of one or two hexadecimal digits.
fn binary((bytes, subtype): (String, String)) -> Option<Bson> {
    let is_hex = subtype.len() <= 2 && subtype.bytes().all(|digit| digit.is_ascii_hexdigit());
    let subtype = u8::from_str_radix(&subtype, 16).ok().filter(|_| is_hex)?;
    Some(Bson::Binary(Binary {
        subtype: subtype.into(),
        bytes: STANDARD.decode(bytes).ok()?,
    }))
}

fn regular_expression(pattern: &str, options: &str) -> Result<Bson, String> {
    // The options of a stored expression are in the order of the alphabet.
    let mut options: Vec<char> = options.chars().collect();
    options.sort_unstable();
    let options: String = options.into_iter().collect();
    match (pattern.try_into(), options.try_into()) {
        (Ok(pattern), Ok(options)) => Ok(Bson::RegularExpression(Regex { pattern, options })),
        _ => Err("a regular expression has the character 0".to_owned()),
    }
}

/// `bson` makes such a value only from JSON.
fn db_pointer(body: Document) -> Option<Bson> {
    let (namespace, id) = pair(body, "$ref", "$id")?;
    let (Bson::String(namespace), Bson::ObjectId(id)) = (namespace, id) else {
        return None;
    };
    let id = serde_json::json!({ "$oid": id.to_hex() });
    let pointer = serde_json::json!({ "$dbPointer": { "$ref": namespace, "$id": id } });
    Bson::try_from(pointer).ok()
}

/// Reads a date: a number of milliseconds, or a text of RFC 3339, possibly without the seconds, and without the colon or the minutes of the
/// offset.
fn date(value: Bson) -> Option<DateTime> {
    match value {
        Bson::Int32(millis) => Some(DateTime::from_millis(millis.into())),
        Bson::Int64(millis) => Some(DateTime::from_millis(millis)),
        Bson::Double(millis) if millis.fract() == 0.0 && millis.abs() < 9e15 => {
            Some(DateTime::from_millis(millis as i64))
        }
        Bson::String(text) => {
            let (day, time) = text.split_once('T')?;
            let offset_at = time.find(['Z', '+', '-'])?;
            let (time, offset) = time.split_at(offset_at);
            let seconds = if time.len() == 5 { ":00" } else { "" };
            let offset = match (offset.len(), offset.get(..3), offset.get(3..)) {
                (3, Some(hours), _) => format!("{hours}:00"),
                (5, Some(hours), Some(minutes)) => format!("{hours}:{minutes}"),
                _ => offset.to_owned(),
            };
            DateTime::parse_rfc3339_str(format!("{day}T{time}{seconds}{offset}")).ok()
        }
        _ => None,
    }
}

fn type_of(value: &Bson) -> String {
    format!("{:?}", value.element_type())
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn read(json: &str) -> Result<Bson, serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        ValueReader {
            has_old_forms: true,
        }
        .deserialize(&mut deserializer)
    }

    #[test]
    fn what_old_programs_have_written_is_read() {
        let date = |millis| Bson::DateTime(DateTime::from_millis(millis));
        let new_year = || date(1_609_459_200_000);
        let bytes = |subtype: u8| {
            Bson::Binary(Binary {
                subtype: subtype.into(),
                bytes: vec![0, 255],
            })
        };
        for (json, expected) in [
            (r#"{"$date":1609459200000}"#, new_year()),
            (r#"{"$date":5}"#, date(5)),
            (r#"{"$date":1.6094592e12}"#, new_year()),
            (r#"{"$date":"2021-01-01T00:00:00.000Z"}"#, new_year()),
            (r#"{"$date":"2021-01-01T02:00:00.000+0200"}"#, new_year()),
            (r#"{"$date":"2021-01-01T02:00:00.000+02:00"}"#, new_year()),
            (r#"{"$date":"2020-12-31T18:30:00-0530"}"#, new_year()),
            (r#"{"$date":"2021-01-01T02:00+0200"}"#, new_year()),
            (r#"{"$date":"2021-01-01T02:00+02"}"#, new_year()),
            (r#"{"$date":"2021-01-01T00:00Z"}"#, new_year()),
            (
                r#"{"$date":"2021-01-01T00:00:00.1234567Z"}"#,
                date(1_609_459_200_123),
            ),
            (r#"{"$date":{"$numberLong":"1609459200000"}}"#, new_year()),
            (r#"{"$date":{"$numberLong":-1}}"#, date(-1)),
            (r#"{"$numberLong":7}"#, Bson::Int64(7)),
            (r#"{"$numberLong":5000000000}"#, Bson::Int64(5_000_000_000)),
            (r#"{"$numberInt":7}"#, Bson::Int32(7)),
            (r#"{"$numberDouble":7}"#, Bson::Double(7.0)),
            (r#"{"$binary":"AP8=","$type":"00"}"#, bytes(0)),
            (r#"{"$type":"5","$binary":"AP8="}"#, bytes(5)),
            (
                r#"{"$binary":{"subType":"80","base64":"AP8="}}"#,
                bytes(0x80),
            ),
            (
                r#"{"$regex":"a/b","$options":"mi"}"#,
                regular_expression("a/b", "im").unwrap(),
            ),
            (
                r#"{"$timestamp":{"t":4294967295,"i":1}}"#,
                Bson::Timestamp(Timestamp {
                    time: u32::MAX,
                    increment: 1,
                }),
            ),
            (r#"{"$regex":"a"}"#, Bson::Document(doc! { "$regex": "a" })),
            (
                r#"{"$ref":"a","$id":1}"#,
                Bson::Document(doc! { "$ref": "a", "$id": 1 }),
            ),
            ("2147483647", Bson::Int32(i32::MAX)),
            ("2147483648", Bson::Int64(2_147_483_648)),
            ("-2147483649", Bson::Int64(-2_147_483_649)),
            (
                "9223372036854775808",
                Bson::Double(9_223_372_036_854_775_808.0),
            ),
            ("1.0", Bson::Double(1.0)),
        ] {
            assert_eq!(read(json).unwrap(), expected, "{json}");
        }
    }

    #[test]
    fn what_is_no_value_of_its_type_is_refused() {
        for (json, says) in [
            (
                r#"{"$date":"2021-01-01"}"#,
                "`$date` cannot be `2021-01-01`",
            ),
            (r#"{"$date":"2021-01-01T00:00:00"}"#, "`$date` cannot be"),
            (r#"{"$date":"2021-02-30T00:00:00Z"}"#, "`$date` cannot be"),
            (
                r#"{"$date":"2021-01-01T00:00:00+2:00"}"#,
                "`$date` cannot be",
            ),
            (r#"{"$date":"2021-01-01T00:00:00+é0"}"#, "`$date` cannot be"),
            (
                r#"{"$date":1.5}"#,
                "`$date` cannot be a value of the type Double",
            ),
            (r#"{"$oid":"12"}"#, "`$oid` cannot be `12`"),
            (
                r#"{"$oid":"65a1b2c3d4e5f60718293a4b","x":1}"#,
                "`$oid` is a type, and has `x` beside it",
            ),
            (r#"{"$numberInt":"2147483648"}"#, "`$numberInt` cannot be"),
            (r#"{"$numberLong":1.5}"#, "`$numberLong` cannot be"),
            (r#"{"$binary":"AP8="}"#, "`$binary` cannot be"),
            (r#"{"$binary":"AP8","$type":"0"}"#, "`$binary` cannot be"),
            (r#"{"$binary":"AP8=","$type":"+5"}"#, "`$binary` cannot be"),
            (r#"{"$timestamp":{"t":-1,"i":1}}"#, "`$timestamp` cannot be"),
            (
                r#"{"$timestamp":{"t":1,"i":1,"x":1}}"#,
                "`$timestamp` cannot be",
            ),
            (
                r#"{"a":[{"b":1,"b":2}]}"#,
                "the name `b` is there twice in one object",
            ),
            (
                r#"{"$date":{"$numberLong":"1","$numberLong":"2"}}"#,
                "the name `$numberLong` is there twice",
            ),
            ("Infinity", "expected value"),
        ] {
            let error = read(json).unwrap_err().to_string();
            assert!(error.starts_with(says), "{json}: {error}");
        }
    }

    #[test]
    fn two_names_of_an_export_are_no_regular_expression() {
        let json = r#"{"a":{"$regex":"x","$options":"i"}}"#;
        let ExportedDocument(document) = serde_json::from_str(json).unwrap();
        assert_eq!(document, doc! { "a": { "$regex": "x", "$options": "i" } });
    }
}
