//! The answers of commands: tables on a terminal, and lines of JSON for programs.

use std::io::{self, IsTerminal};

use console::{Style, Term};
use mongodb::bson::Document;

use crate::{
    arguments::Options,
    error::{Failure, Result},
    json,
    pager::Lines,
    table::{Cells, Table, printable},
};

/// The width of a table that is not on a terminal, unless `COLUMNS` is set.
const WIDTH: usize = 120;

/// How many documents decide the columns of a table.
const SEEN: usize = 500;

/// The answer of a command.
pub(crate) struct Output {
    is_json: bool,
    has_color: bool,
    width: usize,
    lines: Lines,
    rows: Rows,
    has_sections: bool,
}

/// The documents of an answer that may be long.
enum Rows {
    /// The first ones, which decide the columns.
    First(Vec<Document>),
    Further(Table),
}

/// Whether colours are allowed: not where `NO_COLOR` is set.
fn allows_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Tells something on the standard error, under a word such as `note`.
pub(crate) fn complain(word: &str, text: &str) {
    let has_color = io::stderr().is_terminal() && allows_color();
    let style = if word == "error" {
        Style::new().red()
    } else {
        Style::new().yellow()
    };
    let word = style.bold().force_styling(has_color).apply_to(word);
    let lines: Vec<String> = text.split('\n').map(printable).collect();
    eprintln!("{word}: {}", lines.join("\n"));
}

impl Output {
    pub(crate) fn new(options: &Options) -> Output {
        let is_terminal = io::stdout().is_terminal();
        let columns = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        let of_terminal = Term::stdout()
            .size_checked()
            .map(|(_, width)| usize::from(width));
        let width = of_terminal.or(columns).unwrap_or(WIDTH);
        Output {
            is_json: options.json || !(is_terminal || options.table),
            has_color: is_terminal && allows_color(),
            width,
            lines: Lines::new(is_terminal && !options.no_pager),
            rows: Rows::First(Vec::new()),
            has_sections: false,
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Writes lines of text as they are.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        let mut lines = text.split('\n');
        lines
            .try_for_each(|line| self.lines.write(line))
            .map_err(unwritable)
    }

    /// Writes something for people, which programs do not get.
    pub(crate) fn note(&mut self, line: &str) -> Result<()> {
        if self.is_json {
            Ok(())
        } else {
            self.text(line)
        }
    }

    /// Writes a document as a line of JSON.
    pub(crate) fn json(&mut self, document: &Document) -> Result<()> {
        self.text(&json::line(document))
    }

    /// Writes a record of the command's own: a line for each field, or one of JSON.
    pub(crate) fn record(&mut self, record: &Document) -> Result<()> {
        if self.is_json {
            return self.json(record);
        }
        let longest = record.keys().map(String::len).max().unwrap_or_default();
        for (name, value) in record {
            let shown = Cells::WithUnits.show(name, value);
            let name = self.bold(&format!("{:longest$}", Cells::WithUnits.name(name)));
            self.text(&format!("{name}  {shown}"))?;
        }
        Ok(())
    }

    /// Writes a document in full: indented JSON, or a line of it.
    pub(crate) fn whole(&mut self, document: &Document) -> Result<()> {
        if self.is_json {
            return self.json(document);
        }
        self.text(&json::pretty(document))
    }

    /// Writes a table of the command's own under a title. As JSON, each line has the title in `section`, unless it is empty.
    pub(crate) fn section(&mut self, title: &str, rows: &[Document]) -> Result<()> {
        if self.is_json {
            for row in rows {
                let mut line = Document::new();
                if !title.is_empty() {
                    line.insert("section", title);
                }
                line.extend(row.clone());
                self.json(&line)?;
            }
            return Ok(());
        }
        if rows.is_empty() {
            return Ok(());
        }
        if !title.is_empty() {
            let title = self.bold(title);
            if std::mem::replace(&mut self.has_sections, true) {
                self.text("")?;
            }
            self.text(&title)?;
        }
        let table = Table::of(rows, Cells::WithUnits, self.width);
        let head = self.dim(&table.head(Cells::WithUnits));
        self.text(&head)?;
        rows.iter()
            .try_for_each(|row| self.text(&table.row(row, Cells::WithUnits)))
    }

    /// Writes one of many documents. The first ones decide the columns of a table.
    pub(crate) fn document(&mut self, document: Document) -> Result<()> {
        if self.is_json {
            return self.json(&document);
        }
        match &mut self.rows {
            Rows::Further(table) => {
                let row = table.row(&document, Cells::Stored);
                self.text(&row)
            }
            Rows::First(first) => {
                first.push(document);
                if first.len() < SEEN {
                    Ok(())
                } else {
                    self.first_rows()
                }
            }
        }
    }

    /// Writes the documents that have decided the columns.
    fn first_rows(&mut self) -> Result<()> {
        let Rows::First(rows) = &mut self.rows else {
            return Ok(());
        };
        let rows = std::mem::take(rows);
        if rows.is_empty() {
            return Ok(());
        }
        let table = Table::of(&rows, Cells::Stored, self.width);
        let mut head = self.dim(&table.head(Cells::Stored));
        if table.left_out() > 0 {
            head.push_str(&format!(
                "  (and {} more fields: see --json)",
                table.left_out()
            ));
        }
        self.text(&head)?;
        for row in &rows {
            self.text(&table.row(row, Cells::Stored))?;
        }
        self.rows = Rows::Further(table);
        Ok(())
    }

    /// Shows the output until now.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.first_rows()?;
        self.lines.flush().map_err(unwritable)
    }

    /// Writes the rest.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.first_rows()?;
        self.lines.end().map_err(unwritable)
    }

    fn bold(&self, text: &str) -> String {
        let style = Style::new().bold().force_styling(self.has_color);
        style.apply_to(text).to_string()
    }

    fn dim(&self, text: &str) -> String {
        let style = Style::new().underlined().force_styling(self.has_color);
        style.apply_to(text).to_string()
    }
}

/// A number of things, with the form of the noun.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn unwritable(error: io::Error) -> Failure {
    Failure::io("cannot write the answer", &error)
}
