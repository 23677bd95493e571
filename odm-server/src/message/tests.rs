use odm::bson::{Document, doc};
use proptest::{collection::vec, prelude::*};

use super::*;

/// A message as a client sends it.
fn encoded(opcode: i32, content: &[u8]) -> Vec<u8> {
    let length = i32::try_from(HEADER + content.len()).unwrap();
    let mut message = Vec::new();
    for number in [length, 1, 0, opcode] {
        message.extend(number.to_le_bytes());
    }
    message.extend(content);
    message
}

fn body(command: &Document) -> Vec<u8> {
    let mut content = vec![0; 5];
    content.extend(command.to_vec().unwrap());
    content
}

fn section(name: &str, documents: &[Document]) -> Vec<u8> {
    let mut section = name.as_bytes().to_vec();
    section.push(0);
    for document in documents {
        section.extend(document.to_vec().unwrap());
    }
    let length = i32::try_from(section.len() + 4).unwrap();
    [&[1], &length.to_le_bytes()[..], &section].concat()
}

/// Reads a message, and all that can be asked of it.
fn read(message: &[u8]) -> Option<(Vec<u8>, usize)> {
    let header = Header::parse(message.first_chunk()?)?;
    let request = Request::parse(header, message).ok()?;
    let sequences = request.sequences.iter();
    let documents = sequences.map(|sequence| sequence.documents().count());
    Some((request.body.as_bytes().to_vec(), documents.sum()))
}

#[test]
fn a_message_has_its_body_and_its_sequences() {
    let command = doc! { "insert": "parts", "$db": "shop" };
    let documents = [doc! { "_id": 1 }, doc! {}];
    let content = [body(&command), section("documents", &documents)].concat();
    let message = encoded(OP_MSG, &content);
    let header = Header::parse(message.first_chunk().unwrap()).unwrap();
    let request = Request::parse(header, &message).unwrap();
    assert_eq!(Document::try_from(request.body).unwrap(), command);
    assert_eq!(request.sequences[0].name, "documents");
    let found = request.sequences[0].documents();
    let found: Vec<_> = found.map(|one| Document::try_from(one).unwrap()).collect();
    assert_eq!(found, documents);
}

#[test]
fn a_length_that_no_message_has_is_refused_before_anything_is_received() {
    for length in [i32::MIN, -1, 0, 15, 48_000_001, i32::MAX] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&length.to_le_bytes());
        assert_eq!(Header::parse(&header), None, "{length}");
    }
}

#[test]
fn a_reply_can_be_read_as_a_message() {
    let reply = odm::bson::rawdoc! { "ok": 1.0 };
    let bytes = encode_reply(ReplyForm::Message, 3, 1, &reply);
    assert_eq!(read(&bytes), Some((reply.as_bytes().to_vec(), 0)));
}

/// A valid message of each kind.
fn valid() -> Vec<Vec<u8>> {
    let command = doc! { "insert": "parts", "documents": [{ "a": [1, "x", null] }], "$db": "shop" };
    let documents = [doc! { "_id": 1, "text": "some text" }, doc! {}];
    let mut query = [&[0; 4][..], b"admin.$cmd\0", &[0; 8]].concat();
    query.extend(doc! { "isMaster": 1 }.to_vec().unwrap());
    let content = [body(&command), section("documents", &documents)].concat();
    let mut with_checksum = encoded(OP_MSG, &[content.clone(), vec![0; 4]].concat());
    with_checksum[HEADER] = 1;
    let end = with_checksum.len() - 4;
    let checksum = crc32c::crc32c(&with_checksum[..end]);
    with_checksum[end..].copy_from_slice(&checksum.to_le_bytes());
    vec![
        encoded(OP_MSG, &body(&command)),
        encoded(OP_MSG, &content),
        encoded(OP_QUERY, &query),
        with_checksum,
    ]
}

#[test]
fn the_messages_that_the_property_changes_are_valid() {
    assert!(valid().iter().all(|message| read(message).is_some()));
}

proptest! {
    #[test]
    fn random_bytes_are_read_without_a_panic(
        opcode in prop_oneof![Just(OP_MSG), Just(OP_QUERY), any::<i32>()],
        content in vec(any::<u8>(), 0..200),
    ) {
        read(&encoded(opcode, &content));
    }

    #[test]
    fn changed_messages_are_read_without_a_panic(
        which in 0_usize..4,
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        length in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut message = valid().swap_remove(which);
        for (at, byte) in changes {
            let at = at.index(message.len());
            message[at] = byte;
        }
        if is_cut {
            message.truncate(length.index(message.len()).max(HEADER));
        }
        if let Some((body, documents)) = read(&message) {
            prop_assert!(body.len() <= message.len() && documents * 5 <= message.len());
        }
    }
}
