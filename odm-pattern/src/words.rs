//! The words of a text, by Unicode's boundaries of words (UAX #29), folded.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::fold;

// Words are stored in documents. With a later version of Unicode a text could have others, so a stored field of words would be wrong.
const _: () = {
    let (major, minor, _) = unicode_segmentation::UNICODE_VERSION;
    assert!(major == 17 && minor == 0, "words are stored in documents");
};

/// The distinct words of a text, folded, in the order of their bytes.
pub fn distinct(text: &str) -> BTreeSet<String> {
    let words = text.unicode_words();
    words.map(|word| fold::text(word).into_owned()).collect()
}

/// The words of a search, folded, each with whether it is only the beginning of a word: it then has a `*` after it.
pub fn searched(text: &str) -> Vec<(String, bool)> {
    let words = text.unicode_word_indices();
    let words = words.map(|(at, word)| {
        let is_beginning = text[at..][word.len()..].starts_with('*');
        (fold::text(word).into_owned(), is_beginning)
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        distinct(text).into_iter().collect()
    }

    #[test]
    fn words_are_those_of_unicode_each_once_and_folded() {
        assert_eq!(words("The red, the RED widget"), ["red", "the", "widget"]);
        assert_eq!(words("can't stop: 3.5 km"), ["3.5", "can't", "km", "stop"]);
        assert_eq!(words("ÄRGER straße \u{212a}"), ["k", "straße", "ärger"]);
        // Without spaces between them, each ideograph is a word.
        assert_eq!(words("红色"), ["红", "色"]);
        assert_eq!(words(" -- \u{1f600} "), [""; 0]);
    }

    #[test]
    fn a_star_after_a_word_of_a_search_makes_it_a_beginning() {
        let searched = searched("Red widg* *x");
        let searched: Vec<_> = searched.iter().map(|(word, is)| (&**word, *is)).collect();
        assert_eq!(searched, [("red", false), ("widg", true), ("x", false)]);
    }
}
