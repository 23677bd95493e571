//! Binary data as texts and as numbers.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bson::{Binary, RawBson, RawBsonRef, spec::BinarySubtype};

use super::Failure;
use crate::{
    expr::evaluate::{is_null, is_number},
    number,
};

const ANY_LAST_BITS: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, ANY_LAST_BITS);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    ANY_LAST_BITS
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The greatest number of bytes of a text, and one more.
const TOO_LONG: usize = 16 << 20;

/// How binary data is written as a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::expr) enum Format {
    /// As a UUID if it is one, and in base64 otherwise.
    Auto,
    Base64,
    Base64Url,
    Hex,
    Utf8,
    Uuid,
}

/// The order of the bytes of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::expr) enum ByteOrder {
    #[default]
    Little,
    Big,
}

/// The format of an argument, if there is one.
pub(super) fn format(value: &Option<RawBson>) -> Result<Option<Format>, Failure> {
    let bad = |reason, code| Err(Failure::Argument(reason, code));
    match value {
        value if is_null(value) => Ok(None),
        Some(RawBson::String(name)) => Ok(Some(match name.as_str() {
            "auto" => Format::Auto,
            "base64" => Format::Base64,
            "base64url" => Format::Base64Url,
            "hex" => Format::Hex,
            "utf8" => Format::Utf8,
            "uuid" => Format::Uuid,
            _ => return bad("there is no such `format`", 4_341_125),
        })),
        _ => bad("`format` is a string", 4_341_114),
    }
}

/// The order of the bytes in an argument, if there is one.
pub(super) fn byte_order(value: &Option<RawBson>) -> Result<ByteOrder, Failure> {
    let bad = |reason, code| Err(Failure::Argument(reason, code));
    match value {
        value if is_null(value) => Ok(ByteOrder::default()),
        Some(RawBson::String(name)) => match name.as_str() {
            "little" => Ok(ByteOrder::Little),
            "big" => Ok(ByteOrder::Big),
            _ => bad("`byteOrder` is `little` or `big`", 9_130_002),
        },
        _ => bad("`byteOrder` is a string", 9_130_001),
    }
}

/// The subtype in an argument, or the generic one.
pub(super) fn subtype(value: Option<&RawBson>) -> Result<BinarySubtype, Failure> {
    let bad = |reason, code| Err(Failure::Argument(reason, code));
    let Some(value) = value else {
        return Ok(BinarySubtype::Generic);
    };
    if !is_number(&Some(value.clone())) {
        return bad("`subtype` is a number", 4_341_108);
    }
    let whole = number::whole(value.as_raw_bson_ref()).and_then(|code| i32::try_from(code).ok());
    match whole.map(u8::try_from) {
        None => bad("`subtype` is a whole number", 4_341_106),
        Some(Ok(code @ (0..=9 | 128..))) => Ok(BinarySubtype::from(code)),
        Some(_) => bad("there is no such `subtype`", 4_341_107),
    }
}

/// The bytes as they are stored, with the second length of the old type.
fn stored(binary: &Binary) -> Vec<u8> {
    let mut stored = Vec::with_capacity(binary.bytes.len() + 4);
    if binary.subtype == BinarySubtype::BinaryOld {
        let len = i32::try_from(binary.bytes.len()).unwrap_or(i32::MAX);
        stored.extend(len.to_le_bytes());
    }
    stored.extend(&binary.bytes);
    stored
}

/// The text of binary data.
pub(super) fn text(binary: &Binary, format: Option<Format>) -> Result<String, Failure> {
    let format = format.ok_or(NO_FORMAT)?;
    let bytes = stored(binary);
    let is_uuid = binary.subtype == BinarySubtype::Uuid && bytes.len() == 16;
    let text = match format {
        Format::Auto | Format::Uuid if is_uuid => uuid(&bytes),
        Format::Uuid => return Err(Failure::Value),
        Format::Auto | Format::Base64 => BASE64.encode(&bytes),
        Format::Base64Url => BASE64_URL.encode(&bytes),
        Format::Hex => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
        Format::Utf8 => {
            let text = String::from_utf8(bytes).map_err(|_| Failure::Value)?;
            if text.len() >= TOO_LONG {
                return Err(Failure::Argument("the text has 16 MiB or more", 16_493));
            }
            text
        }
    };
    if text.len() >= TOO_LONG {
        return Err(Failure::Value);
    }
    Ok(text)
}

