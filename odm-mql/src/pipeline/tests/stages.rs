//! What each stage does, mostly by the examples on its page in MongoDB's documentation.

use bson::{Bson, Document, doc};

use super::{aggregate, integers, numbered};

fn check(stage: Document, documents: &[Document], expected: Vec<Document>) {
    let results = aggregate(std::slice::from_ref(&stage), documents.to_vec());
    assert_eq!(results, expected, "{stage}");
}

/// The page of `$project`.
#[test]
fn project_keeps_leaves_out_and_computes_fields() {
    let book = [
        doc! { "_id": 1, "title": "abc123", "isbn": "0001122223334", "author": { "last": "zzz", "first": "aaa" }, "copies": 5 },
    ];
    for (projection, expected) in [
        (
            doc! { "title": 1, "author": 1 },
            doc! { "_id": 1, "title": "abc123", "author": { "last": "zzz", "first": "aaa" } },
        ),
        (doc! { "_id": 0, "title": 1 }, doc! { "title": "abc123" }),
        (
            doc! { "author.first": 0, "isbn": 0 },
            doc! { "_id": 1, "title": "abc123", "author": { "last": "zzz" }, "copies": 5 },
        ),
        (
            doc! { "title": 1, "last": "$author.last", "sold": { "$subtract": [9, "$copies"] } },
            doc! { "_id": 1, "title": "abc123", "last": "zzz", "sold": 4 },
        ),
        (
            doc! { "author.middle": { "$cond": [{ "$eq": ["", "$author.middle"] }, "$$REMOVE", 7] } },
            doc! { "_id": 1, "author": { "middle": 7 } },
        ),
        (
            doc! { "list": ["$copies", "$missing"] },
            doc! { "_id": 1, "list": [5, null] },
        ),
        (
            doc! { "_id": "$title", "first": { "$slice": [["$copies", 1], 1] } },
            doc! { "_id": "abc123", "first": [5] },
        ),
    ] {
        check(doc! { "$project": projection }, &book, vec![expected]);
    }
}

/// The pages of `$set` and `$addFields`.
#[test]
fn set_and_add_fields_are_one_stage() {
    let scores = [doc! { "_id": 1, "homework": 10, "quiz": 8, "lab": { "score": 5 } }];
    let fields =
        doc! { "total": { "$add": ["$homework", "$quiz"] }, "lab.extra": 2, "quiz": "$lab.score" };
    let expected = doc! { "_id": 1, "homework": 10, "quiz": 5, "lab": { "score": 5, "extra": 2 }, "total": 18 };
    for stage in ["$set", "$addFields"] {
        check(
            doc! { stage: fields.clone() },
            &scores,
            vec![expected.clone()],
        );
    }
}

/// The page of `$unset`.
#[test]
fn unset_leaves_fields_out() {
    let book = [
        doc! { "_id": 1, "isbn": "8", "author": { "last": "An", "first": "Judy" }, "copies": [{ "warehouse": "A", "qty": 5 }, {}] },
    ];
    let rest = doc! { "_id": 1, "author": { "last": "An" }, "copies": [{ "qty": 5 }, {}] };
    check(
        doc! { "$unset": ["isbn", "author.first", "copies.warehouse"] },
        &book,
        vec![rest],
    );
    check(
        doc! { "$unset": "copies" },
        &book,
        vec![doc! { "_id": 1, "isbn": "8", "author": { "last": "An", "first": "Judy" } }],
    );
}

/// The pages of `$replaceRoot` and `$replaceWith`.
#[test]
fn a_document_is_replaced_by_a_value_of_it() {
    let people = [
        doc! { "_id": 1, "name": { "first": "Arlene" }, "pets": 2 },
        doc! { "_id": 2, "name": { "first": "Sam" }, "pets": 0 },
    ];
    let names = vec![doc! { "first": "Arlene" }, doc! { "first": "Sam" }];
    check(doc! { "$replaceWith": "$name" }, &people, names.clone());
    check(
        doc! { "$replaceRoot": { "newRoot": "$name" } },
        &people,
        names,
    );
    check(
        doc! { "$replaceWith": { "is": "$_id", "has": { "pets": "$pets", "missing": "$x" } } },
        &people[..1],
        vec![doc! { "is": 1, "has": { "pets": 2 } }],
    );
}

