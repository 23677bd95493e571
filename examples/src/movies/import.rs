//! The import of the data set `movies.json` of the npm package `vega-datasets`, which has mistakes on purpose.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
};

use odm::{prelude::*, repository::UpsertBy};
use serde::Deserialize;
use serde_json::Value;

use super::models::{
    Catalogue, Director, DirectorLink, Distributor, DistributorLink, Genre, GenreLink, Movie,
    NewDirector, NewDistributor, NewGenre, NewMovie,
};

/// The built-in sample: a hundred movies of the data set, with most of its mistakes.
pub const SAMPLE: &str = include_str!("../../movies/sample.json");
/// The number of movies that a unit stores.
const UNIT: usize = 500;
/// The last year of the data set. A later year has lost its century.
const LAST_YEAR: i32 = 2012;

/// A movie as the data set has it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Line {
    /// A text, a number or null.
    #[serde(rename = "Title")]
    pub title: Value,
    /// The gross.
    #[serde(rename = "Worldwide Gross")]
    pub gross: Option<i64>,
    /// The budget.
    #[serde(rename = "Production Budget")]
    pub budget: Option<i64>,
    /// A date in one of several formats.
    #[serde(rename = "Release Date")]
    pub released: Value,
    /// The distributor.
    #[serde(rename = "Distributor")]
    pub distributor: Option<String>,
    /// The genre.
    #[serde(rename = "Major Genre")]
    pub genre: Option<String>,
    /// Who directed it.
    #[serde(rename = "Director")]
    pub director: Option<String>,
    /// The rating.
    #[serde(rename = "IMDB Rating")]
    pub rating: Option<f64>,
    /// The number of votes.
    #[serde(rename = "IMDB Votes")]
    pub votes: Option<i64>,
}

/// Why a line is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// It has no title.
    NoTitle,
    /// It has no date, or an unreadable one.
    NoDate,
    /// An earlier line has the same title and year.
    Twice,
}

/// The correction of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Corrected {
    /// The title is a number, and is stored as a text.
    NumberAsTitle,
    /// The year is a century late: 2033 for 1933.
    CenturyLate,
    /// The gross or the budget is zero, which means unknown.
    ZeroAmount,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeftOut::NoTitle => "without a title",
            LeftOut::NoDate => "without a date that can be read",
            LeftOut::Twice => "of a title and year that are there already",
        })
    }
}

impl fmt::Display for Corrected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Corrected::NumberAsTitle => "titles that are numbers",
            Corrected::CenturyLate => "dates that are a century late",
            Corrected::ZeroAmount => "amounts of zero, which are not known",
        })
    }
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// How many lines there were.
    pub lines: usize,
    /// How many movies were stored.
    pub movies: usize,
    /// How many lines were corrected, by the correction.
    pub corrected: BTreeMap<Corrected, usize>,
    /// The numbers of lines that were left out, by reason.
    pub left_out: BTreeMap<LeftOut, usize>,
}

impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} movies of {} lines", self.movies, self.lines)?;
        for (what, n) in &self.corrected {
            writeln!(f, "  corrected  {n:>4} {what}")?;
        }
        for (why, n) in &self.left_out {
            writeln!(f, "  left out   {n:>4} {why}")?;
        }
        Ok(())
    }
}

/// A line that can be stored.
struct Clean {
    title: String,
    released: DateTime,
    year: i32,
    line: Line,
}

/// Imports the lines. Documents of an earlier import are updated.
pub async fn import(db: &Catalogue, lines: Vec<Line>) -> odm::Result<Imported> {
    let mut imported = Imported {
        lines: lines.len(),
        ..Imported::default()
    };
    let mut seen = BTreeSet::new();
    let mut clean = Vec::new();
    for line in lines {
        match cleaned(line, &mut imported.corrected) {
            Ok(line) if !seen.insert((line.title.clone(), line.year)) => {
                *imported.left_out.entry(LeftOut::Twice).or_default() += 1;
            }
            Ok(line) => clean.push(line),
            Err(reason) => *imported.left_out.entry(reason).or_default() += 1,
        }
    }

    let names = |name: fn(&Line) -> &Option<String>| {
        clean.iter().filter_map(move |c| name(&c.line).clone())
    };
    let directors = named(db, names(|line| &line.director), |name| {
        let director = NewDirector { name };
        db.directors.upsert_by(Director::fields().name, director)
    });
    let directors = directors.await?;
    let genres = named(db, names(|line| &line.genre), |name| {
        let genre = NewGenre { name };
        db.genres.upsert_by(Genre::fields().name, genre)
    });
    let genres = genres.await?;
    let distributors = named(db, names(|line| &line.distributor), |name| {
        let distributor = NewDistributor { name };
        db.distributors
            .upsert_by(Distributor::fields().name, distributor)
    });
    let distributors = distributors.await?;

    let key = (Movie::fields().title, Movie::fields().year);
    let mut clean = clean.into_iter().peekable();
    while clean.peek().is_some() {
        let movies = clean.by_ref().take(UNIT).map(|clean| {
            let Clean {
                title,
                released,
                year,
                line,
            } = clean;
            let movie = NewMovie {
                title,
                released,
                year,
                director: line
                    .director
                    .map(|name| DirectorLink::from(&directors[&name])),
                genre: line.genre.map(|name| GenreLink::from(&genres[&name])),
                distributor: line
                    .distributor
                    .map(|name| DistributorLink::from(&distributors[&name])),
                rating: line.rating,
                votes: line.votes,
                gross: line.gross,
                budget: line.budget,
            };
            db.movies.upsert_by(key, movie)
        });
        imported.movies += db.bulk(movies.collect::<Vec<_>>()).await?.len();
    }
    Ok(imported)
}

