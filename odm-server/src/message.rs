//! Messages of the wire protocol as bytes: the requests of a client, and the replies.
//!
//! Every length is compared with the bytes that are there before it is used. The documents are not copied.

use odm::bson::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::{CommandError, code};

/// The longest message.
pub(crate) const MAX_MESSAGE: usize = 48_000_000;

/// The largest document of a command, which has 16 KiB more than a stored one.
const MAX_COMMAND: usize = (16 << 20) + (16 << 10);

/// The length of a header.
pub(crate) const HEADER: usize = 16;

const OP_REPLY: i32 = 1;
const OP_QUERY: i32 = 2004;
const OP_MSG: i32 = 2013;

const CHECKSUM_PRESENT: u32 = 1;
const MORE_TO_COME: u32 = 1 << 1;
/// The flags that a receiver must know.
const REQUIRED_FLAGS: u32 = 0xffff;

/// The start of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The length of the whole message.
    pub(crate) length: usize,
    pub(crate) request: i32,
    opcode: i32,
}

impl Header {
    /// Returns `None` if there cannot be such a message.
    pub(crate) fn parse(bytes: &[u8; HEADER]) -> Option<Header> {
        let mut rest = &bytes[..];
        let length = usize::try_from(int(&mut rest)?).ok()?;
        let request = int(&mut rest)?;
        let _response_to = int(&mut rest)?;
        let opcode = int(&mut rest)?;
        (HEADER..=MAX_MESSAGE).contains(&length).then_some(Header {
            length,
            request,
            opcode,
        })
    }
}

/// A command, as it lies in its message.
#[derive(Debug)]
pub(crate) struct Request<'m> {
    pub(crate) body: &'m RawDocument,
    pub(crate) sequences: Vec<Sequence<'m>>,
    /// The form of the reply, or `None` if the client waits for none.
    pub(crate) reply: Option<ReplyForm>,
    /// The database, if the message names it outside of the body.
    pub(crate) database: Option<&'m str>,
}

/// The message that a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyForm {
    Message,
    /// That of the old handshake.
    Legacy,
}

/// Documents that belong to a command, outside of its body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequence<'m> {
    /// The field of the command whose array they are.
    pub(crate) name: &'m str,
    /// Documents one after another, which were found to be that.
    bytes: &'m [u8],
}

impl<'m> Sequence<'m> {
    pub(crate) fn documents(self) -> impl Iterator<Item = &'m RawDocument> {
        let mut rest = self.bytes;
        std::iter::from_fn(move || document(&mut rest))
    }
}

/// Why a message is no command.
#[derive(Debug)]
pub(crate) enum Malformed {
    /// The connection has lost its step, or its client speaks another protocol.
    Close(&'static str),
    /// The client can be told.
    Reply(ReplyForm, CommandError),
}

impl<'m> Request<'m> {
    /// A command that has come outside of a message, with the database in its body.
    #[cfg(feature = "http")]
    pub(crate) fn of_body(body: &'m RawDocument) -> Self {
        Request {
            body,
            sequences: Vec::new(),
            reply: Some(ReplyForm::Message),
            database: None,
        }
    }