/// The page of `$unwind`.
#[test]
fn unwind_makes_a_document_for_each_element() {
    let inventory = [
        doc! { "_id": 1, "item": "Shirt", "sizes": ["S", "M"] },
        doc! { "_id": 2, "item": "Shorts", "sizes": [] },
        doc! { "_id": 3, "item": "Hat", "sizes": "M" },
        doc! { "_id": 4, "item": "Gloves" },
        doc! { "_id": 5, "item": "Scarf", "sizes": null },
    ];
    let mut unwound = vec![
        doc! { "_id": 1, "item": "Shirt", "sizes": "S" },
        doc! { "_id": 1, "item": "Shirt", "sizes": "M" },
        doc! { "_id": 3, "item": "Hat", "sizes": "M" },
    ];
    check(doc! { "$unwind": "$sizes" }, &inventory, unwound.clone());
    check(
        doc! { "$unwind": { "path": "$sizes" } },
        &inventory,
        unwound.clone(),
    );

    for (document, at) in unwound
        .iter_mut()
        .zip([Bson::Int64(0), Bson::Int64(1), Bson::Null])
    {
        document.insert("at", at);
    }
    check(
        doc! { "$unwind": { "path": "$sizes", "includeArrayIndex": "at" } },
        &inventory,
        unwound,
    );

    check(
        doc! { "$unwind": { "path": "$sizes", "preserveNullAndEmptyArrays": true, "includeArrayIndex": "x.at" } },
        &inventory[1..],
        vec![
            doc! { "_id": 2, "item": "Shorts", "x": { "at": null } },
            doc! { "_id": 3, "item": "Hat", "sizes": "M", "x": { "at": null } },
            doc! { "_id": 4, "item": "Gloves", "x": { "at": null } },
            doc! { "_id": 5, "item": "Scarf", "sizes": null, "x": { "at": null } },
        ],
    );
}

#[test]
fn unwind_follows_a_path_through_documents_and_not_through_arrays() {
    let document = [doc! { "a": { "b": [1, [2]], "c": 3 }, "d": [{ "e": [4] }] }];
    check(
        doc! { "$unwind": "$a.b" },
        &document,
        vec![
            doc! { "a": { "b": 1, "c": 3 }, "d": [{ "e": [4] }] },
            doc! { "a": { "b": [2], "c": 3 }, "d": [{ "e": [4] }] },
        ],
    );
    check(doc! { "$unwind": "$d.e" }, &document, vec![]);
    check(doc! { "$unwind": "$a.c.x" }, &document, vec![]);
    // A value on the path of the position becomes a document.
    check(
        doc! { "$unwind": { "path": "$a.c", "includeArrayIndex": "d.at" } },
        &document,
        vec![doc! { "a": { "b": [1, [2]], "c": 3 }, "d": { "at": null } }],
    );
}

/// The page of `$group`.
#[test]
fn group_computes_a_document_for_each_group() {
    let sales = [
        doc! { "_id": 1, "item": "abc", "price": 10, "quantity": 2 },
        doc! { "_id": 2, "item": "jkl", "price": 20, "quantity": 1 },
        doc! { "_id": 3, "item": "xyz", "price": 5, "quantity": 10 },
        doc! { "_id": 4, "item": "xyz", "price": 5, "quantity": 20 },
        doc! { "_id": 5, "item": "abc", "price": 10, "quantity": 10 },
    ];
    check(
        doc! { "$group": { "_id": null, "count": { "$count": {} } } },
        &sales,
        vec![doc! { "_id": null, "count": 5 }],
    );
    check(
        doc! { "$group": { "_id": "$item" } },
        &sales,
        vec![
            doc! { "_id": "abc" },
            doc! { "_id": "jkl" },
            doc! { "_id": "xyz" },
        ],
    );
    let total = doc! { "$sum": { "$multiply": ["$price", "$quantity"] } };
    let having = [
        doc! { "$group": { "_id": "$item", "total": total } },
        doc! { "$match": { "total": { "$gte": 100 } } },
    ];
    assert_eq!(
        aggregate(&having, sales.to_vec()),
        [
            doc! { "_id": "abc", "total": 120 },
            doc! { "_id": "xyz", "total": 150 }
        ]
    );
    check(
        doc! { "$group": { "_id": { "$mod": ["$_id", 2] }, "items": { "$push": { "i": "$item", "q": "$quantity" } } } },
        &sales[..3],
        vec![
            doc! { "_id": 1, "items": [{ "i": "abc", "q": 2 }, { "i": "xyz", "q": 10 }] },
            doc! { "_id": 0, "items": [{ "i": "jkl", "q": 1 }] },
        ],
    );
    check(
        doc! { "$group": { "_id": null, "n": { "$sum": 1 } } },
        &[],
        vec![],
    );
}