/// Stores the named documents that are not stored yet, and returns all of them by name.
async fn named<M: Document>(
    db: &Catalogue,
    names: impl Iterator<Item = String>,
    upsert: impl Fn(String) -> UpsertBy<M>,
) -> odm::Result<HashMap<String, M>> {
    let names: BTreeSet<String> = names.collect();
    let upserts = names.iter().map(|name| upsert(name.clone()).keep());
    let documents = db.bulk(upserts.collect::<Vec<_>>()).await?;
    Ok(names.into_iter().zip(documents).collect())
}

fn cleaned(mut line: Line, corrected: &mut BTreeMap<Corrected, usize>) -> Result<Clean, LeftOut> {
    let mut found = BTreeSet::new();
    let title = match &line.title {
        Value::String(title) if !title.trim().is_empty() => title.trim().to_owned(),
        Value::Number(number) => {
            found.insert(Corrected::NumberAsTitle);
            number.to_string()
        }
        _ => return Err(LeftOut::NoTitle),
    };
    let (mut year, month, day) = date(&line.released).ok_or(LeftOut::NoDate)?;
    if year > LAST_YEAR {
        found.insert(Corrected::CenturyLate);
        year -= 100;
    }
    let released = format!("{year:04}-{month:02}-{day:02}");
    let released = released.parse().map_err(|_| LeftOut::NoDate)?;
    for amount in [&mut line.gross, &mut line.budget] {
        if *amount == Some(0) {
            found.insert(Corrected::ZeroAmount);
            *amount = None;
        }
    }
    for what in found {
        *corrected.entry(what).or_default() += 1;
    }
    Ok(Clean {
        title,
        released,
        year,
        line,
    })
}

/// Reads `Jun 12 1998`, `12-Jun-98`, `1998-06-12`, or a year alone, which stands for its first day.
fn date(value: &Value) -> Option<(i32, u32, u32)> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let parts: Vec<&str> = text.split(['-', ' ']).collect();
    let month = |name: &str| {
        let names = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let at = names.iter().position(|known| *known == name)?;
        Some(at as u32 + 1)
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let (year, month, day) = match parts[..] {
        [year] => (year, 1, 1),
        [name, day, year] if month(name).is_some() => (year, month(name)?, number(day)?),
        [day, name, year] if month(name).is_some() => (year, month(name)?, number(day)?),
        [year, month, day] => (year, number(month)?, number(day)?),
        _ => return None,
    };
    let century = match year.len() {
        4 => 0,
        // Two-digit years up to that of `LAST_YEAR` are in the twenty-first century, all others in the twentieth.
        2 if number(year)? <= LAST_YEAR as u32 - 2000 => 2000,
        2 => 1900,
        _ => return None,
    };
    Some((century + number(year)? as i32, month, day))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dates_are_read_in_the_formats_that_the_data_set_has_had() {
        for text in ["Jun 12 1998", "12-Jun-98", "1998-06-12", " Jun 12 1998 "] {
            assert_eq!(date(&json!(text)), Some((1998, 6, 12)), "{text}");
        }
        assert_eq!(date(&json!(1998)), Some((1998, 1, 1)));
        assert_eq!(date(&json!("1998")), Some((1998, 1, 1)));
        assert_eq!(date(&json!("07-May-04")), Some((2004, 5, 7)));
        for odd in [
            json!("TBD"),
            json!("Jun 1998"),
            json!(null),
            json!(98.5),
            json!("Jux 12 1998"),
        ] {
            assert_eq!(date(&odd), None, "{odd}");
        }
    }

    #[test]
    fn a_line_is_corrected_or_left_out() {
        let mut corrected = BTreeMap::new();
        let line = |title, released| Line {
            title,
            released,
            gross: Some(0),
            ..Line::default()
        };
        let clean = cleaned(line(json!(1776), json!("Nov 09 2033")), &mut corrected);
        let clean = clean.ok().unwrap();
        assert_eq!(
            (clean.title.as_str(), clean.year, clean.line.gross),
            ("1776", 1933, None)
        );
        assert_eq!(corrected.values().copied().collect::<Vec<_>>(), [1, 1, 1]);
        for (title, released, reason) in [
            (json!(null), json!("Nov 09 1972"), LeftOut::NoTitle),
            (json!("  "), json!("Nov 09 1972"), LeftOut::NoTitle),
            (json!("Up"), json!(null), LeftOut::NoDate),
            (json!("Up"), json!("Feb 31 2009"), LeftOut::NoDate),
        ] {
            let left_out = cleaned(line(title, released), &mut corrected).err();
            assert_eq!(left_out, Some(reason));
        }
        assert_eq!(corrected.values().sum::<usize>(), 3);
    }
}
