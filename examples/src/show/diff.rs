//! The changes of a document, as lines with `-` and `+`. Equal lines are left out.

use odm::bson::{Bson, Document};

use super::value;

/// The most lines shown of a run of removed lines, or of added ones.
const LINES: usize = 8;
/// Longer arrays are compared without a search for moved elements.
const ALIGNED: usize = 2_000;

/// A line of a difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    Same(String),
    Removed(String),
    Added(String),
}

/// Compares a document with its earlier version. `None` stands for a missing document.
pub(super) fn documents(
    before: Option<&Document>,
    after: Option<&Document>,
    width: usize,
) -> Vec<Line> {
    let whole = |document: &Document| value::lines(&Bson::from(document.clone()), width);
    let mut lines = Vec::new();
    match (before, after) {
        (Some(before), Some(after)) => fields("", before, after, width, &mut lines),
        (Some(before), None) => lines.extend(whole(before).into_iter().map(Line::Removed)),
        (None, Some(after)) => lines.extend(whole(after).into_iter().map(Line::Added)),
        (None, None) => {}
    }
    lines
}

/// Compares two values at one path.
fn values(name: &str, before: &Bson, after: &Bson, width: usize, lines: &mut Vec<Line>) {
    match (before, after) {
        (Bson::Document(before), Bson::Document(after)) => {
            fields(&format!("{name}: "), before, after, width, lines);
        }
        (Bson::Array(before), Bson::Array(after)) => elements(name, before, after, width, lines),
        _ => {
            removed(value::field(name, before, width), lines);
            added(value::field(name, after, width), lines);
        }
    }
}

/// Compares two documents. The first field identifies a document, and is shown if it is equal.
fn fields(head: &str, before: &Document, after: &Document, width: usize, lines: &mut Vec<Line>) {
    let mut start = format!("{head}{{");
    let mut inner = Vec::new();
    let mut skipped = false;
    let gone = before.iter().filter(|(name, _)| !after.contains_key(name));
    let all = after.iter().map(|(name, value)| (name, Some(value)));
    for (at, (name, new)) in all.chain(gone.map(|(name, _)| (name, None))).enumerate() {
        let old = before.get(name);
        if at == 0 && old == new {
            start = format!("{start} {name}: {},", value::inline(&after[name]));
            continue;
        }
        if old == new {
            match (skipped, inner.is_empty()) {
                (true, _) => {}
                (false, true) => start.push_str(" .."),
                (false, false) => inner.push(Line::Same("..".to_owned())),
            }
            skipped = true;
            continue;
        }
        skipped = false;
        let width = width.saturating_sub(2);
        match (old, new) {
            (Some(old), Some(new)) => values(name, old, new, width, &mut inner),
            (Some(old), None) => removed(value::field(name, old, width), &mut inner),
            (None, Some(new)) => added(value::field(name, new, width), &mut inner),
            (None, None) => {}
        }
    }
    let end = match skipped && !inner.is_empty() {
        true => {
            inner.pop();
            ".. }"
        }
        false => "}",
    };
    lines.push(Line::Same(start));
    lines.extend(inner.into_iter().map(indented));
    lines.push(Line::Same(end.to_owned()));
}

fn elements(name: &str, before: &[Bson], after: &[Bson], width: usize, lines: &mut Vec<Line>) {
    let mut inner: Vec<Line> = Vec::new();
    let width = width.saturating_sub(2);
    let texts = |values: &[Bson]| -> Vec<String> {
        let lines = values.iter().flat_map(|value| value::lines(value, width));
        lines.collect()
    };
    let mut runs = runs(before, after).into_iter().peekable();
    while let Some(run) = runs.next() {
        match run {
            Run::Same([value]) if texts(std::slice::from_ref(value)).len() == 1 => {
                inner.push(Line::Same(value::inline(value)));
            }
            Run::Same(values) => inner.push(Line::Same(format!(".. {} equal", values.len()))),
            Run::Removed([Bson::Document(old)]) => match runs.peek() {
                Some(Run::Added([Bson::Document(new)])) if is_one(old, new) => {
                    fields("", old, new, width, &mut inner);
                    runs.next();
                }
                _ => removed(texts(&[old.clone().into()]), &mut inner),
            },
            Run::Removed(values) => removed(texts(values), &mut inner),
            Run::Added(values) => added(texts(values), &mut inner),
        }
    }
    lines.push(Line::Same(format!("{name}: [")));
    lines.extend(inner.into_iter().map(indented));
    lines.push(Line::Same("]".to_owned()));
}

/// Whether two documents in an array are versions of one, with some changed fields.
fn is_one(before: &Document, after: &Document) -> bool {
    before.len() > 2 && before.iter().next() == after.iter().next()
}

