//! The relations as a picture in SVG: a box for each collection, in columns from the referring collections to the referenced ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::Relations;

/// The measures of a picture, in pixels.
const WIDTH: usize = 276;
const ROW: usize = 20;
const HEAD: usize = 26;
const GAP: (usize, usize) = (90, 26);
const MARGIN: usize = 24;

/// How many characters of a row have room in a box.
const LONGEST: usize = 38;

/// Boxes have a ground of their own, and arrows a tone between, so that the picture is read on white and on dark pages.
const STYLE: &str = "text{font:12.5px sans-serif;fill:#1b2026}.title{font-size:14px;font-weight:600}.box{fill:#f6f7f9;stroke:#7d8794}\
path{fill:none;stroke-width:1.5}.reference{stroke:#7d8794}.derived{stroke:#3d8bd4;stroke-dasharray:5 4}.cold{stroke:#2f9e62;stroke-width:2}\
text.derived{fill:#1d62a3;stroke:none}text.cold{fill:#1c7044;stroke:none}text.reference{stroke:none}marker path{stroke:none}";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RowKind {
    Reference,
    Derived,
    Cold,
}

impl RowKind {
    const ALL: [(RowKind, &str, &str); 3] = [
        (RowKind::Reference, "reference", "#7d8794"),
        (RowKind::Derived, "derived", "#3d8bd4"),
        (RowKind::Cold, "cold", "#2f9e62"),
    ];

    fn name(self) -> &'static str {
        let (_, name, _) = RowKind::ALL[self as usize];
        name
    }
}

/// A field that refers, is derived, or is a cold part.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row<'r> {
    kind: RowKind,
    text: String,
    /// The other collection of its arrow.
    to: &'r str,
}

/// The rows of each collection.
type Boxes<'r> = BTreeMap<&'r str, BTreeSet<Row<'r>>>;

/// The left upper corner of a box.
type Corner = (usize, usize);

/// Draws relations. Equal relations make equal pictures.
pub(super) fn draw(relations: &Relations) -> String {
    let boxes = boxes(relations);
    let columns = columns(&boxes);
    let height = |name: &str| HEAD + boxes[name].len() * ROW + 6;
    let mut places: BTreeMap<&str, Corner> = BTreeMap::new();
    let mut lowest = 0;
    for (at, column) in columns.iter().enumerate() {
        let mut y = MARGIN;
        for name in column {
            places.insert(name, (MARGIN + at * (WIDTH + GAP.0), y));
            y += height(name) + GAP.1;
        }
        lowest = lowest.max(y);
    }
    let width = 2 * MARGIN + (columns.len() * (WIDTH + GAP.0)).saturating_sub(GAP.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{lowest}\" viewBox=\"0 0 {width} {lowest}\">\n\
         <title>Relations of the collections</title>\n<style>{STYLE}</style>\n<defs>\n"
    );
    // Writing to a string cannot fail.
    for (_, name, colour) in RowKind::ALL {
        let _ = writeln!(
            svg,
            "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" style=\"fill:{colour}\"/></marker>"
        );
    }
    svg.push_str("</defs>\n");
    for (name, rows) in &boxes {
        for (at, row) in rows.iter().enumerate() {
            // A field that is computed from its own document has no arrow.
            if row.kind != RowKind::Derived || row.to != *name {
                arrow(&mut svg, row.kind, places[name], at, places[row.to]);
            }
        }
    }
    for (name, rows) in &boxes {
        let ((x, y), height) = (places[name], height(name));
        let _ = writeln!(
            svg,
            "<g transform=\"translate({x},{y})\"><rect class=\"box\" width=\"{WIDTH}\" height=\"{height}\" rx=\"4\"/>\
             <text class=\"title\" x=\"10\" y=\"18\">{}</text>",
            escaped(&shortened(name))
        );
        for (at, Row { kind, text, .. }) in rows.iter().enumerate() {
            let (kind, y) = (kind.name(), HEAD + at * ROW + 14);
            let _ = writeln!(
                svg,
                "<text class=\"{kind}\" x=\"10\" y=\"{y}\"><title>{}</title>{}</text>",
                escaped(text),
                escaped(&shortened(text))
            );
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn boxes(relations: &Relations) -> Boxes<'_> {
    let mut boxes: Boxes<'_> = BTreeMap::new();
    for collection in &relations.collections {
        boxes.entry(&collection.name).or_default();
    }
    let mut add = |of, kind, text, to| {
        boxes.entry(to).or_default();
        boxes.entry(of).or_default().insert(Row { kind, text, to });
    };
    for edge in &relations.edges {
        let text = format!("{} → {}", edge.path, edge.to);
        add(&edge.from, RowKind::Reference, text, &edge.to);
    }
    for field in &relations.derived {
        let (holder, source) = (field.holder(), field.source());
        let (own, others): (Vec<_>, Vec<_>) = (field.reads().into_iter())
            .partition(|read| read.collection == holder && source != holder);
        // The reference of the holder has a row of its own.
        let reads = if others.is_empty() { own } else { others };
        let reads = reads.into_iter().map(|read| {
            if read.collection == holder {
                read.path.into_owned()
            } else if read.path.is_empty() {
                read.collection.to_owned()
            } else {
                format!("{}.{}", read.collection, read.path)
            }
        });
        let reads: BTreeSet<String> = reads.collect();
        let reads: Vec<String> = reads.into_iter().collect();
        let text = format!("{} ƒ {}", field.path(), reads.join(", "));
        add(holder, RowKind::Derived, text, source);
    }
    for split in &relations.splits {
        let text = format!("{} ⇒ {}", split.path, split.cold);
        add(&split.hot, RowKind::Cold, text, &split.cold);
    }
    boxes
}

/// The columns from left to right: each collection is left of the ones that it refers to, apart from rings.
fn columns<'r>(boxes: &Boxes<'r>) -> Vec<Vec<&'r str>> {
    let mut left: BTreeSet<&str> = boxes.keys().copied().collect();
    let mut columns = Vec::new();
    while !left.is_empty() {
        let waits_for = |name: &str| {
            let rows = boxes[name].iter();
            let others = rows.filter(|row| row.kind != RowKind::Derived && row.to != name);
            others.filter(|row| left.contains(row.to)).count()
        };
        let free = left.iter().copied().filter(|name| waits_for(name) == 0);
        let mut column: Vec<&str> = free.collect();
        if column.is_empty() {
            // A ring is cut where it waits for least.
            column.extend(left.iter().copied().min_by_key(|name| waits_for(name)));
        }
        left.retain(|name| !column.contains(name));
        columns.push(column);
    }
    columns.reverse();
    columns
}

