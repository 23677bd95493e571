//! Resume tokens: places in the changes of a stream.

use odm::{
    bson::{RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr},
    store::contract::CommitTime,
};

use crate::error::{CommandError, Result, code};

/// The form of the tokens of this version.
const FORM: u8 = 1;

/// The bytes of a token.
const LENGTH: usize = 23;

/// The place after all changes of a commit.
const ALL: u32 = u32::MAX;

/// A place in the changes of a stream. As text, a later place of a stream is greater than an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) time: CommitTime,
    /// How many changes of the commit of that time come before it; [`ALL`] for the whole commit, and for a time without a commit.
    shown: u32,
    /// How many fragments of the next change come before it.
    pub(crate) fragments: u8,
    /// Whether it is after the event that has ended the stream.
    pub(crate) is_invalidate: bool,
    pub(crate) stream: StreamId,
}

/// Tells the tokens of a stream from the tokens of other streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamId {
    /// A checksum of the name of the scope.
    pub(crate) namespace: u32,
    /// A checksum of the watched stores, since they were opened.
    pub(crate) stores: u32,
}

impl Token {
    /// The place after all commits up to a time.
    pub(crate) fn whole(time: CommitTime, stream: StreamId) -> Self {
        Token {
            time,
            shown: ALL,
            fragments: 0,
            is_invalidate: false,
            stream,
        }
    }

    /// The place after some changes of a commit.
    pub(crate) fn within(time: CommitTime, shown: usize, stream: StreamId) -> Self {
        Token {
            shown: u32::try_from(shown).unwrap_or(ALL),
            ..Token::whole(time, stream)
        }
    }

    /// The place after so many fragments of the next change.
    pub(crate) fn after_fragments(self, fragments: u8) -> Self {
        Token { fragments, ..self }
    }

    /// The place after the event that ends the stream.
    pub(crate) fn invalidate(self) -> Self {
        Token {
            is_invalidate: true,
            ..self
        }
    }

    /// How many changes of the commit come before the place, if others can come after it.
    pub(crate) fn shown(self) -> Option<usize> {
        let shown = (self.shown != ALL).then_some(self.shown)?;
        usize::try_from(shown).ok()
    }

    /// `{ _data: text }`.
    pub(crate) fn to_document(self) -> RawDocumentBuf {
        let mut bytes = vec![FORM];
        bytes.extend(self.time.to_bits().to_be_bytes());
        bytes.extend(self.shown.to_be_bytes());
        bytes.push(self.fragments);
        bytes.push(self.is_invalidate.into());
        bytes.extend(self.stream.namespace.to_be_bytes());
        bytes.extend(self.stream.stores.to_be_bytes());
        let text: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("_data"), text);
        document
    }

    pub(crate) fn parse(document: &RawDocument) -> Result<Self> {
        let Some(RawBsonRef::String(text)) = document.get("_data")? else {
            let message = "Bad resume token: _data of missing or of wrong type";
            return Err(CommandError::new(code::BAD_RESUME_TOKEN, message));
        };
        let Some(bytes) = unhex(text) else {
            let message = "resume token string was not a valid hex string";
            return Err(CommandError::new(code::FAILED_TO_PARSE, message));
        };
        Token::read(&bytes).ok_or_else(|| {
            let message = format!("resume token '{text}' is not one of this server");
            CommandError::new(code::INVALID_RESUME_TOKEN, message)
        })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let [FORM, rest @ ..] = bytes else {
            return None;
        };
        let (time, rest) = rest.split_first_chunk()?;
        let (shown, rest) = rest.split_first_chunk()?;
        let ([fragments], rest) = rest.split_first_chunk()?;
        let ([is_invalidate], rest) = rest.split_first_chunk()?;
        let (namespace, rest) = rest.split_first_chunk()?;
        let (stores, _) = rest.split_first_chunk()?;
        Some(Token {
            time: CommitTime::from_bits(u64::from_be_bytes(*time)),
            shown: u32::from_be_bytes(*shown),
            fragments: *fragments,
            is_invalidate: match is_invalidate {
                0 => false,
                1 => true,
                _ => return None,
            },
            stream: StreamId {
                namespace: u32::from_be_bytes(*namespace),
                stores: u32::from_be_bytes(*stores),
            },
        })
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let pairs = digits.chunks_exact(2).map(|pair| {
        let (high, low) = (digit(pair[0])?, digit(pair[1])?);
        u8::try_from(high << 4 | low).ok()
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use odm::bson::rawdoc;
    use proptest::prelude::*;

    use super::*;

    fn tokens() -> impl Strategy<Value = Token> {
        let place = (any::<u64>(), any::<u32>(), any::<u8>(), any::<bool>());
        let parts = (place, any::<[u32; 2]>());
        parts.prop_map(
            |((time, shown, fragments, is_invalidate), [namespace, stores])| Token {
                time: CommitTime::from_bits(time),
                shown,
                fragments,
                is_invalidate,
                stream: StreamId { namespace, stores },
            },
        )
    }

    fn text(token: Token) -> String {
        let document = token.to_document();
        document.get_str("_data").unwrap().to_owned()
    }

    proptest! {
        #[test]
        fn a_token_is_read_as_it_was_written_and_is_greater_as_text_if_it_is_later(a in tokens(), b in tokens()) {
            prop_assert_eq!(Token::parse(&a.to_document()).unwrap(), a);
            let place = |token: Token| (token.time, token.shown, token.fragments, token.is_invalidate);
            if place(a) < place(b) {
                prop_assert!(text(a) < text(b));
            }
        }

        #[test]
        fn any_text_is_a_token_or_refused(text in "([0-9A-F]{46})|(.{0,50})") {
            let parsed = Token::parse(&rawdoc! { "_data": text.as_str() });
            if let Err(error) = parsed {
                prop_assert!([code::FAILED_TO_PARSE, code::INVALID_RESUME_TOKEN].contains(&error.code));
            }
        }
    }
}
