//! Charts as SVG: bars with names beside them, and columns over the years.

use std::fmt::Write as _;

const WIDTH: f64 = 860.0;
/// The margin around a chart, and the space above it for its title.
const EDGE: f64 = 32.0;
const HEAD: f64 = 96.0;
/// The largest average width of the characters of a label.
const CHARACTER: f64 = 8.2;

const BAR: &str = "#3d6fb4";
const LINE: &str = "#e3e7ec";
const TEXT: &str = "#1d2733";
const FAINT: &str = "#66727f";
const FONT: &str =
    "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

/// The heading of a chart.
#[derive(Debug, Clone, Copy)]
pub struct Heading<'a> {
    /// The title.
    pub title: &'a str,
    /// The counted values, and their source.
    pub subtitle: &'a str,
}

/// Draws a bar for each row, from top to bottom. No value is negative; `label` gives the text of a value.
pub fn bars(heading: Heading<'_>, rows: &[(String, f64)], label: impl Fn(f64) -> String) -> String {
    const ROW: f64 = 30.0;
    let characters = rows.iter().map(|(name, _)| name.chars().count());
    let left = EDGE + characters.max().unwrap_or(0) as f64 * CHARACTER + 12.0;
    let longest = (WIDTH - left - EDGE - 70.0).max(1.0);
    let largest = rows
        .iter()
        .map(|row| row.1)
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = Svg::new(heading, HEAD + ROW * rows.len() as f64 + EDGE);
    for (at, (name, value)) in rows.iter().enumerate() {
        let (top, length) = (HEAD + ROW * at as f64, longest * value / largest);
        let base = top + 19.0;
        svg.text(left - 12.0, base, "end", TEXT, name);
        svg.rectangle(
            left,
            top + 4.0,
            length,
            ROW - 9.0,
            &format!("{name}: {}", label(*value)),
        );
        svg.text(left + length + 8.0, base, "start", FAINT, &label(*value));
    }
    svg.finish()
}

/// Draws a column for each year, and grid lines with the `label`s of their values. No value is negative.
pub fn columns(
    heading: Heading<'_>,
    years: &[(i32, f64)],
    label: impl Fn(f64) -> String,
) -> String {
    const HEIGHT: f64 = 300.0;
    let left = EDGE + 52.0;
    let bottom = HEAD + HEIGHT;
    let largest = years
        .iter()
        .map(|year| year.1)
        .fold(f64::MIN_POSITIVE, f64::max);
    let step = step(largest);
    let top_value = (largest / step).ceil() * step;
    let mut svg = Svg::new(heading, bottom + 28.0 + EDGE);
    let lines = (top_value / step).round() as u32;
    for line in 0..=lines {
        let value = step * f64::from(line);
        let y = bottom - HEIGHT * value / top_value;
        svg.line(left, y, WIDTH - EDGE);
        svg.text(left - 10.0, y + 5.0, "end", FAINT, &label(value));
    }
    let width = (WIDTH - EDGE - left) / years.len().max(1) as f64;
    // As many years have labels as there is room for.
    let every = [1, 2, 5, 10]
        .into_iter()
        .find(|every| f64::from(*every) * width >= 60.0);
    let every = every.unwrap_or(20);
    for (at, (year, value)) in years.iter().enumerate() {
        let (x, height) = (left + width * at as f64, HEIGHT * value / top_value);
        let what = format!("{year}: {}", label(*value));
        svg.rectangle(
            x + width * 0.12,
            bottom - height,
            width * 0.76,
            height,
            &what,
        );
        if year % every == 0 {
            svg.text(
                x + width / 2.0,
                bottom + 22.0,
                "middle",
                FAINT,
                &year.to_string(),
            );
        }
    }
    svg.finish()
}

/// The distance of lines if about five reach to the largest value: 1, 2 or 5 with zeros.
fn step(largest: f64) -> f64 {
    let raw = largest / 5.0;
    let power = 10_f64.powf(raw.log10().floor());
    let digits = [1.0, 2.0, 5.0, 10.0];
    let digit = digits.into_iter().find(|digit| digit * power >= raw);
    digit.unwrap_or(10.0) * power
}

/// A drawing that is being made.
struct Svg {
    text: String,
}

impl Svg {
    fn new(heading: Heading<'_>, height: f64) -> Self {
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" font-family=\"{FONT}\" font-size=\"14\">\n"
        );
        let (title, subtitle) = (escaped(heading.title), escaped(heading.subtitle));
        let _ = writeln!(text, "<title>{title}</title>");
        let _ = writeln!(
            text,
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{EDGE}\" y=\"44\" fill=\"{TEXT}\" font-size=\"21\" font-weight=\"600\">{title}</text>\n\
             <text x=\"{EDGE}\" y=\"66\" fill=\"{FAINT}\" font-size=\"13\">{subtitle}</text>"
        );
        Svg { text }
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, colour: &str, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
        );
    }

    /// A rectangle with a text that appears while a pointer rests on it.
    fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, what: &str) {
        let what = escaped(what);
        let _ = writeln!(
            self.text,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\" \
             fill=\"{BAR}\"><title>{what}</title></rect>"
        );
    }

    fn line(&mut self, from: f64, y: f64, to: f64) {
        let _ = writeln!(
            self.text,
            "<line x1=\"{from:.1}\" y1=\"{y:.1}\" x2=\"{to:.1}\" y2=\"{y:.1}\" stroke=\"{LINE}\"/>"
        );
    }

    fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// The text, escaped for XML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML allows no control characters.
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// Dollars in a few characters: `$1.2bn`.
pub fn dollars(amount: f64) -> String {
    let round = |value: f64, unit: &str| {
        let digits = usize::from(value < 10.0 && value.fract() > 0.0);
        format!("${value:.digits$}{unit}")
    };
    match amount {
        0.0 => "$0".to_owned(),
        amount if amount >= 1e9 => round(amount / 1e9, "bn"),
        amount if amount >= 1e6 => round(amount / 1e6, "m"),
        amount => round(amount / 1e3, "k"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_at_round_values() {
        assert_eq!(step(23.0), 5.0);
        assert_eq!(step(1.0), 0.2);
        assert_eq!(step(5e9), 1e9);
        assert_eq!(step(26e9), 1e10);
    }

    #[test]
    fn amounts_are_short() {
        let amounts = [0.0, 950_000.0, 1_250_000.0, 2e9, 26.4e9];
        assert_eq!(
            amounts.map(dollars),
            ["$0", "$950k", "$1.2m", "$2bn", "$26bn"]
        );
    }
}