/// An arrow between a row of one box and the head of another. A derivation leads from its source to the row.
fn arrow(svg: &mut String, kind: RowKind, from: Corner, row: usize, to: Corner) {
    let start = from.1 + HEAD + row * ROW + ROW / 2;
    let end = to.1 + HEAD / 2;
    let ((x, bend), (to_x, to_bend)) = if to.0 > from.0 {
        ((from.0 + WIDTH, from.0 + WIDTH + 45), (to.0, to.0 - 45))
    } else if to.0 < from.0 {
        ((from.0, from.0 - 45), (to.0 + WIDTH, to.0 + WIDTH + 45))
    } else {
        let side = from.0 + WIDTH;
        ((side, side + 40), (side, side + 40))
    };
    let curve = if kind == RowKind::Derived {
        format!("M{to_x},{end} C{to_bend},{end} {bend},{start} {x},{start}")
    } else {
        format!("M{x},{start} C{bend},{start} {to_bend},{end} {to_x},{end}")
    };
    let name = kind.name();
    let _ = writeln!(
        svg,
        "<path class=\"{name}\" d=\"{curve}\" marker-end=\"url(#{name})\"/>"
    );
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

/// A text in XML, which has no other control characters than these.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other if other.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{super::relations::DeclaredCollection, *};

    fn named(name: &str) -> DeclaredCollection {
        let document = bson::doc! { "name": name, "model": "Model" };
        bson::deserialize_from_document(document).expect("a collection")
    }

    #[test]
    fn names_are_texts_of_xml_and_too_long_ones_are_shortened() {
        let relations = Relations {
            collections: vec![named("<a> & b\u{1}"), named(&"é".repeat(60))],
            ..Relations::default()
        };
        let svg = draw(&relations);
        assert!(svg.contains(">&lt;a&gt; &amp; b\u{fffd}</text>"), "{svg}");
        let short = format!(">{}…</text>", "é".repeat(LONGEST - 1));
        assert!(svg.contains(&short), "{svg}");
    }

    #[test]
    fn a_ring_is_cut_and_each_other_collection_is_left_of_what_it_refers_to() {
        let row = |to: &'static str| Row {
            kind: RowKind::Reference,
            text: to.to_owned(),
            to,
        };
        let mut boxes: Boxes<'_> = BTreeMap::new();
        boxes.insert("leaf", BTreeSet::new());
        boxes.insert("ring_a", [row("ring_b")].into());
        boxes.insert("ring_b", [row("ring_a"), row("leaf")].into());
        boxes.insert("self", [row("self"), row("ring_a")].into());
        let expected = [vec!["ring_b", "self"], vec!["ring_a"], vec!["leaf"]];
        assert_eq!(columns(&boxes), expected);
    }

    #[test]
    fn no_relations_are_an_empty_picture() {
        let svg = draw(&Relations::default());
        assert!(
            svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
    }
}