    /// Reads a whole message, of which this is the header.
    pub(crate) fn parse(header: Header, message: &'m [u8]) -> Result<Self, Malformed> {
        let content = message.get(HEADER..).unwrap_or_default();
        match header.opcode {
            OP_MSG => of_message(message, content),
            OP_QUERY => of_query(content),
            _ => Err(Malformed::Close("its opcode is unknown")),
        }
    }
}

fn of_message<'m>(message: &'m [u8], content: &'m [u8]) -> Result<Request<'m>, Malformed> {
    let mut rest = content;
    let flags = int(&mut rest).ok_or(Malformed::Close("it has no flags"))?;
    let flags = flags.cast_unsigned();
    if flags & REQUIRED_FLAGS & !(CHECKSUM_PRESENT | MORE_TO_COME) != 0 {
        return Err(Malformed::Close("it has an unknown flag"));
    }
    if flags & CHECKSUM_PRESENT != 0 {
        let (before, checksum) = message
            .split_last_chunk::<4>()
            .ok_or(Malformed::Close("it has no checksum"))?;
        if crc32c::crc32c(before) != u32::from_le_bytes(*checksum) {
            return Err(Malformed::Close("its checksum is wrong"));
        }
        let end = rest.len().checked_sub(4);
        rest = &rest[..end.ok_or(Malformed::Close("it has no checksum"))?];
    }
    let refused = |code, message: &str| {
        let error = CommandError::new(code, message);
        Malformed::Reply(ReplyForm::Message, error)
    };
    let invalid = |message| refused(code::INVALID_BSON, message);
    let mut body = None;
    let mut sequences = Vec::new();
    while let Some((kind, after)) = rest.split_first() {
        rest = after;
        match kind {
            0 => {
                let found =
                    document(&mut rest).ok_or_else(|| invalid("body is not well-formed BSON"))?;
                if body.replace(found).is_some() {
                    let message = "message has several bodies";
                    return Err(refused(code::BODIES_IN_MESSAGE, message));
                }
            }
            1 => {
                let found = sequence(&mut rest)
                    .ok_or_else(|| invalid("sequence of documents is not well-formed BSON"))?;
                sequences.push(found);
            }
            _ => return Err(Malformed::Close("it has an unknown kind of section")),
        }
    }
    let body = body.ok_or_else(|| refused(code::PROTOCOL_ERROR, "message has no body"))?;
    if body.as_bytes().len() > MAX_COMMAND {
        let message = format!(
            "body has {} bytes, and the limit is {MAX_COMMAND}",
            body.as_bytes().len()
        );
        return Err(refused(code::BSON_OBJECT_TOO_LARGE, &message));
    }
    Ok(Request {
        body,
        sequences,
        reply: (flags & MORE_TO_COME == 0).then_some(ReplyForm::Message),
        database: None,
    })
}

/// Reads the message of a driver that does not know yet whether the server is a newer one.
fn of_query(content: &[u8]) -> Result<Request<'_>, Malformed> {
    let closed = Malformed::Close("it is not well-formed");
    let mut rest = content;
    let parts = (|| {
        let _flags = int(&mut rest)?;
        let collection = text(&mut rest)?;
        let _skip = int(&mut rest)?;
        let _number = int(&mut rest)?;
        Some((collection, document(&mut rest)?))
    })();
    let Some((collection, body)) = parts else {
        return Err(closed);
    };
    // A read preference has the command inside.
    let body = match body.get("$query") {
        Ok(Some(RawBsonRef::Document(body))) => body,
        _ => body,
    };
    let name = match body.iter().next() {
        Some(Ok((name, _))) => name.as_str(),
        _ => return Err(closed),
    };
    match collection.strip_suffix(".$cmd") {
        Some(database) if is_handshake(name) => Ok(Request {
            body,
            sequences: Vec::new(),
            reply: Some(ReplyForm::Legacy),
            database: Some(database),
        }),
        _ => {
            let message = format!(
                "Unsupported OP_QUERY command: {name}. The client driver may require an upgrade."
            );
            let error = CommandError::new(code::UNSUPPORTED_OP_QUERY, message);
            Err(Malformed::Reply(ReplyForm::Legacy, error))
        }
    }
}

fn is_handshake(command: &str) -> bool {
    ["hello", "isMaster", "ismaster"].contains(&command)
}

/// The bytes of a reply.
pub(crate) fn encode_reply(
    form: ReplyForm,
    number: i32,
    request: i32,
    reply: &RawDocumentBuf,
) -> Vec<u8> {
    let body = reply.as_bytes();
    let (opcode, before): (i32, &[u8]) = match form {
        // No flags, and the kind of a body.
        ReplyForm::Message => (OP_MSG, &[0; 5]),
        // The flag that the server can wait with replies, no cursor, from the first one on, one document.
        ReplyForm::Legacy => (
            OP_REPLY,
            &[8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        ),
    };
    let length = HEADER + before.len() + body.len();
    let mut bytes = Vec::with_capacity(length);
    // A reply is a batch of 16 MiB and little more.
    bytes.extend_from_slice(&i32::try_from(length).unwrap_or(i32::MAX).to_le_bytes());
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&request.to_le_bytes());
    bytes.extend_from_slice(&opcode.to_le_bytes());
    bytes.extend_from_slice(before);
    bytes.extend_from_slice(body);
    bytes
}

/// Takes a number from the front of the bytes.
fn int(bytes: &mut &[u8]) -> Option<i32> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(i32::from_le_bytes(*number))
}

/// Takes a text that ends with a zero byte.
fn text<'m>(bytes: &mut &'m [u8]) -> Option<&'m str> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    *bytes = &bytes[end + 1..];
    Some(text)
}

/// Takes a document. Its fields have not been checked.
fn document<'m>(bytes: &mut &'m [u8]) -> Option<&'m RawDocument> {
    let length = int(&mut &**bytes)?;
    let (document, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    RawDocument::from_bytes(document).ok()
}

fn sequence<'m>(bytes: &mut &'m [u8]) -> Option<Sequence<'m>> {
    let length = int(&mut &**bytes)?;
    let (mut section, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    int(&mut section)?;
    let name = text(&mut section)?;
    let documents = section;
    while !section.is_empty() {
        document(&mut section)?;
    }
    Some(Sequence {
        name,
        bytes: documents,
    })
}

#[cfg(test)]
mod tests;
