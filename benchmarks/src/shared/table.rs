//! Tables in Markdown, and the numbers in them.

use std::fmt;

/// A table whose first columns are text, and the others numbers.
pub(crate) struct Table {
    texts: usize,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Makes a table without rows, whose first `texts` columns are aligned to the left.
    pub(crate) fn new<C>(texts: usize, columns: C) -> Table
    where
        C: IntoIterator<Item: Into<String>>,
    {
        Table {
            texts,
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row<C>(&mut self, cells: C)
    where
        C: IntoIterator<Item: Into<String>>,
    {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.columns.len(), "{cells:?}");
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.columns.len() - self.texts;
        writeln!(f, "| {} |", self.columns.join(" | "))?;
        writeln!(
            f,
            "|{}{}",
            "---|".repeat(self.texts),
            "--:|".repeat(numbers)
        )?;
        for row in &self.rows {
            writeln!(f, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

/// A whole number with its thousands set apart.
pub(crate) fn thousands(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1000), number % 1000),
    }
}

/// A measured number with three digits, or all that stand before the point.
pub(crate) fn figure(number: f64) -> String {
    match number {
        0.0..9.995 => format!("{number:.2}"),
        9.995..99.95 => format!("{number:.1}"),
        _ => thousands(number.round() as u64),
    }
}