/// A run of elements that are in both arrays, or in one of them.
enum Run<'a> {
    Same(&'a [Bson]),
    Removed(&'a [Bson]),
    Added(&'a [Bson]),
}

/// Aligns two arrays by their longest common subsequence.
fn runs<'a>(before: &'a [Bson], after: &'a [Bson]) -> Vec<Run<'a>> {
    let start = before.iter().zip(after).take_while(|(old, new)| old == new);
    let start = start.count();
    let (same, old) = before.split_at(start);
    let new = &after[start..];
    let end = old.iter().rev().zip(new.iter().rev());
    let end = end.take_while(|(old, new)| old == new).count();
    let (old, same_end) = old.split_at(old.len() - end);
    let new = &new[..new.len() - end];

    let mut runs = vec![Run::Same(same)];
    if old.len().max(new.len()) > ALIGNED {
        runs.extend([Run::Removed(old), Run::Added(new)]);
    } else {
        aligned(old, new, &mut runs);
    }
    runs.push(Run::Same(same_end));
    runs.retain(|run| match run {
        Run::Same(values) | Run::Removed(values) | Run::Added(values) => !values.is_empty(),
    });
    runs
}

fn aligned<'a>(old: &'a [Bson], new: &'a [Bson], runs: &mut Vec<Run<'a>>) {
    // The length of the longest common subsequence of the rests after two positions.
    let mut longest = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] = match old[i] == new[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let is_same = |i: usize, j: usize| i < old.len() && j < new.len() && old[i] == new[j];
    while i < old.len() || j < new.len() {
        let at = i;
        while is_same(i, j) {
            (i, j) = (i + 1, j + 1);
        }
        runs.push(Run::Same(&old[at..i]));
        let at = i;
        while i < old.len()
            && !is_same(i, j)
            && (j == new.len() || longest[i + 1][j] >= longest[i][j + 1])
        {
            i += 1;
        }
        runs.push(Run::Removed(&old[at..i]));
        let at = j;
        while j < new.len()
            && !is_same(i, j)
            && (i == old.len() || longest[i][j + 1] > longest[i + 1][j])
        {
            j += 1;
        }
        runs.push(Run::Added(&new[at..j]));
    }
}

fn removed(texts: Vec<String>, lines: &mut Vec<Line>) {
    lines.extend(shortened(texts).into_iter().map(Line::Removed));
}

fn added(texts: Vec<String>, lines: &mut Vec<Line>) {
    lines.extend(shortened(texts).into_iter().map(Line::Added));
}

/// The first lines of many.
fn shortened(mut texts: Vec<String>) -> Vec<String> {
    if texts.len() > LINES {
        let more = texts.len() - LINES + 1;
        texts.truncate(LINES - 1);
        texts.push(format!(".. {more} more"));
    }
    texts
}

fn indented(line: Line) -> Line {
    match line {
        Line::Same(text) => Line::Same(format!("  {text}")),
        Line::Removed(text) => Line::Removed(format!("  {text}")),
        Line::Added(text) => Line::Added(format!("  {text}")),
    }
}

#[cfg(test)]
mod tests {
    use odm::bson::doc;

    use super::*;

    fn text(before: Option<Document>, after: Option<Document>) -> Vec<String> {
        let lines = documents(before.as_ref(), after.as_ref(), 80).into_iter();
        let text = lines.map(|line| match line {
            Line::Same(text) => format!("  {text}"),
            Line::Removed(text) => format!("- {text}"),
            Line::Added(text) => format!("+ {text}"),
        });
        text.collect()
    }

    #[test]
    fn a_changed_field_stands_between_what_is_left_out() {
        let before = doc! { "_id": 1, "a": 1, "name": "old", "c": { "d": 1, "e": 2 }, "z": 9 };
        let mut after = before.clone();
        after.insert("name", "new");
        after.insert("c", doc! { "d": 1, "e": 3 });
        let expected = [
            "  { _id: 1, ..",
            "-   name: 'old'",
            "+   name: 'new'",
            "    c: { d: 1,",
            "-     e: 2",
            "+     e: 3",
            "    }",
            "  .. }",
        ];
        assert_eq!(text(Some(before), Some(after)), expected);
    }

    #[test]
    fn an_array_is_aligned_by_what_is_in_both() {
        let before = doc! { "_id": 1, "tasks": [1, 2, 3, 4, 5] };
        let after = doc! { "_id": 1, "tasks": [0, 1, 3, 4, 6, 5] };
        let expected = [
            "  { _id: 1,",
            "    tasks: [",
            "+     0",
            "      1",
            "-     2",
            "      .. 2 equal",
            "+     6",
            "      5",
            "    ]",
            "  }",
        ];
        assert_eq!(text(Some(before), Some(after)), expected);
    }

    #[test]
    fn an_element_is_compared_with_what_it_was() {
        let review = |text| doc! { "id": 1, "by": "Ida", "text": text, "stars": 5 };
        let before = doc! { "_id": 1, "reviews": [review("good")] };
        let after = doc! { "_id": 1, "reviews": [review("better")] };
        let expected = [
            "  { _id: 1,",
            "    reviews: [",
            "      { id: 1, ..",
            "-       text: 'good'",
            "+       text: 'better'",
            "      .. }",
            "    ]",
            "  }",
        ];
        assert_eq!(text(Some(before), Some(after)), expected);
    }

    #[test]
    fn fields_come_and_go_and_so_do_documents() {
        let (one, two) = (doc! { "_id": 1, "a": 1 }, doc! { "_id": 1, "b": 2 });
        let expected = ["  { _id: 1,", "+   b: 2", "-   a: 1", "  }"];
        assert_eq!(text(Some(one.clone()), Some(two)), expected);
        assert_eq!(text(Some(one.clone()), None), ["- { _id: 1, a: 1 }"]);
        assert_eq!(text(None, Some(one)), ["+ { _id: 1, a: 1 }"]);
    }

    #[test]
    fn of_many_removed_elements_some_are_shown() {
        let before = doc! { "_id": 1, "n": (0..30).collect::<Vec<i32>>() };
        let lines = text(Some(before), Some(doc! { "_id": 1, "n": [] }));
        assert_eq!(lines.len(), 2 + LINES + 2);
        assert_eq!(lines[2 + LINES - 1], "-     .. 23 more");
    }
}