const NO_FORMAT: Failure = Failure::Argument("binary data and texts need a `format`", 4_341_115);

/// The binary data of a text.
pub(super) fn of_text(
    text: &str,
    format: Option<Format>,
    subtype: BinarySubtype,
) -> Result<Binary, Failure> {
    let format = format.ok_or(NO_FORMAT)?;
    if (format == Format::Uuid) != (subtype == BinarySubtype::Uuid) {
        return Err(Failure::Value);
    }
    let bytes = match format {
        Format::Auto => None,
        Format::Base64 => BASE64.decode(text).ok(),
        Format::Base64Url => BASE64_URL.decode(text).ok(),
        Format::Hex => of_hex(text.as_bytes()),
        Format::Utf8 => Some(text.as_bytes().to_vec()),
        Format::Uuid => of_uuid(text),
    };
    let bytes = bytes.ok_or(Failure::Value)?;
    Ok(Binary { subtype, bytes })
}

fn of_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

/// The lengths of the parts of a UUID, which dashes separate.
const PARTS: [usize; 5] = [8, 4, 4, 4, 12];

fn uuid(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut rest = digits.as_str();
    let parts = PARTS.map(|len| {
        let (part, other) = rest.split_at(len.min(rest.len()));
        rest = other;
        part
    });
    parts.join("-")
}

fn of_uuid(text: &str) -> Option<Vec<u8>> {
    let parts: Vec<&str> = text.split('-').collect();
    let has_parts = parts.iter().map(|part| part.len()).eq(PARTS);
    has_parts.then(|| of_hex(parts.concat().as_bytes()))?
}

/// The bytes of a number, if its type has a form in them.
pub(super) fn of_number(value: RawBsonRef<'_>, order: ByteOrder) -> Option<Vec<u8>> {
    let mut bytes = match value {
        RawBsonRef::Int32(value) => value.to_le_bytes().to_vec(),
        RawBsonRef::Int64(value) => value.to_le_bytes().to_vec(),
        RawBsonRef::Double(value) => value.to_le_bytes().to_vec(),
        _ => return None,
    };
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    Some(bytes)
}

/// The bytes of a number from the lowest one up.
fn little(binary: &Binary, order: ByteOrder) -> Vec<u8> {
    let mut bytes = stored(binary);
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    bytes
}

/// The whole number of 1, 2, 4 or 8 bytes, as far as it has at most so many.
pub(super) fn whole(binary: &Binary, order: ByteOrder, most: usize) -> Result<i64, Failure> {
    match little(binary, order)[..] {
        ref bytes if bytes.len() > most => Err(Failure::Value),
        [a] => Ok(i8::from_le_bytes([a]).into()),
        [a, b] => Ok(i16::from_le_bytes([a, b]).into()),
        [a, b, c, d] => Ok(i32::from_le_bytes([a, b, c, d]).into()),
        [a, b, c, d, e, f, g, h] => Ok(i64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => Err(Failure::Value),
    }
}

/// The double of 4 or 8 bytes.
pub(super) fn double(binary: &Binary, order: ByteOrder) -> Result<f64, Failure> {
    match little(binary, order)[..] {
        [a, b, c, d] => Ok(f32::from_le_bytes([a, b, c, d]).into()),
        [a, b, c, d, e, f, g, h] => Ok(f64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => Err(Failure::Value),
    }
}

/// Checks that binary data is of a subtype.
pub(super) fn of_subtype(binary: &Binary, subtype: BinarySubtype) -> Result<Binary, Failure> {
    if binary.subtype == subtype {
        Ok(binary.clone())
    } else {
        Err(Failure::Value)
    }
}
