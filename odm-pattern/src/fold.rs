//! Unicode's simple case folding: texts that differ only in case are folded to the same text.
//!
//! Each character is folded by itself, to one character, independent of language and without normalization: "Ä" is folded to "ä", and "ß"
//! to itself, not to "ss".

use std::borrow::Cow;

// Keys of stored indexes are made of folded texts. If a later version of Unicode folds more characters, these indexes must be built anew,
// so it is a new format of the store.
const _: () = {
    let (major, minor, _) = unicode_case_mapping::UNICODE_VERSION;
    assert!(
        major == 16 && minor == 0,
        "folded texts are stored in indexes"
    );
};

/// Folds a character.
pub fn char(char: char) -> char {
    if char.is_ascii() {
        return char.to_ascii_lowercase();
    }
    let folded = unicode_case_mapping::case_folded(char);
    folded
        .and_then(|code| char::from_u32(code.get()))
        .unwrap_or(char)
}

/// Folds a text.
pub fn text(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|byte| !is_folded(byte)) {
        false => Cow::Borrowed(text),
        true => text.chars().map(char).collect(),
    }
}

/// Whether a byte is that of a character of ASCII that is folded to itself.
fn is_folded(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_is_folded_to_one_by_itself() {
        assert_eq!(text("Ann"), "ann");
        assert_eq!(text("ÄRGER"), "ärger");
        assert_eq!(text("ΣΊΣΥΦΟΣ"), text("Σίσυφος"));
        // The sign of kelvin and the long s.
        assert_eq!(text("\u{212a}\u{17f}"), "ks");
        assert_eq!(text("straße"), "straße");
        assert_eq!(text("STRASSE"), "strasse");
        assert_eq!(text("ẞ"), "ß");
        assert_eq!(text("İı"), "İı");
        // A decomposed letter stays so.
        assert_eq!(text("A\u{308}"), "a\u{308}");
    }

    #[test]
    fn what_is_folded_stays_as_it_is() {
        for each in '\0'..=char::MAX {
            assert_eq!(char(char(each)), char(each), "{each:?}");
        }
    }
}
