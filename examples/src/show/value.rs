//! Values in the form of MongoDB's shell: wrapped, shortened, and with short ids.

use odm::bson::{Bson, Document};

/// How many elements of an array are shown.
pub(super) const ELEMENTS: usize = 3;
/// The same for elements that take several lines.
const LONG_ELEMENTS: usize = 2;
/// How many characters of a text are shown.
const CHARACTERS: usize = 48;

/// The name of a field that stands for omitted fields.
const ELIDED: &str = "..";

/// Leaves out of a document the fields that are equal in an already shown one. The first two fields stay.
pub(super) fn without(document: &Document, shown: &Document) -> Document {
    let mut rest = Document::new();
    let mut elided = false;
    for (at, (name, value)) in document.iter().enumerate() {
        match at < 2 || shown.get(name) != Some(value) {
            true => drop(rest.insert(name, value.clone())),
            false if elided => {}
            false => {
                elided = true;
                rest.insert(ELIDED, Bson::Null);
            }
        }
    }
    rest
}

/// Returns a value on one line.
pub(super) fn inline(value: &Bson) -> String {
    match value {
        Bson::Document(document) if document.is_empty() => "{}".to_owned(),
        Bson::Document(document) => {
            let field = |(name, value): (&String, &Bson)| match name == ELIDED {
                true => ELIDED.to_owned(),
                false => format!("{name}: {}", inline(value)),
            };
            let fields: Vec<String> = document.iter().map(field).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Bson::Array(elements) if elements.is_empty() => "[]".to_owned(),
        Bson::Array(elements) => {
            let mut shown: Vec<String> = elements.iter().take(ELEMENTS).map(inline).collect();
            shown.extend(more(elements, ELEMENTS));
            format!("[ {} ]", shown.join(", "))
        }
        Bson::ObjectId(id) => format!("..{}", &id.to_hex()[20..]),
        Bson::String(text) if text.chars().count() > CHARACTERS => {
            let start: String = text.chars().take(CHARACTERS).collect();
            format!("'{}..'", start.trim_end())
        }
        Bson::String(text) if text.contains('\'') => format!("\"{text}\""),
        Bson::String(text) => format!("'{text}'"),
        Bson::DateTime(date) => {
            let text = date.try_to_rfc3339_string();
            let text = text.unwrap_or_else(|_| date.to_string());
            let day = text.strip_suffix("T00:00:00Z");
            format!("ISODate('{}')", day.unwrap_or(&text))
        }
        Bson::Decimal128(number) => format!("Decimal128('{number}')"),
        other => other.to_string(),
    }
}

/// Returns a value on lines of at most `width` columns, as far as its scalars allow it.
pub(super) fn lines(value: &Bson, width: usize) -> Vec<String> {
    let line = inline(value);
    let inner = width.saturating_sub(2);
    match value {
        Bson::Document(document) if line.chars().count() > width => {
            let field = |(name, value): (&String, &Bson)| field(name, value, inner);
            braced(document.iter().map(field).collect(), width - 2)
        }
        Bson::Array(elements) if line.chars().count() > width => {
            let shown = elements.iter().take(ELEMENTS);
            let mut items: Vec<Vec<String>> = shown.map(|element| lines(element, inner)).collect();
            let is_long = elements.len() > ELEMENTS && items.iter().any(|item| item.len() > 1);
            items.truncate(if is_long { LONG_ELEMENTS } else { ELEMENTS });
            items.extend(more(elements, items.len()).map(|more| vec![more]));
            bracketed(items)
        }
        _ => vec![line],
    }
}

/// Returns the lines of a field of a document.
pub(super) fn field(name: &str, value: &Bson, width: usize) -> Vec<String> {
    if name == ELIDED {
        return vec![ELIDED.to_owned()];
    }
    let short = width.saturating_sub(name.chars().count() + 3);
    let fits = inline(value).chars().count() <= short;
    let mut lines = match value {
        // Its first line is a bracket.
        Bson::Array(_) if !fits => lines(value, width),
        _ => lines(value, short),
    };
    lines[0] = format!("{name}: {}", lines[0]);
    lines
}

/// Returns the number of elements of an array that are left out if `shown` are shown.
fn more(elements: &[Bson], shown: usize) -> Option<String> {
    let more = elements.len().checked_sub(shown)?;
    (more > 0).then(|| format!(".. {more} more"))
}

/// Puts the fields of a document between braces. Scalars share a line.
fn braced(fields: Vec<Vec<String>>, width: usize) -> Vec<String> {
    let mut lines = vec!["{".to_owned()];
    let mut takes_more = true;
    for field in separated(fields) {
        let is_scalar = field.len() == 1 && !field[0].contains(['{', '[']);
        match lines.last_mut() {
            Some(line)
                if takes_more
                    && (is_scalar || line == "{")
                    && line.chars().count() + 1 + field[0].chars().count() <= width =>
            {
                line.push(' ');
                line.push_str(&field[0]);
                lines.extend(field[1..].iter().map(|line| format!("  {line}")));
            }
            _ => lines.extend(field.iter().map(|line| format!("  {line}"))),
        }
        takes_more = is_scalar;
    }
    if let Some(end) = lines.last_mut() {
        end.push_str(" }");
    }
    lines
}

/// Puts the elements of an array between brackets, each on lines of its own.
fn bracketed(elements: Vec<Vec<String>>) -> Vec<String> {
    let elements = separated(elements).flatten();
    let elements = elements.map(|line| format!("  {line}"));
    let start = std::iter::once("[".to_owned());
    start.chain(elements).chain(["]".to_owned()]).collect()
}

/// Puts commas between items.
fn separated(items: Vec<Vec<String>>) -> impl Iterator<Item = Vec<String>> {
    let last = items.len().saturating_sub(1);
    items.into_iter().enumerate().map(move |(at, mut item)| {
        match item.last_mut() {
            Some(line) if at < last => line.push(','),
            _ => {}
        }
        item
    })
}

/// Breaks a text between its words into lines of at most `width` columns.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use odm::bson::{doc, oid::ObjectId};

    use super::*;

    #[test]
    fn what_fits_stands_on_one_line_with_short_ids_and_texts() {
        let id = ObjectId::from_bytes([0xD8; 12]);
        let value = Bson::from(doc! { "_id": id, "name": "a".repeat(60), "tags": [] });
        let text = "a".repeat(CHARACTERS);
        assert_eq!(
            inline(&value),
            format!("{{ _id: ..d8d8, name: '{text}..', tags: [] }}")
        );
        assert_eq!(lines(&value, 100), [inline(&value)]);
    }

    #[test]
    fn what_does_not_fit_is_broken_at_its_fields_and_elements() {
        let part = |n: i32| doc! { "number": n, "name": "grommet" };
        let value = Bson::from(doc! { "_id": 1, "name": "shifter", "parts": [part(1), part(2)] });
        let expected = [
            "{ _id: 1, name: 'shifter',",
            "  parts: [",
            "    { number: 1, name: 'grommet' },",
            "    { number: 2, name: 'grommet' }",
            "  ] }",
        ];
        assert_eq!(lines(&value, 40), expected);
    }

    #[test]
    fn what_is_shown_already_is_left_out() {
        let shown = doc! { "_id": 1, "name": "shifter", "price": 5, "parts": [1, 2] };
        let line = |document| inline(&Bson::from(without(document, &shown)));
        assert_eq!(line(&shown), "{ _id: 1, name: 'shifter', .. }");
        let mut joined = shown.clone();
        joined.insert("stock", 3);
        assert_eq!(line(&joined), "{ _id: 1, name: 'shifter', .., stock: 3 }");
    }

    #[test]
    fn of_a_long_array_the_first_elements_are_shown() {
        let value = Bson::from((1..=9).collect::<Vec<i32>>());
        assert_eq!(inline(&value), "[ 1, 2, 3, .. 6 more ]");
    }

    #[test]
    fn a_date_without_a_time_is_a_day() {
        let date = |text| Bson::DateTime(odm::bson::DateTime::parse_rfc3339_str(text).unwrap());
        assert_eq!(
            inline(&date("2014-04-01T00:00:00Z")),
            "ISODate('2014-04-01')"
        );
        let time = "2014-03-28T09:42:41.382Z";
        assert_eq!(inline(&date(time)), format!("ISODate('{time}')"));
    }
}