#[test]
fn equal_values_are_one_group_and_a_missing_one_is_null() {
    let documents = [
        doc! { "a": 1 },
        doc! { "a": 1.0, "b": 1_i64 },
        doc! {},
        doc! { "a": null },
        doc! { "b": null },
    ];
    let count = doc! { "$sum": 1 };
    check(
        doc! { "$group": { "_id": "$a", "n": count.clone() } },
        &documents,
        vec![doc! { "_id": 1, "n": 2 }, doc! { "_id": null, "n": 3 }],
    );
    check(
        doc! { "$group": { "_id": { "a": "$a" }, "n": count.clone() } },
        &documents,
        vec![
            doc! { "_id": { "a": 1 }, "n": 2 },
            doc! { "_id": { "a": null }, "n": 3 },
        ],
    );
    check(
        doc! { "$group": { "_id": { "a": "$a", "b": "$b" }, "n": count.clone() } },
        &documents,
        vec![
            doc! { "_id": { "a": 1 }, "n": 1 },
            doc! { "_id": { "a": 1.0, "b": 1_i64 }, "n": 1 },
            doc! { "_id": {}, "n": 1 },
            doc! { "_id": { "a": null }, "n": 1 },
            doc! { "_id": { "b": null }, "n": 1 },
        ],
    );
    check(
        doc! { "$group": { "_id": {}, "n": count } },
        &documents,
        vec![doc! { "_id": {}, "n": 5 }],
    );
}

/// The pages of the accumulators.
#[test]
fn an_accumulator_takes_the_values_of_an_expression() {
    let documents = [
        doc! { "a": 5, "q": { "2017Q1": 500, "2017Q2": 500 }, "t": ["x"] },
        doc! { "a": null, "q": null, "t": ["y"] },
        doc! { "a": "text", "q": { "2017Q2": 450 }, "t": ["x"] },
        doc! { "q": { "2016Q1": 400 }, "t": 1.0 },
        doc! { "a": 2.5, "t": 1 },
    ];
    let accumulated = |accumulator: Document| {
        let stage = doc! { "$group": { "_id": null, "value": accumulator } };
        let results = aggregate(&[stage], documents.to_vec());
        results[0].get("value").cloned().expect("a value")
    };
    for (accumulator, expected) in [
        (doc! { "$sum": "$a" }, Bson::Double(7.5)),
        (doc! { "$sum": "$t" }, Bson::Double(2.0)),
        (doc! { "$sum": "$missing" }, Bson::Int32(0)),
        (doc! { "$sum": { "$add": ["$missing", 1] } }, Bson::Int32(0)),
        (
            doc! { "$sum": i64::MAX },
            Bson::Double(i64::MAX as f64 * 5.0),
        ),
        (doc! { "$avg": "$a" }, Bson::Double(3.75)),
        (doc! { "$avg": "$missing" }, Bson::Null),
        (doc! { "$min": "$a" }, Bson::Double(2.5)),
        (doc! { "$max": "$a" }, Bson::String("text".into())),
        (doc! { "$max": "$missing" }, Bson::Null),
        (doc! { "$first": "$a" }, Bson::Int32(5)),
        (doc! { "$first": "$x" }, Bson::Null),
        (doc! { "$last": "$a" }, Bson::Double(2.5)),
        (doc! { "$last": "$q" }, Bson::Null),
        (doc! { "$count": {} }, Bson::Int32(5)),
        (
            doc! { "$push": "$a" },
            Bson::Array(vec![5.into(), Bson::Null, "text".into(), 2.5.into()]),
        ),
        (
            doc! { "$addToSet": "$t" },
            Bson::Array(vec![vec!["x"].into(), vec!["y"].into(), 1.0.into()]),
        ),
        (
            doc! { "$mergeObjects": "$q" },
            doc! { "2017Q1": 500, "2017Q2": 450, "2016Q1": 400 }.into(),
        ),
        (doc! { "$mergeObjects": "$missing" }, doc! {}.into()),
        (
            doc! { "$setUnion": { "$cond": [{ "$isArray": "$t" }, "$t", "$missing"] } },
            vec!["x", "y"].into(),
        ),
        (
            doc! { "$concatArrays": { "$cond": [{ "$isArray": "$t" }, "$t", "$missing"] } },
            vec!["x", "y", "x"].into(),
        ),
        (doc! { "$stdDevPop": "$a" }, Bson::Double(1.25)),
        (doc! { "$stdDevSamp": "$a" }, Bson::Double(3.125_f64.sqrt())),
        (doc! { "$stdDevSamp": "$missing" }, Bson::Null),
    ] {
        assert_eq!(accumulated(accumulator.clone()), expected, "{accumulator}");
    }
}

