//! The code of `docs/patterns.md`: one test for each pattern with an example there.

use std::collections::BTreeMap;

use odm::{Embedded, Result, prelude::*};
use serde::{Deserialize, Serialize};

/// Computed, approximation, extended reference and subset.
mod films {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "films", index(fields = "-rating"))]
    struct Film {
        #[serde(rename = "_id")]
        id: i64,
        title: String,
        #[count(of = "Screening")]
        screenings: i64,
        #[sum(of = "Screening.viewers")]
        viewers: i64,
        #[sum(of = "Screening.cents")]
        cents: i64,
        #[computed(if viewers == 0 { None } else { Some(cents as f64 / viewers as f64 / 100.0) })]
        mean_price: Option<f64>,
        #[computed(words(&title))]
        #[index]
        words: Vec<String>,
        #[count(of = "View", refresh = "later")]
        views: i64,
        #[subset(limit = 3, sort = "-viewers")]
        best: Subset<ScreeningLine>,
        rating: f64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "screenings")]
    struct Screening {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent)]
        film: Ref<Film>,
        #[denormalize(from = "Film.title")]
        film_title: String,
        viewers: i64,
        cents: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
    #[projection(of = "Screening")]
    struct ScreeningLine {
        #[serde(rename = "_id")]
        id: i64,
        viewers: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "views")]
    struct View {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent)]
        film: Ref<Film>,
    }

    #[derive(Database)]
    #[database(name = "films", version = 1)]
    struct Films {
        films: Repository<Film>,
        screenings: Repository<Screening>,
        views: Repository<View>,
    }

    #[tokio::test]
    async fn what_is_computed_follows_the_screenings() -> Result<()> {
        let db = Films::open(Embedded::memory().await?).await?;
        let film = Film {
            id: 1,
            title: "The Red Shoes".into(),
            screenings: 0,
            viewers: 0,
            cents: 0,
            mean_price: None,
            words: Vec::new(),
            views: 0,
            best: Subset::default(),
            rating: 8.1,
        };
        db.films.insert(film).await?;
        for (id, viewers, cents) in [(1, 100, 80_000), (2, 300, 200_000)] {
            let screening =
                Screening { id, film: Ref::new(1), film_title: String::new(), viewers, cents };
            db.screenings.insert(screening).await?;
        }
        db.views.insert(View { id: 1, film: Ref::new(1) }).await?;
        db.wait_for_refreshes().await?;
        let film = db.films.find(Film::fields().words.matches("red sho*")).one().await?;
        assert_eq!((film.screenings, film.viewers, film.mean_price), (2, 400, Some(7.0)));
        assert_eq!((film.views, film.best[0].id), (1, 2));
        assert_eq!(db.screenings.get(1).await?.film_title, "The Red Shoes");
        Ok(())
    }
}

/// Attribute, polymorphic and inheritance.
mod goods {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "goods", index(fields = "specs[weight]"))]
    struct Good {
        #[serde(rename = "_id")]
        id: i64,
        name: String,
        #[embed]
        kind: Kind,
        specs: BTreeMap<String, i64>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Kind {
        Book { author: String, pages: i32 },
        Film { director: String, minutes: i32 },
    }

    #[derive(Database)]
    #[database(name = "goods", version = 1)]
    struct Goods {
        goods: Repository<Good>,
    }

    #[tokio::test]
    async fn goods_of_several_kinds_are_found_by_what_they_share_and_by_what_they_do_not()
    -> Result<()> {
        let db = Goods::open(Embedded::memory().await?).await?;
        let book = Kind::Book { author: "Eco".into(), pages: 500 };
        let film = Kind::Film { director: "Annaud".into(), minutes: 130 };
        for (id, kind) in [(1, book), (2, film)] {
            let specs = BTreeMap::from([("weight".to_owned(), id * 300)]);
            db.goods.insert(Good { id, name: "The Name of the Rose".into(), kind, specs }).await?;
        }
        let good = Good::fields();
        let long = db.goods.find(good.kind.film.minutes.gt(120)).one().await?;
        let light =
            db.goods.find(good.specs.entry("weight", |weight| weight.lt(400))).one().await?;
        assert_eq!((long.id, light.id), (2, 1));
        Ok(())
    }
}

/// Bucket.
mod sensors {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "hours", new = "NewHour", unique(fields = "sensor, hour"))]
    struct Hour {
        #[serde(rename = "_id")]
        #[id(auto)]
        id: ObjectId,
        sensor: i64,
        hour: DateTime,
        #[validate(max_items = 3600)]
        readings: Vec<f64>,
        #[computed(readings.len() as i64)]
        number: i64,
        #[computed(readings.iter().copied().sum::<f64>())]
        total: f64,
    }

    #[derive(Database)]
    #[database(name = "sensors", version = 1)]
    struct Sensors {
        hours: Repository<Hour>,
    }

    impl Sensors {
        /// Adds a reading to the bucket of its hour, or begins one.
        async fn read(&self, sensor: i64, hour: DateTime, value: f64) -> Result<()> {
            let of = Hour::fields();
            let bucket = of.sensor.eq(sensor) & of.hour.eq(hour);
            let pushed = self.hours.update_where(bucket).push(of.readings, value).await?;
            if pushed.modified == 0 {
                let first = NewHour { sensor, hour, readings: vec![value] };
                self.hours.insert(first).await?;
            }
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_bucket_has_the_totals_of_its_readings() -> Result<()> {
        let db = Sensors::open(Embedded::memory().await?).await?;
        let hour = DateTime::from_millis(0);
        for value in [1.5, 2.5, 4.0] {
            db.read(7, hour, value).await?;
        }
        let bucket = db.hours.find(Hour::fields().sensor.eq(7)).one().await?;
        assert_eq!((bucket.number, bucket.total), (3, 8.0));
        Ok(())
    }
}
