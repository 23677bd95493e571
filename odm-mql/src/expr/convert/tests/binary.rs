//! Conversions of binary data.

use bson::{Binary, Bson, Document, doc, spec::BinarySubtype};
use proptest::prelude::*;

use super::{binary, convert, decimal, result};

fn generic(bytes: &[u8]) -> Bson {
    binary(BinarySubtype::Generic, bytes)
}

/// Converts a value, with more arguments.
fn convert_by(input: impl Into<Bson>, to: impl Into<Bson>, more: Document) -> Result<Bson, i32> {
    let mut arguments = doc! { "input": "$input", "to": { "$literal": to.into() } };
    arguments.extend(more);
    let document = doc! { "input": input.into() };
    let converted = result(doc! { "$convert": arguments }, document)?;
    Ok(converted.expect("a value"))
}

const UUID: [u8; 16] = [
    0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x21, 0xd1, 0x80, 0xb4, 0, 0xc0, 0x4f, 0xd4, 0x30, 0xc8,
];
const UUID_TEXT: &str = "6ba7b811-9dad-21d1-80b4-00c04fd430c8";

#[test]
fn binary_data_is_written_as_a_text_in_a_format() {
    let text = |data: Bson, format: &str| convert_by(data, "string", doc! { "format": format });
    let uuid = || binary(BinarySubtype::Uuid, &UUID);
    for (data, format, expected) in [
        (generic(b">>>>"), "base64", "Pj4+Pg=="),
        (generic(b">>>>"), "base64url", "Pj4-Pg"),
        (generic(b"hel\0lo"), "utf8", "hel\0lo"),
        (generic(b"hello"), "hex", "68656C6C6F"),
        (generic(b""), "hex", ""),
        (generic(b"hello"), "auto", "aGVsbG8="),
        (uuid(), "auto", UUID_TEXT),
        (uuid(), "uuid", UUID_TEXT),
        (uuid(), "hex", "6BA7B8119DAD21D180B400C04FD430C8"),
        (binary(BinarySubtype::Uuid, &[1]), "auto", "AQ=="),
        // The old type has a second length.
        (
            binary(BinarySubtype::BinaryOld, b"hello"),
            "base64",
            "BQAAAGhlbGxv",
        ),
    ] {
        assert_eq!(
            text(data.clone(), format),
            Ok(expected.into()),
            "{data} {format}"
        );
    }
    assert_eq!(convert_by(uuid(), "string", doc! {}), Err(4_341_115));
    let short = |data: Bson| result(doc! { "$toString": "$a" }, doc! { "a": data });
    assert_eq!(short(uuid()), Ok(Some(UUID_TEXT.into())));
    assert_eq!(short(generic(b"hello")), Ok(Some("aGVsbG8=".into())));
    for (data, format) in [(generic(&UUID), "uuid"), (generic(&[0x80]), "utf8")] {
        assert_eq!(text(data, format), Err(241), "{format}");
    }
    let long = generic(&vec![0; 8 << 20]);
    assert_eq!(text(long.clone(), "hex"), Err(241));
    let caught = doc! { "format": "hex", "onError": "x" };
    assert_eq!(convert_by(long, "string", caught), Ok("x".into()));
}

#[test]
fn a_text_is_read_as_binary_data() {
    let data = |text: &str, format: &str| convert_by(text, "binData", doc! { "format": format });
    for (text, format, expected) in [
        ("Pj4+Pg==", "base64", b">>>>".as_slice()),
        ("Pj4-Pg", "base64url", b">>>>"),
        ("Pj4-Pg==", "base64url", b">>>>"),
        ("68656C6c6F", "hex", b"hello"),
        ("h\u{e9}", "utf8", b"h\xc3\xa9"),
        ("", "base64", b""),
    ] {
        assert_eq!(data(text, format), Ok(generic(expected)), "{text} {format}");
    }
    for (text, format) in [
        ("aGVsbG8=", "auto"),
        ("aGVsbG8", "base64"),
        ("aGVs-G8=", "base64"),
        ("aGVs+G8", "base64url"),
        ("abc", "hex"),
        ("GG", "hex"),
        ("+1", "hex"),
        (UUID_TEXT, "uuid"),
    ] {
        assert_eq!(data(text, format), Err(241), "{text} {format}");
        let caught = doc! { "format": format, "onError": 1 };
        assert_eq!(convert_by(text, "binData", caught), Ok(1.into()));
    }
    assert_eq!(convert("hello", "binData"), Err(4_341_115));

    let uuid = |text: &str, format: &str| {
        convert_by(
            text,
            doc! { "type": "binData", "subtype": 4 },
            doc! { "format": format },
        )
    };
    let expected = binary(BinarySubtype::Uuid, &UUID);
    assert_eq!(uuid(UUID_TEXT, "uuid"), Ok(expected.clone()));
    let short = |value: Bson| result(doc! { "$toUUID": "$a" }, doc! { "a": value });
    assert_eq!(
        short(UUID_TEXT.to_uppercase().into()),
        Ok(Some(expected.clone()))
    );
    assert_eq!(short(expected.clone()), Ok(Some(expected)));
    assert_eq!(short(Bson::Null), Ok(Some(Bson::Null)));
    assert_eq!(short(generic(&UUID)), Err(241));
    assert_eq!(short("x".into()), Err(241));
    assert_eq!(uuid("aGVsbG8=", "base64"), Err(241));
    for text in [
        "6ba7b811-9dad-21d1-80b4",
        "6ba7b8119dad21d180b400c04fd430c8",
        "6ba7b811-9dad-21d1-80b4-00c04fd430cx",
    ] {
        assert_eq!(uuid(text, "uuid"), Err(241), "{text}");
    }
}

