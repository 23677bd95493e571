//! Sample data.

use std::error::Error;

use odm::{prelude::*, store::Durability};

use crate::{auth::Auth, failure::Failure, models::*, requests::Draft};

/// Topics, which are also tags.
const TOPICS: [&str; 8] = [
    "dragons", "gardens", "bread", "maps", "clocks", "rivers", "paper", "lenses",
];

/// The beginnings of titles, before a topic.
const ANGLES: [&str; 5] = [
    "A beginner's guide to",
    "What nobody told me about",
    "Ten years with",
    "In praise of",
    "The trouble with",
];

const PARAGRAPH: &str = "It began with a question that seemed small. The answer took a summer, three notebooks and the \
    patience of a neighbour, who had done it all before and would not say so. What follows is what I would have liked to \
    read then: what to look at first, what to leave alone, and how to tell that it goes well.";

/// Stores articles with their authors, tags, favorites, comments and followers, unless there are users.
pub async fn fill(
    db: &Conduit,
    auth: &Auth,
    articles: u32,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    if db.users.all().exists().await? {
        return Ok(());
    }
    // Data that is lost in a crash is made anew.
    let db = db.durability(Durability::Eventual);
    let hash = auth.hash("password".to_owned()).await;
    let hash = hash.map_err(told)?;
    let count = (articles / 10).max(4);
    let users = db.users.insert_many((0..count).map(|n| NewUser {
        username: format!("user{n}"),
        email: format!("user{n}@example.com"),
        password_hash: hash.clone(),
        password_number: 0,
        bio: Some(format!("Writes about {}.", pick(&TOPICS, n))),
        image: None,
    }));
    let users = users.await?;
    db.follows.insert_many(follows(&users)).await?;
    for n in 0..articles {
        let (topic, other) = (pick(&TOPICS, n), pick(&TOPICS, n / 8 + 3));
        let title = format!("{} {topic}, part {}", pick(&ANGLES, n / 3), n + 1);
        let tags: Vec<Ref<Tag>> = match topic == other {
            true => vec![Ref::new(topic.to_string())],
            false => vec![Ref::new(topic.to_string()), Ref::new(other.to_string())],
        };
        let draft = Draft {
            title,
            description: format!("On {topic}, and how {other} come into it."),
            body: [PARAGRAPH; 3].join("\n\n"),
            tags,
        };
        let article = db.publish(draft.by(pick(&users, n))).await;
        let article = article.map_err(told)?;
        // From as many users, so that none is named twice.
        let readers = (n % 11).min(count - 1);
        db.favorites
            .insert_many((1..=readers).map(|reader| NewFavorite {
                user: pick(&users, n + reader).into(),
                article: Ref::from(&article),
            }))
            .await?;
        db.comments
            .insert_many((1..=n % 5).map(|reader| NewComment {
                body: format!("Thank you! Will there be a part on {other}?"),
                author: pick(&users, n + reader).into(),
                article: Ref::from(&article),
            }))
            .await?;
    }
    Ok(())
}

fn pick<T>(of: &[T], n: u32) -> &T {
    &of[n as usize % of.len()]
}

fn told(failure: Failure) -> String {
    failure.messages.join(", ")
}

/// Each user follows up to twenty others.
fn follows(users: &[User]) -> impl Iterator<Item = NewFollow> {
    let others = users.len().min(21);
    (0..users.len()).flat_map(move |n| {
        (1..others).map(move |step| NewFollow {
            follower: Ref::from(&users[n]),
            followed: Ref::from(&users[(n + step) % users.len()]),
        })
    })
}
