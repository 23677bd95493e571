//! Values in messages.

use std::fmt;

use bson::{Bson, RawBsonRef, spec::BinarySubtype};

/// Formats a value for a message, as it would be written in a query.
#[doc(hidden)]
pub fn show(value: RawBsonRef<'_>) -> String {
    match Bson::try_from(value) {
        Ok(value) => Shown(&value).to_string(),
        Err(_) => "a malformed value".to_owned(),
    }
}

/// A value that shows its UUIDs as such; elsewhere they are Base64.
struct Shown<'v>(&'v Bson);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Bson::Binary(binary) if binary.subtype == BinarySubtype::Uuid => {
                match binary.to_uuid() {
                    Ok(id) => write!(f, "UUID(\"{id}\")"),
                    Err(_) => self.0.fmt(f),
                }
            }
            Bson::Array(values) => {
                f.write_str("[")?;
                for (position, value) in values.iter().enumerate() {
                    let comma = if position > 0 { ", " } else { "" };
                    write!(f, "{comma}{}", Shown(value))?;
                }
                f.write_str("]")
            }
            Bson::Document(document) if !document.is_empty() => {
                for (position, (name, value)) in document.iter().enumerate() {
                    let start = if position > 0 { ", " } else { "{ " };
                    write!(f, "{start}\"{name}\": {}", Shown(value))?;
                }
                f.write_str(" }")
            }
            value => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::{RawBson, Uuid, doc};

    use super::*;

    #[test]
    fn uuids_are_written_as_such_at_any_depth() {
        let id = Uuid::parse_str("936da01f-9abd-4d9d-80c7-02af85c822a8").unwrap();
        let text = "UUID(\"936da01f-9abd-4d9d-80c7-02af85c822a8\")";
        let shown = |value: Bson| show(RawBson::try_from(value).unwrap().as_raw_bson_ref());
        assert_eq!(shown(id.into()), text);
        let nested = doc! { "a": [id, 1], "b": {}, "c": "x" };
        let expected = format!("{{ \"a\": [{text}, 1], \"b\": {{}}, \"c\": \"x\" }}");
        assert_eq!(shown(nested.into()), expected);
    }

    #[test]
    fn other_values_are_written_as_ever() {
        let value = Bson::from(doc! { "a": [1, doc! { "b": null }], "c": 1.5 });
        let raw = RawBson::try_from(value.clone()).unwrap();
        assert_eq!(show(raw.as_raw_bson_ref()), value.to_string());
    }
}
