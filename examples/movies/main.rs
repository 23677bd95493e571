//! Imports a data set of movies, prints a report and a page of a search, and draws charts.
//!
//! Without arguments it imports a built-in sample. The whole data set, of 3,201 movies, is in the npm package `vega-datasets`:
//!
//! ```console
//! npm pack vega-datasets && tar -xzf vega-datasets-*.tgz package/data/movies.json
//! cargo run -p examples --example movies -- --data package/data/movies.json --charts charts --search "star wars"
//! ```

use std::{error::Error, fs, num::NonZeroU64, path::PathBuf, process::ExitCode, time::Instant};

use clap::Parser;
use examples::{
    exit,
    movies::{
        charts::{Heading, bars, columns, dollars},
        import::{Line, SAMPLE, import},
        models::{Catalogue, Movie},
        reports,
    },
    print,
};
use odm::{
    Embedded,
    prelude::*,
    repository::{Cursor, Page},
};

/// A movie catalogue: imports a data set, and prints what is in it.
#[derive(Parser)]
struct Arguments {
    /// The file `movies.json` of the npm package `vega-datasets`; without it, the sample that comes along.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// The file of the database; without it, all is gone at the end. A second import changes what is there.
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
    /// The folder for charts.
    #[arg(long, value_name = "FOLDER")]
    charts: Option<PathBuf>,
    /// Words that titles have.
    #[arg(long, value_name = "WORDS", default_value = "")]
    search: String,
    /// How many movies are on a page.
    #[arg(long, value_name = "NUMBER", default_value = "10")]
    size: NonZeroU64,
    /// Where the page starts, as the page before says.
    #[arg(long, value_name = "POSITION")]
    after: Option<Cursor>,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error + Send + Sync>> {
    let lines = match &arguments.data {
        Some(file) => {
            let text = fs::read_to_string(file);
            text.map_err(|error| format!("cannot read `{}`: {error}", file.display()))?
        }
        None => SAMPLE.to_owned(),
    };
    let lines: Vec<Line> = serde_json::from_str(&lines)
        .map_err(|error| format!("the data is no list of movies: {error}"))?;
    let store = match &arguments.database {
        Some(file) => Embedded::open(file).await?,
        None => Embedded::memory().await?,
    };
    let db = Catalogue::open(store).await?;

    let start = Instant::now();
    let imported = import(&db, lines).await?;
    let seconds = start.elapsed().as_secs_f64();
    print(&format!(
        "{imported}  in {seconds:.1} s\n{}",
        report(&db).await?
    ))?;
    if let Some(folder) = arguments.charts {
        fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make the folder `{}`: {error}", folder.display()))?;
        for (name, svg) in charts(&db).await? {
            let file = folder.join(name);
            fs::write(&file, svg)?;
            print(&format!("drawn: {}\n", file.display()))?;
        }
    }
    let after = arguments.after.as_ref();
    let page = reports::search(&db, &arguments.search, after, arguments.size.get()).await?;
    print(&listing(&arguments.search, &page))?;
    print(&format!("\naudit: {} findings\n", db.audit().await?.len()))?;
    db.close().await?;
    Ok(())
}

/// A summary of the catalogue, in a few lines.
async fn report(db: &Catalogue) -> odm::Result<String> {
    let mut report = "\nthe best genres\n".to_owned();
    for (genre, (rating, movies)) in reports::ratings_by_genre(db, 5).await?.into_iter().take(5) {
        let (genre, rating) = (genre.unwrap_or_default(), rating.unwrap_or_default());
        report += &format!("  {rating:.2}  {genre}, {movies} movies\n");
    }
    report += "\nthe busiest directors, and their best\n";
    for director in reports::busiest_directors(db, 5).await? {
        let best = director.best.iter().take(3);
        let best = best.map(|movie| format!("{} ({})", movie.title, movie.year));
        let best = best.collect::<Vec<_>>().join(", ");
        report += &format!("  {:>3}  {}: {best}\n", director.movies, director.name);
    }
    Ok(report + "\n")
}

/// The charts, each with the name of its file.
async fn charts(db: &Catalogue) -> odm::Result<Vec<(&'static str, String)>> {
    let genres = reports::ratings_by_genre(db, 5).await?;
    let genres = genres
        .into_iter()
        .filter_map(|(name, (rating, _))| Some((name?, rating?)));
    let by_genre = bars(
        Heading {
            title: "Mean rating by genre",
            subtitle: "IMDb users, out of ten; genres of five movies or more",
        },
        &genres.collect::<Vec<_>>(),
        |rating| format!("{rating:.1}"),
    );
    let years = reports::gross_by_year(db).await?.into_iter();
    let years = years.filter(|(year, _)| (1980..=2010).contains(year));
    let by_year = columns(
        Heading {
            title: "Gross by year",
            subtitle: "in cinemas all over the world, of the movies in the data set",
        },
        &years
            .map(|(year, (gross, _))| (year, gross as f64))
            .collect::<Vec<_>>(),
        dollars,
    );
    let distributors = reports::gross_by_distributor(db, 12).await?.into_iter();
    let distributors = distributors.map(|one| (one.name, one.gross as f64));
    let by_distributor = bars(
        Heading {
            title: "Gross by distributor",
            subtitle: "in cinemas all over the world, of all years; the first twelve",
        },
        &distributors.collect::<Vec<_>>(),
        dollars,
    );
    Ok(vec![
        ("rating-by-genre.svg", by_genre),
        ("gross-by-year.svg", by_year),
        ("gross-by-distributor.svg", by_distributor),
    ])
}

/// A page of a search, a line for each movie.
fn listing(search: &str, page: &Page<Movie>) -> String {
    let total = page.total.unwrap_or(0);
    let mut listing = match search {
        "" => format!("\n{total} movies\n"),
        words => format!("\n{total} movies with \"{words}\"\n"),
    };
    for movie in &page.items {
        let rating = movie.rating.map(|rating| format!("{rating:.1}"));
        let rating = rating.unwrap_or_else(|| "-".to_owned());
        let director = movie.director.as_ref();
        let director = director.map(|director| format!(", {}", director.name));
        let director = director.unwrap_or_default();
        listing += &format!("  {}  {rating:>4}  {}{director}\n", movie.year, movie.title);
    }
    if let Some(next) = &page.next {
        listing += &format!("  more: --after={next}\n");
    }
    listing
}
