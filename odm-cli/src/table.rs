//! Documents as a table of text: a column for each field, as wide as the screen allows.

use console::{measure_text_width, truncate_str};
use mongodb::bson::{Bson, Document};

use crate::json;

/// The least width to which a column is cut.
const LEAST: usize = 8;

/// The space between two columns.
const GAP: &str = "  ";

/// The columns of a table, which its first rows decide.
pub(crate) struct Table {
    columns: Vec<Column>,
    /// How many columns have no room.
    left_out: usize,
}

struct Column {
    name: String,
    width: usize,
    is_numeric: bool,
}

/// How the values of a table are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cells {
    /// As they are stored.
    Stored,
    /// Numbers of bytes with their units.
    WithUnits,
}

impl Cells {
    /// The name of a field; one of the command's own is in words.
    pub(crate) fn name(self, name: &str) -> String {
        match self {
            Cells::WithUnits if !name.starts_with('_') => name.replace('_', " "),
            _ => name.to_owned(),
        }
    }

    pub(crate) fn show(self, name: &str, value: &Bson) -> String {
        match (self, value) {
            (Cells::WithUnits, Bson::Int64(bytes)) if name.ends_with("bytes") => size(*bytes),
            _ => show(value),
        }
    }
}

impl Table {
    /// Makes the columns for these rows, in a number of characters.
    pub(crate) fn of(rows: &[Document], cells: Cells, width: usize) -> Table {
        let mut columns: Vec<Column> = Vec::new();
        for (name, value) in rows.iter().flatten() {
            let at = columns.iter().position(|column| column.name == *name);
            let at = at.unwrap_or_else(|| {
                columns.push(Column {
                    width: measure_text_width(name),
                    name: name.clone(),
                    is_numeric: true,
                });
                columns.len() - 1
            });
            let column = &mut columns[at];
            column.width = column
                .width
                .max(measure_text_width(&cells.show(name, value)));
            column.is_numeric &= is_number(value);
        }
        let is_id = |column: &Column| column.name != "_id";
        columns.sort_by_key(is_id);
        let left_out = fit(&mut columns, width);
        Table { columns, left_out }
    }

    pub(crate) fn left_out(&self) -> usize {
        self.left_out
    }

    pub(crate) fn head(&self, cells: Cells) -> String {
        self.line(|column| cells.name(&column.name))
    }

    pub(crate) fn row(&self, row: &Document, cells: Cells) -> String {
        self.line(|column| {
            let value = row.get(&column.name);
            value.map_or_else(String::new, |value| cells.show(&column.name, value))
        })
    }

    fn line(&self, cell: impl Fn(&Column) -> String) -> String {
        let cells = self.columns.iter().map(|column| {
            let cell = cell(column);
            let cell = truncate_str(&cell, column.width, "…");
            let space = " ".repeat(column.width - measure_text_width(&cell).min(column.width));
            if column.is_numeric {
                format!("{space}{cell}")
            } else {
                format!("{cell}{space}")
            }
        });
        let cells: Vec<String> = cells.collect();
        cells.join(GAP).trim_end().to_owned()
    }
}

/// Narrows the widest columns until all fit, and then leaves out the last ones. Returns how many.
fn fit(columns: &mut Vec<Column>, width: usize) -> usize {
    let total = |columns: &[Column]| {
        let widths = columns.iter().map(|column| column.width + GAP.len());
        widths.sum::<usize>().saturating_sub(GAP.len())
    };
    while total(columns) > width {
        let widest = columns
            .iter_mut()
            .filter(|column| column.width > LEAST && !column.is_numeric);
        match widest.max_by_key(|column| column.width) {
            Some(widest) => widest.width -= 1,
            None => break,
        }
    }
    let all = columns.len();
    while columns.len() > 1 && total(columns) > width {
        columns.pop();
    }
    all - columns.len()
}

fn is_number(value: &Bson) -> bool {
    matches!(
        value,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_)
    )
}

/// A value in a cell. A text is shown as it is, but for characters that a terminal would obey.
pub(crate) fn show(value: &Bson) -> String {
    match value {
        Bson::String(text) => printable(text),
        Bson::ObjectId(id) => id.to_hex(),
        Bson::DateTime(time) => time
            .try_to_rfc3339_string()
            .unwrap_or_else(|_| time.to_string()),
        Bson::Decimal128(number) => number.to_string(),
        Bson::Double(number) => number.to_string(),
        value => printable(&json::value(value)),
    }
}

/// A text without the characters that a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// A number of bytes with its unit.
pub(crate) fn size(bytes: i64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut number = bytes as f64;
    let mut unit = "B";
    for larger in units {
        if number < 1024.0 {
            break;
        }
        number /= 1024.0;
        unit = larger;
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ => format!("{number:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests;
