//! Excerpts of Rust source, shortened.

use super::value;

/// The attributes of the fields that are shown.
const RELATIONS: [&str; 6] = [
    "#[embed",
    "#[reference",
    "#[denormalize",
    "#[subset",
    "#[count",
    "#[split",
];

/// Returns a struct of a source without its documentation, derives and visibility. Leaves out fields without an attribute of this library,
/// unless all fields are without one.
pub(super) fn model(source: &str, name: &str, width: usize) -> Vec<String> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let head = format!("pub struct {name} {{");
    let at = lines.iter().position(|line| *line == head);
    let at = at.unwrap_or_else(|| panic!("the source has no struct `{name}`"));
    let mut model: Vec<String> = attributes_before(&lines[..at]);
    model.retain(|attribute| !attribute.starts_with("#[derive"));

    let mut fields: Vec<(String, String)> = Vec::new();
    let mut attributes = String::new();
    let body = lines[at + 1..].iter().take_while(|line| **line != "}");
    for line in body.filter(|line| !line.starts_with("//")) {
        match line.strip_prefix("pub ") {
            Some(field) => fields.push((std::mem::take(&mut attributes), field.to_owned())),
            None => attributes = join(&attributes, line),
        }
    }
    let is_related = |(attributes, _): &&(String, String)| {
        RELATIONS
            .iter()
            .any(|relation| attributes.contains(relation))
    };
    let related: Vec<String> = fields
        .iter()
        .filter(is_related)
        .flat_map(|(attributes, field)| fitting(&format!("    {attributes}"), field, width))
        .collect();
    let (start, body) = match related.is_empty() {
        true => {
            let plain: Vec<&str> = fields.iter().map(|(_, field)| field.as_str()).collect();
            let lines = value::wrap(&plain.join(" "), width - 4);
            let lines = lines.iter().map(|line| format!("    {line}"));
            (format!("struct {name} {{"), lines.collect())
        }
        false if related.len() < fields.len() => (format!("struct {name} {{ .."), related),
        false => (format!("struct {name} {{"), related),
    };
    match model.pop() {
        Some(attribute) => model.extend(fitting(&attribute, &start, width)),
        None => model.push(start),
    }
    model.extend(body);
    model.push("}".to_owned());
    model
}

/// An attribute and its item, on one line if it is at most `width` columns wide.
fn fitting(attribute: &str, item: &str, width: usize) -> Vec<String> {
    let line = format!("{attribute} {item}");
    if line.chars().count() <= width {
        return vec![line];
    }
    let indent = &attribute[..attribute.len() - attribute.trim_start().len()];
    let mut lines = value::wrap(attribute.trim_start(), width - indent.len() - 4);
    lines.push(item.to_owned());
    let lines = lines.iter().enumerate();
    lines
        .map(|(at, line)| {
            format!(
                "{indent}{}{line}",
                if at > 0 && line != item { "    " } else { "" }
            )
        })
        .collect()
}

/// The attributes at the end of `lines`, each joined to one line.
fn attributes_before(lines: &[&str]) -> Vec<String> {
    let start = lines.iter().rposition(|line| {
        line.is_empty() || line.starts_with("//") || *line == "}" || line.ends_with(';')
    });
    let mut attributes: Vec<String> = Vec::new();
    for line in &lines[start.map_or(0, |start| start + 1)..] {
        match attributes.last_mut() {
            Some(last) if !line.starts_with("#[") => *last = join(last, line),
            _ => attributes.push((*line).to_owned()),
        }
    }
    attributes
}

/// Joins a line to the line before it.
fn join(line: &str, next: &str) -> String {
    let is_open = line.is_empty() || line.ends_with('(');
    let line = match next.starts_with(')') {
        true => line.trim_end_matches(','),
        false => line,
    };
    match is_open || next.starts_with(')') {
        true => format!("{line}{next}"),
        false => format!("{line} {next}"),
    }
}

/// Breaks a call, as `stringify!` writes it, before its methods into lines of at most `width` columns.
pub(super) fn call(code: &str, width: usize) -> Vec<String> {
    let words: Vec<&str> = code.split_whitespace().collect();
    let code = words
        .join(" ")
        .replace(" .", ".")
        .replace("( ", "(")
        .replace(" )", ")");
    let mut lines = Vec::new();
    let mut line = String::new();
    for piece in methods(&code) {
        if !line.is_empty() && line.chars().count() + piece.chars().count() > width {
            lines.push(std::mem::replace(&mut line, "    ".to_owned()));
        }
        line.push_str(piece);
    }
    lines.push(line);
    // A piece that is too long is broken between its words.
    let broken = lines.iter().flat_map(|line| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let pieces = value::wrap(line.trim_start(), width - indent.len() - 4);
        let pieces = pieces.into_iter().enumerate();
        pieces
            .map(move |(at, piece)| format!("{indent}{}{piece}", if at > 0 { "    " } else { "" }))
    });
    broken.collect()
}

/// Splits code before each `.` outside of brackets.
fn methods(code: &str) -> Vec<&str> {
    let (mut pieces, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in code.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '.' if depth == 0 => {
                pieces.push(&code[start..at]);
                start = at;
            }
            _ => {}
        }
    }
    pieces.push(&code[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
/// A part.
#[derive(Debug, Document)]
#[document(
    collection = "parts",
    index(fields = "name, -price"),
)]
pub struct Part {
    /// Its id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The name.
    pub name: String,
    /// The product.
    #[reference(parent)]
    pub product: Ref<Product>,
}

/// Money.
#[derive(Embed)]
pub struct Money {
    /// How much.
    pub value: f64,
    /// Of what.
    pub currency: String,
}
"#;

    #[test]
    fn a_model_is_shown_with_its_relations() {
        let expected = [
            r#"#[document(collection = "parts", index(fields = "name, -price"))] struct Part { .."#,
            "    #[reference(parent)] product: Ref<Product>,",
            "}",
        ];
        assert_eq!(model(SOURCE, "Part", 90), expected);
    }

    #[test]
    fn a_model_without_relations_is_shown_with_all_its_fields() {
        let expected = ["struct Money {", "    value: f64, currency: String,", "}"];
        assert_eq!(model(SOURCE, "Money", 90), expected);
    }

    #[test]
    #[should_panic(expected = "no struct `Gone`")]
    fn a_model_that_is_gone_is_a_mistake() {
        model(SOURCE, "Gone", 90);
    }

    #[test]
    fn a_long_call_is_broken_before_its_methods() {
        let code = "db.parts\n    .find(fields.name.eq(\"a\"))\n    .sort(fields.name.asc())";
        assert_eq!(
            call(code, 90),
            ["db.parts.find(fields.name.eq(\"a\")).sort(fields.name.asc())"]
        );
        let lines = [
            "db.parts.find(fields.name.eq(\"a\"))",
            "    .sort(fields.name.asc())",
        ];
        assert_eq!(call(code, 40), lines);
    }
}
