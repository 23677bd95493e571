//! Tests of single bits.

use bson::{Bson, RawBsonRef, spec::BinarySubtype};

use crate::{
    Error,
    error::code,
    number,
    types::{bad, bad_as, whole_number},
};

/// The bit test: all or any, set or clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bits {
    /// All are 1.
    AllSet,
    /// All are 0.
    AllClear,
    /// At least one is 1.
    AnySet,
    /// At least one is 0.
    AnyClear,
}

/// The positions of a mask, given as a number, as binary data or as a list. The lowest bit is 0.
pub(super) fn positions(operator: &str, value: &Bson) -> Result<Vec<u32>, Error> {
    let expected = "a number, binary data or an array of positions, without a sign or a fraction";
    let mask = match value {
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_) => {
            let mask = whole_number(value).and_then(|mask| u64::try_from(mask).ok());
            let mask = mask.ok_or_else(|| bad_as(code::FAILED_TO_PARSE, operator, expected))?;
            mask.to_le_bytes().to_vec()
        }
        Bson::Binary(binary) => {
            let mut bytes = Vec::new();
            if binary.subtype == BinarySubtype::BinaryOld {
                bytes.extend_from_slice(&(binary.bytes.len() as u32).to_le_bytes());
            }
            bytes.extend_from_slice(&binary.bytes);
            bytes
        }
        Bson::Array(array) => {
            let position = |value: &Bson| {
                let position = whole_number(value).and_then(|at| i32::try_from(at).ok());
                let position = position.and_then(|at| u32::try_from(at).ok());
                position.ok_or_else(|| bad(operator, expected))
            };
            let mut positions = array.iter().map(position).collect::<Result<Vec<_>, _>>()?;
            positions.sort_unstable();
            positions.dedup();
            return Ok(positions);
        }
        _ => return Err(bad(operator, expected)),
    };
    let bits = (0_u32..).zip(&mask).flat_map(|(at, byte)| {
        (0..8).filter_map(move |bit| (byte >> bit & 1 == 1).then_some(at * 8 + bit))
    });
    Ok(bits.collect())
}

/// Whether the bits of a value pass. A value that is neither a whole number of 64 bits nor binary data does not pass.
pub(super) fn pass(bits: Bits, positions: &[u32], value: RawBsonRef<'_>) -> bool {
    let is_set: &dyn Fn(u32) -> bool = match value {
        RawBsonRef::Binary(binary) => &move |at: u32| {
            let old = binary.subtype == BinarySubtype::BinaryOld;
            let head = (binary.bytes.len() as u32).to_le_bytes();
            let head: &[u8] = if old { &head } else { &[] };
            let at_byte = at as usize / 8;
            let byte = match at_byte.checked_sub(head.len()) {
                None => head.get(at_byte),
                Some(rest) => binary.bytes.get(rest),
            };
            // Beyond its end the data has zeros.
            byte.is_some_and(|byte| byte >> (at % 8) & 1 == 1)
        },
        value => match number::whole(value) {
            // Beyond its end a number has copies of its sign.
            Some(number) => &move |at: u32| number >> at.min(63) & 1 == 1,
            None => return false,
        },
    };
    match bits {
        Bits::AllSet => positions.iter().all(|at| is_set(*at)),
        Bits::AllClear => !positions.iter().any(|at| is_set(*at)),
        Bits::AnySet => positions.iter().any(|at| is_set(*at)),
        Bits::AnyClear => !positions.iter().all(|at| is_set(*at)),
    }
}
