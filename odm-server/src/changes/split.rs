//! The fragments of an event that is larger than a document: `$changeStreamSplitLargeEvent`.

use odm::bson::{
    RawBsonRef, RawDocument, RawDocumentBuf,
    raw::{CStr, cstr},
    rawdoc,
};

use super::{MAX_EVENT, token::Token};
use crate::error::{CommandError, Result, code};

/// The bytes of a fragment besides its fields.
const FRAME: usize = 256;

/// Splits an event at its fields into as few fragments as MongoDB does, the smallest fields first. All but the last have a place within the
/// change, `within`, and the last one has that of the event.
///
/// # Errors
///
/// One field alone is too large.
pub(super) fn split(
    event: &RawDocument,
    within: Token,
    after: Token,
) -> Result<Vec<(RawDocumentBuf, Token)>> {
    let mut fields = Vec::new();
    for field in event {
        let (name, value) = field?;
        if name != cstr!("_id") {
            let alone = size_of(name, value);
            fields.push((alone, name, value));
        }
    }
    fields.sort_by_key(|(size, name, _)| (*size, name.as_str()));
    let mut groups: Vec<Vec<(&CStr, RawBsonRef<'_>)>> = Vec::new();
    let mut room = 0;
    for (size, name, value) in fields {
        if size + FRAME > MAX_EVENT {
            let message = format!(
                "Splitting change event failed: fragment size {size} is greater than maximum allowed fragment size {}",
                MAX_EVENT - FRAME
            );
            return Err(CommandError::new(code::EVENT_NOT_SPLIT, message));
        }
        match groups.last_mut() {
            Some(group) if size <= room => {
                room -= size;
                group.push((name, value));
            }
            _ => {
                room = MAX_EVENT - FRAME - size;
                groups.push(vec![(name, value)]);
            }
        }
    }
    // An event has a few fields that are large.
    let of = u8::try_from(groups.len()).unwrap_or(u8::MAX);
    let fragments = groups.into_iter().zip(1..).map(|(group, number)| {
        let token = if number == of {
            after
        } else {
            within.after_fragments(number)
        };
        let mut fragment = RawDocumentBuf::new();
        fragment.append(cstr!("_id"), token.to_document());
        let split = rawdoc! { "fragment": i32::from(number), "of": i32::from(of) };
        fragment.append(cstr!("splitEvent"), split);
        for (name, value) in group {
            fragment.append(name, value);
        }
        (fragment, token)
    });
    Ok(fragments.collect())
}

/// The bytes of a field in a document.
fn size_of(name: &CStr, value: RawBsonRef<'_>) -> usize {
    let mut alone = RawDocumentBuf::new();
    alone.append(name, value);
    alone.as_bytes().len()
}