/// The page of `$count`.
#[test]
fn count_is_a_document_unless_there_are_none() {
    let stages = [
        doc! { "$match": { "score": { "$gt": 80 } } },
        doc! { "$count": "passing_scores" },
    ];
    let scores = numbered("score", [88, 92, 97, 71, 79, 83]);
    assert_eq!(
        aggregate(&stages, scores.clone()),
        [doc! { "passing_scores": 4 }]
    );
    assert_eq!(aggregate(&stages, scores[3..5].to_vec()), []);
}

/// The page of `$sortByCount`.
#[test]
fn sort_by_count_counts_the_documents_of_each_value() {
    let tags = |tags: &[&str]| doc! { "tags": tags };
    let exhibits = vec![
        tags(&["painting", "satire", "oil"]),
        tags(&["woodcut", "oil"]),
        tags(&["oil", "satire"]),
    ];
    let stages = [
        doc! { "$unwind": "$tags" },
        doc! { "$sortByCount": "$tags" },
    ];
    assert_eq!(
        aggregate(&stages, exhibits),
        [
            doc! { "_id": "oil", "count": 3 },
            doc! { "_id": "satire", "count": 2 },
            doc! { "_id": "painting", "count": 1 },
            doc! { "_id": "woodcut", "count": 1 },
        ]
    );
    check(
        doc! { "$sortByCount": { "$gt": ["$a", 1] } },
        &numbered("a", [1, 2, 3]),
        vec![
            doc! { "_id": true, "count": 2 },
            doc! { "_id": false, "count": 1 },
        ],
    );
}

/// The page of `$bucket`.
#[test]
fn bucket_groups_by_ranges() {
    let artist =
        |id: i32, name: &str, born: Bson| doc! { "_id": id, "last_name": name, "year_born": born };
    let artists = [
        artist(1, "Bernard", 1868.into()),
        artist(2, "Rippl-Ronai", 1861.into()),
        artist(3, "Ostroumova", 1871.into()),
        artist(4, "Van Gogh", 1853.into()),
        artist(5, "Maurer", 1880.into()),
        artist(6, "Munch", Bson::Null),
        artist(7, "Redon", 1840.5.into()),
        artist(8, "Diriks", "1855".into()),
    ];
    let boundaries = [1840, 1850, 1860, 1870, 1880].map(Bson::from).to_vec();
    let bucket =
        doc! { "groupBy": "$year_born", "boundaries": boundaries.clone(), "default": "Other" };
    let counts = |counts: &[(Bson, i32)]| {
        let counts = counts.iter();
        let document = |(id, count): &(Bson, i32)| doc! { "_id": id, "count": *count };
        counts.map(document).collect::<Vec<_>>()
    };
    check(
        doc! { "$bucket": bucket.clone() },
        &artists,
        counts(&[
            (1840.into(), 1),
            (1850.into(), 1),
            (1860.into(), 2),
            (1870.into(), 1),
            ("Other".into(), 3),
        ]),
    );
    let mut with_output = bucket;
    let output = doc! { "n": { "$sum": 1 }, "names": { "$push": "$last_name" } };
    with_output.insert("output", output);
    check(
        doc! { "$bucket": with_output },
        &artists[..2],
        vec![doc! { "_id": 1860, "n": 2, "names": ["Bernard", "Rippl-Ronai"] }],
    );
    let no_default =
        doc! { "$bucket": { "groupBy": { "$add": ["$year_born", 1] }, "boundaries": boundaries } };
    check(
        no_default.clone(),
        &artists[2..4],
        counts(&[(1850.into(), 1), (1870.into(), 1)]),
    );
    let error = super::run_in_chunks(
        super::parsed(&[no_default]),
        &super::raws(artists.to_vec()),
        3,
        &super::Collections::new(),
    );
    assert_eq!(error.expect_err("1880 is in no bucket").code(), 40_066);
}