#[test]
fn numbers_are_their_bytes_in_an_order() {
    let big = || doc! { "byteOrder": "big" };
    assert_eq!(convert(99, "binData"), Ok(generic(&[99, 0, 0, 0])));
    assert_eq!(
        convert_by(-2, "binData", big()),
        Ok(generic(&[255, 255, 255, 254]))
    );
    assert_eq!(
        convert_by(1_i64, "binData", big()),
        Ok(generic(&[0, 0, 0, 0, 0, 0, 0, 1]))
    );
    assert_eq!(convert(1.0, "binData"), Ok(generic(&1.0_f64.to_le_bytes())));
    let null = doc! { "byteOrder": null, "format": null };
    assert_eq!(convert_by(1, "binData", null), Ok(generic(&[1, 0, 0, 0])));
    for (bytes, to, expected) in [
        ([255].as_slice(), "int", Bson::from(-1)),
        (&[1, 2], "int", 0x0201.into()),
        (&[0, 0, 0, 128], "int", i32::MIN.into()),
        (&[254], "long", (-2_i64).into()),
        (&[0, 0, 0, 0, 1, 0, 0, 0], "long", (1_i64 << 32).into()),
        (&[0, 0, 128, 63], "double", 1.0.into()),
    ] {
        assert_eq!(convert(generic(bytes), to), Ok(expected), "{bytes:?}");
    }
    assert_eq!(
        convert_by(generic(&[1, 2]), "int", big()),
        Ok(0x0102.into())
    );
    for (bytes, to) in [
        ([].as_slice(), "int"),
        (&[1, 2, 3], "int"),
        (&[1; 8], "int"),
        (&[1; 5], "long"),
        (&[1; 2], "double"),
        (&[1; 4], "decimal"),
        (&[1; 4], "date"),
        (&[1; 12], "objectId"),
        (&[1; 4], "array"),
    ] {
        assert_eq!(convert(generic(bytes), to), Err(241), "{to}");
    }
    for value in [
        decimal("1"),
        true.into(),
        vec![1].into(),
        doc! {}.into(),
        Bson::MinKey,
    ] {
        assert_eq!(convert(value, "binData"), Err(241));
    }
}

#[test]
fn the_arguments_of_binary_data_are_checked_with_the_codes_of_mongodb() {
    let to = |subtype: Bson| convert_by(1, doc! { "type": "binData", "subtype": subtype }, doc! {});
    for (subtype, expected) in [
        (Bson::from(5.0), BinarySubtype::Md5),
        (decimal("5"), BinarySubtype::Md5),
        (9_i64.into(), BinarySubtype::Vector),
        (255.into(), BinarySubtype::UserDefined(255)),
    ] {
        assert_eq!(to(subtype), Ok(binary(expected, &[1, 0, 0, 0])));
    }
    for (subtype, code) in [
        (Bson::from(1.5), 4_341_106),
        (f64::NAN.into(), 4_341_106),
        (1e10.into(), 4_341_106),
        ((-1).into(), 4_341_107),
        (10.into(), 4_341_107),
        (127.into(), 4_341_107),
        (256.into(), 4_341_107),
        ("five".into(), 4_341_108),
        (Bson::Null, 4_341_108),
    ] {
        assert_eq!(to(subtype.clone()), Err(code), "{subtype}");
    }
    // It has no meaning elsewhere.
    assert_eq!(
        convert_by(1, doc! { "type": "long", "subtype": "x" }, doc! {}),
        Ok(1_i64.into())
    );
    let generic_of_uuid = doc! { "type": "binData", "subtype": 0 };
    assert_eq!(
        convert_by(binary(BinarySubtype::Uuid, &UUID), generic_of_uuid, doc! {}),
        Err(241)
    );
    for (name, value, code) in [
        ("format", Bson::from(1), 4_341_114),
        ("format", "xml".into(), 4_341_125),
        ("byteOrder", true.into(), 9_130_001),
        ("byteOrder", "BIG".into(), 9_130_002),
    ] {
        let more = doc! { name: value.clone(), "onError": 1 };
        assert_eq!(
            convert_by(1, "int", more.clone()),
            Err(code),
            "{name} {value}"
        );
        // Null has no conversion.
        assert_eq!(convert_by(Bson::Null, "int", more), Ok(Bson::Null));
    }
}

proptest! {
    #[test]
    fn binary_data_survives_its_texts(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        format in prop::sample::select(&["base64", "base64url", "hex"]),
    ) {
        let data = generic(&bytes);
        let more = || doc! { "format": format };
        let text = convert_by(data.clone(), "string", more()).expect("a text");
        prop_assert_eq!(convert_by(text, "binData", more()), Ok(data));
    }

    #[test]
    fn numbers_survive_their_bytes(number in any::<i64>(), order in prop::sample::select(&["little", "big"])) {
        let more = || doc! { "byteOrder": order };
        for (number, to) in [(Bson::from(number), "long"), ((number as i32).into(), "int"), ((number as f64).into(), "double")] {
            let data = convert_by(number.clone(), "binData", more()).expect("binary data");
            prop_assert_eq!(convert_by(data, to, more()), Ok(number));
        }
    }

    #[test]
    fn a_uuid_survives_its_text(bytes in any::<[u8; 16]>()) {
        let data = Bson::Binary(Binary { subtype: BinarySubtype::Uuid, bytes: bytes.to_vec() });
        let expression = doc! { "$toUUID": { "$toString": "$a" } };
        prop_assert_eq!(result(expression, doc! { "a": data.clone() }), Ok(Some(data)));
    }
}
