//! The systems of MongoDB's schema-design guides. A module has the models, the guides' documents, and the
//! guides' queries and updates, which [`Screen`] shows.

pub mod blogs;
pub mod contacts;
pub mod favourites;
pub mod hosts;
pub mod messages;
pub mod movies;
pub mod part_names;
pub mod patrons;
pub mod people;
pub mod product_names;
pub mod products;
pub mod publishers;
pub mod reviews;
pub mod tasks;

use std::{fmt, str::FromStr};

use odm::Embedded;

use crate::show::Screen;

/// A system of the guides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// Its number, from 1 on.
    pub number: u8,
    /// The name of the pattern.
    pub pattern: &'static str,
    /// The subject of the system.
    pub shows: &'static str,
    /// The guide that it is from.
    pub guide: &'static str,
}

const fn system(
    number: u8,
    pattern: &'static str,
    shows: &'static str,
    guide: &'static str,
) -> System {
    System {
        number,
        pattern,
        shows,
        guide,
    }
}

const EMBEDDED_ONE: &str = "One-to-One, Embedded Documents";
const EMBEDDED_MANY: &str = "One-to-Many, Embedded Documents";
const REFERENCES: &str = "One-to-Many, Document References";
const RULES_1: &str = "6 Rules of Thumb, part 1";
const RULES_2: &str = "6 Rules of Thumb, part 2";

/// All systems, in the order of their numbers.
pub const SYSTEMS: [System; 14] = [
    system(
        1,
        "One-to-one, embedded",
        "A patron's address in the patron, and as a document of its own, which is joined.",
        EMBEDDED_ONE,
    ),
    system(
        2,
        "One-to-few, embedded",
        "The addresses of a patron and of a person, in an array inside of them.",
        EMBEDDED_MANY,
    ),
    system(
        3,
        "Subset, one-to-many",
        "The ten newest reviews in their product, which follow when a review is edited or deleted.",
        EMBEDDED_MANY,
    ),
    system(
        4,
        "Subset, one-to-one",
        "The details of a movie in a collection of their own, as a cold part of the movie.",
        EMBEDDED_ONE,
    ),
    system(
        5,
        "One-to-many, by references",
        "The books of a publisher in its array, or the publisher in each book.",
        REFERENCES,
    ),
    system(
        6,
        "One-to-many, by an array of references",
        "The parts of a product, which several products share, so that it is many-to-many.",
        RULES_1,
    ),
    system(
        7,
        "One-to-squillions, by a reference to the parent",
        "The newest 5,000 log messages of a host.",
        RULES_1,
    ),
    system(
        8,
        "Two-way references",
        "The tasks of a person and the owner of a task: a task moves by one write of either side.",
        RULES_2,
    ),
    system(
        9,
        "Denormalizing from many to one",
        "The names of its parts in a product: a part is renamed, and all its products follow.",
        RULES_2,
    ),
    system(
        10,
        "Denormalizing from one to many",
        "The name and number of the product in its parts, and the names of all products of a part.",
        RULES_2,
    ),
    system(
        11,
        "Denormalizing from one to squillions",
        "The address of the host in its log messages, and messages that need no host at all.",
        RULES_2,
    ),
    system(
        12,
        "Denormalizing from squillions to one",
        "The last 1,000 log messages in their host, which follow each message that comes in.",
        RULES_2,
    ),
    system(
        13,
        "Subset, other uses",
        "The best comments in a post, the largest roles in a movie, the busiest posts in a blog.",
        EMBEDDED_MANY,
    ),
    system(
        14,
        "Schema validation",
        "A rule that older documents break, under each level and each action.",
        "Schema Validation",
    ),
];

impl System {
    /// Runs the system on an empty store, and returns the screen that shows it.
    pub async fn run(self, store: Embedded, is_coloured: bool) -> odm::Result<String> {
        let mut screen = Screen::new(store, is_coloured);
        screen.title(&format!("{self}  {}", self.pattern), self.guide);
        screen.text(self.shows);
        let findings = match self.number {
            1 => patrons::one_address(&mut screen).await?,
            2 => {
                let mut findings = patrons::few_addresses(&mut screen).await?;
                findings.extend(people::run(&mut screen).await?);
                findings
            }
            3 => reviews::run(&mut screen).await?,
            4 => movies::run(&mut screen).await?,
            5 => publishers::run(&mut screen).await?,
            6 => products::run(&mut screen).await?,
            7 => hosts::run(&mut screen).await?,
            8 => tasks::run(&mut screen).await?,
            9 => part_names::run(&mut screen).await?,
            10 => product_names::run(&mut screen).await?,
            11 => messages::run(&mut screen).await?,
            12 => reviews::run_messages(&mut screen).await?,
            13 => {
                let mut findings = favourites::run(&mut screen).await?;
                findings.extend(blogs::run(&mut screen).await?);
                findings
            }
            14 => contacts::run(&mut screen).await?,
            number => unreachable!("`SYSTEMS` has no system {number}"),
        };
        screen.audit(&findings);
        Ok(screen.into_text())
    }
}

/// Returns the list of all systems.
pub fn list(is_coloured: bool) -> String {
    let (bold, dim, plain) = match is_coloured {
        true => ("\x1b[1m", "\x1b[2m", "\x1b[0m"),
        false => ("", "", ""),
    };
    let mut list = String::new();
    for system in SYSTEMS {
        let (
            number,
            System {
                pattern,
                shows,
                guide,
                ..
            },
        ) = (system.to_string(), system);
        list += &format!(
            "{bold}{number:<5}{pattern:<60}{plain}{dim}{guide:>35}{plain}\n     {shows}\n"
        );
    }
    list
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S{}", self.number)
    }
}

impl FromStr for System {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_named = |system: &&System| system.to_string().eq_ignore_ascii_case(text);
        SYSTEMS.iter().find(is_named).copied().ok_or_else(|| {
            let known: Vec<String> = SYSTEMS.iter().map(System::to_string).collect();
            format!("the systems are {}", known.join(", "))
        })
    }
}