/// The pages of `$sort`, `$skip` and `$limit`.
#[test]
fn sort_skip_and_limit_choose_documents_by_their_order() {
    let documents = numbered("a", [3, 1, 4, 1, 5, 9, 2, 6]);
    let run = |stages: &[Document]| integers(&aggregate(stages, documents.clone()), "a");
    let sort = doc! { "$sort": { "a": -1 } };
    let (skip, limit) = (
        |skip: i32| doc! { "$skip": skip },
        |limit: i64| doc! { "$limit": limit },
    );
    assert_eq!(run(std::slice::from_ref(&sort)), [9, 6, 5, 4, 3, 2, 1, 1]);
    assert_eq!(run(&[sort.clone(), skip(1), limit(2), limit(9)]), [6, 5]);
    assert_eq!(run(&[limit(3), sort.clone()]), [4, 3, 1]);
    assert_eq!(run(&[skip(9)]), [0; 0]);
    assert_eq!(run(&[skip(0), doc! { "$limit": 2.0 }]), [3, 1]);
    assert_eq!(run(&[sort, limit(3), skip(3)]), [0; 0]);
}

#[test]
fn a_sample_is_random_and_without_replacement() {
    let sample = |size: i32| {
        let documents = numbered("a", 0..50);
        integers(
            &aggregate(&[doc! { "$sample": { "size": size } }], documents),
            "a",
        )
    };
    for size in [1, 7, 50, 99] {
        let mut numbers = sample(size);
        assert_eq!(numbers.len(), size.min(50) as usize);
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), size.min(50) as usize);
    }
    assert_ne!(sample(50), (0..50).collect::<Vec<_>>());
    // Of two documents each is drawn half the time, with a deviation of 22.
    // A decimal is rounded to even.
    let decimal: bson::Decimal128 = "1.5".parse().expect("a decimal");
    let two = aggregate(
        &[doc! { "$sample": { "size": decimal } }],
        numbered("a", 0..9),
    );
    assert_eq!(two.len(), 2);
    let one = doc! { "$sample": { "size": 1 } };
    let draw = |_| {
        integers(
            &aggregate(std::slice::from_ref(&one), numbered("a", 0..2)),
            "a",
        )[0]
    };
    let times: i32 = (0..2_000).map(draw).sum();
    assert!((850..1_150).contains(&times), "{times}");
    let mut drawn = [0; 50];
    for _ in 0..1_000 {
        let numbers = sample(10);
        numbers
            .iter()
            .for_each(|number| drawn[*number as usize] += 1);
    }
    // 200 are expected, with a deviation of 13.
    assert!(
        drawn.iter().all(|times| (110..290).contains(times)),
        "{drawn:?}"
    );
}

/// The page of `$facet`.
#[test]
fn facet_runs_several_pipelines_on_the_same_documents() {
    let artwork = vec![
        doc! { "_id": 1, "price": 199.99, "tags": ["painting", "satire"] },
        doc! { "_id": 2, "price": 280, "tags": ["woodcut"] },
        doc! { "_id": 3, "tags": ["painting"] },
    ];
    let facet = doc! { "$facet": {
        "byTags": [{ "$unwind": "$tags" }, { "$sortByCount": "$tags" }],
        "byPrice": [
            { "$match": { "price": { "$exists": 1 } } },
            { "$bucket": { "groupBy": "$price", "boundaries": [0, 200, 400], "output": { "ids": { "$push": "$_id" } } } },
        ],
        "first": [{ "$limit": 1 }, { "$unset": "tags" }],
        "none": [{ "$match": { "x": 1 } }],
        "all": [],
    } };
    let expected = doc! {
        "byTags": [{ "_id": "painting", "count": 2 }, { "_id": "satire", "count": 1 }, { "_id": "woodcut", "count": 1 }],
        "byPrice": [{ "_id": 0, "ids": [1] }, { "_id": 200, "ids": [2] }],
        "first": [{ "_id": 1, "price": 199.99 }],
        "none": [],
        "all": artwork.clone(),
    };
    check(facet, &artwork, vec![expected]);
    check(
        doc! { "$facet": { "all": [] } },
        &[],
        vec![doc! { "all": [] }],
    );
}
