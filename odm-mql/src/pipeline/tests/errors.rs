//! Arguments that a stage refuses, with the codes of MongoDB.

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::{Collections, Pipeline, PipelineStep, code, parse, parsed, raws, run_in_chunks};
use crate::{Error, Variables};

#[test]
fn a_stage_that_does_not_exist_is_refused_by_its_name() {
    let stage = |name: &str| parse(&[doc! { name: {} }]).expect_err("no stage");
    assert_eq!(stage("$unknown"), Error::UnknownStage("$unknown".into()));
    assert_eq!(
        stage("match").to_string(),
        "unrecognized pipeline stage name: `match`"
    );
    for (name, _) in crate::pipeline::parse::UNSUPPORTED {
        let error = stage(name);
        let is_named = matches!(&error, Error::NotSupported { operator, .. } if operator == name);
        assert!(is_named && error.code() == 40_324, "{error}");
    }
}

#[test]
fn a_pipeline_has_stages_of_one_field_and_not_too_many() {
    assert_eq!(code(&[doc! {}]), 40_323);
    assert_eq!(code(&[doc! { "$skip": 1, "$limit": 1 }]), 40_323);
    let many = vec![doc! { "$skip": 1 }; 1_001];
    assert!(parse(&many[1..]).is_ok());
    assert_eq!(code(&many), 7_749_501);
}

#[test]
fn the_codes_of_errors_are_those_of_mongodb() {
    let cases = [
        ("$match", Bson::from(1), 15_959),
        ("$match", doc! { "a": { "$unknown": 1 } }.into(), 2),
        ("$sort", 1.into(), 15_973),
        ("$sort", doc! {}.into(), 15_976),
        ("$sort", doc! { "a": "x" }.into(), 15_974),
        ("$sort", doc! { "a": 2 }.into(), 15_975),
        ("$sort", doc! { "$natural": 1 }.into(), 16_410),
        (
            "$sort",
            doc! { "a": { "$meta": "textScore" } }.into(),
            40_218,
        ),
        ("$skip", "x".into(), 5_107_200),
        ("$skip", (-1).into(), 5_107_200),
        ("$skip", 1.5.into(), 5_107_200),
        ("$limit", Bson::Boolean(true), 5_107_201),
        ("$limit", (-1).into(), 5_107_201),
        ("$limit", 1e300.into(), 5_107_201),
        ("$limit", 0.into(), 15_958),
        ("$sample", 5.into(), 28_745),
        ("$sample", doc! { "size": "x" }.into(), 28_746),
        ("$sample", doc! { "size": -1 }.into(), 28_747),
        ("$sample", doc! { "size": 0.9 }.into(), 28_747),
        ("$sample", doc! { "size": f64::NAN }.into(), 28_747),
        ("$sample", doc! { "size": -1e300 }.into(), 28_747),
        ("$sample", doc! { "size": 1, "x": 1 }.into(), 28_748),
        ("$sample", doc! {}.into(), 28_749),
        ("$project", "a".into(), 15_969),
        ("$project", doc! {}.into(), 51_272),
        ("$project", doc! { "a.$": 1 }.into(), 31_324),
        ("$set", "a".into(), 40_272),
        ("$addFields", Bson::Null, 40_272),
        ("$set", doc! { "a": 1, "a.b": 2 }.into(), 40_176),
        ("$unset", 1.into(), 31_002),
        ("$unset", Bson::Array(vec![]), 31_119),
        ("$unset", vec![Bson::from("a"), 1.into()].into(), 31_120),
        ("$unset", "".into(), 40_352),
        ("$unset", vec!["$a", "a\0"].into(), 9_527_900),
        ("$unwind", "$a\0".into(), 16_411),
        ("$unset", "$a".into(), 16_410),
        ("$unset", vec!["a", "a.b"].into(), 31_249),
        ("$replaceRoot", "$a".into(), 40_229),
        ("$replaceRoot", doc! {}.into(), 40_414),
        (
            "$replaceRoot",
            doc! { "newRoot": "$a", "x": 1 }.into(),
            40_415,
        ),
        ("$replaceWith", "$$unknown".into(), 17_276),
        ("$unwind", 1.into(), 15_981),
        ("$unwind", "a".into(), 28_818),
        ("$unwind", "".into(), 28_818),
        ("$unwind", "$".into(), 40_352),
        ("$unwind", "$$a".into(), 16_410),
        ("$unwind", doc! {}.into(), 28_812),
        ("$unwind", doc! { "path": 1 }.into(), 28_808),
        (
            "$unwind",
            doc! { "path": "$a", "preserveNullAndEmptyArrays": 1 }.into(),
            28_809,
        ),
        (
            "$unwind",
            doc! { "path": "$a", "includeArrayIndex": "" }.into(),
            28_810,
        ),
        (
            "$unwind",
            doc! { "path": "$a", "includeArrayIndex": "$x" }.into(),
            28_822,
        ),
        (
            "$unwind",
            doc! { "path": "$a", "includeArrayIndex": "x..y" }.into(),
            15_998,
        ),
        ("$unwind", doc! { "path": "$a", "x": 1 }.into(), 28_811),
        ("$group", 1.into(), 15_947),
        ("$group", doc! {}.into(), 15_955),
        ("$group", doc! { "_id": { "a": 1 } }.into(), 17_390),
        (
            "$group",
            doc! { "_id": { "a": "$a", "b": true } }.into(),
            17_390,
        ),
        ("$group", doc! { "_id": { "a.b": "$a" } }.into(), 16_412),
        ("$group", doc! { "_id": 1, "a": 1 }.into(), 40_234),
        (
            "$group",
            doc! { "_id": 1, "a.b": { "$sum": 1 } }.into(),
            40_235,
        ),
        (
            "$group",
            doc! { "_id": 1, "$a": { "$sum": 1 } }.into(),
            40_236,
        ),
        (
            "$group",
            doc! { "_id": 1, "a": { "$sum": [1] } }.into(),
            40_237,
        ),
        ("$group", doc! { "_id": 1, "a": {} }.into(), 40_238),
        (
            "$group",
            doc! { "_id": 1, "a": { "$sum": 1, "$avg": 1 } }.into(),
            40_238,
        ),
        (
            "$group",
            doc! { "_id": 1, "a": { "$unknown": 1 } }.into(),
            15_952,
        ),
        (
            "$group",
            doc! { "_id": 1, "a": { "$accumulator": {} } }.into(),
            15_952,
        ),
        ("$group", doc! { "_id": 1, "a": { "$count": 1 } }.into(), 14),
        ("$count", 1.into(), 40_156),
        ("$count", "".into(), 40_157),
        ("$count", "$a".into(), 40_158),
        ("$count", "a\0".into(), 40_159),
        ("$count", "a.b".into(), 40_160),
        ("$count", "_id".into(), 15_948),
        ("$sortByCount", doc! { "a": 1 }.into(), 40_147),
        ("$sortByCount", "a".into(), 40_148),
        ("$sortByCount", 1.into(), 40_149),
        ("$facet", 1.into(), 40_169),
        ("$facet", doc! {}.into(), 40_169),
        ("$facet", doc! { "a": 1 }.into(), 40_170),
        ("$facet", doc! { "a": [1] }.into(), 40_171),
        ("$facet", doc! { "": [] }.into(), 15_998),
        ("$facet", doc! { "$a": [] }.into(), 16_410),
        ("$facet", doc! { "a\0": [] }.into(), 16_411),
        ("$facet", doc! { "a.b": [] }.into(), 16_412),
        (
            "$facet",
            doc! { "a": [{ "$facet": { "b": [] } }] }.into(),
            40_600,
        ),
        ("$facet", doc! { "a": [{ "$out": "x" }] }.into(), 40_324),
    ];
    for (stage, argument, expected) in cases {
        let stage = doc! { stage: argument };
        assert_eq!(code(std::slice::from_ref(&stage)), expected, "{stage}");
    }
}

#[test]
fn the_codes_of_errors_in_buckets_are_those_of_mongodb() {
    assert_eq!(code(&[doc! { "$bucket": 1 }]), 40_201);
    for (change, expected) in [
        (doc! { "groupBy": 1 }, 40_202),
        (doc! { "groupBy": "a" }, 40_202),
        (doc! { "groupBy": { "a": 1 } }, 40_202),
        (doc! { "boundaries": 1 }, 40_200),
        (doc! { "boundaries": [1, "$a"] }, 40_191),
        (doc! { "boundaries": [1, "$$ROOT"] }, 40_191),
        (doc! { "boundaries": [1] }, 40_192),
        (doc! { "boundaries": [1, "a"] }, 40_193),
        (doc! { "boundaries": [1, 1.0] }, 40_194),
        (doc! { "boundaries": [1, 3, 2] }, 40_194),
        (doc! { "default": "$a" }, 40_195),
        (doc! { "default": 0 }, 40_199),
        (doc! { "default": 5.5 }, 40_199),
        (doc! { "output": 1 }, 40_196),
        (doc! { "output": { "a": 1 } }, 40_234),
        (doc! { "x": 1 }, 40_197),
        (doc! { "groupBy": null }, 40_202),
    ] {
        let mut bucket = doc! { "groupBy": "$a", "boundaries": [0, { "$add": [4, 6] }] };
        bucket.extend(change.clone());
        assert_eq!(code(&[doc! { "$bucket": bucket }]), expected, "{change}");
    }
    for missing in ["groupBy", "boundaries"] {
        let mut bucket = doc! { "groupBy": "$a", "boundaries": [0, 1] };
        bucket.remove(missing);
        assert_eq!(code(&[doc! { "$bucket": bucket }]), 40_198);
    }
    for default in [Bson::from(-1), 10.into(), "a".into(), Bson::Null] {
        let bucket = doc! { "groupBy": "$a", "boundaries": [0, 10], "default": default };
        assert!(parse(&[doc! { "$bucket": bucket }]).is_ok());
    }
}

#[test]
fn the_codes_of_errors_in_lookups_are_those_of_mongodb() {
    let equal = doc! { "from": "b", "localField": "x", "foreignField": "y", "as": "z" };
    let with = |change: Document| {
        let mut lookup = equal.clone();
        for (name, value) in change {
            match value {
                Bson::Undefined => drop(lookup.remove(name)),
                value => drop(lookup.insert(name, value)),
            }
        }
        doc! { "$lookup": lookup }
    };
    let none = Bson::Undefined;
    for (change, expected) in [
        (doc! { "from": 1 }, 9),
        (doc! { "from": &none }, 9),
        (doc! { "as": &none }, 9),
        (doc! { "as": "" }, 9),
        (doc! { "as": "a..b" }, 15_998),
        (doc! { "localField": &none }, 9),
        (doc! { "localField": "x\0" }, 16_411),
        (doc! { "as": "z\0" }, 16_411),
        (doc! { "localField": null }, 9),
        (doc! { "as": null }, 9),
        (doc! { "from": null }, 9),
        (doc! { "foreignField": 1 }, 14),
        (doc! { "localField": ["x"] }, 14),
        (doc! { "as": {} }, 14),
        (doc! { "localField": "$x" }, 16_410),
        (doc! { "x": 1 }, 9),
        (doc! { "let": {} }, 9),
        (doc! { "let": 1, "pipeline": [] }, 14),
        (doc! { "pipeline": 1 }, 14),
        (doc! { "pipeline": [1] }, 14),
        (doc! { "pipeline": [{ "$merge": {} }] }, 40_324),
        (doc! { "pipeline": [], "let": { "X": 1 } }, 9),
        (doc! { "pipeline": [], "let": { "x": "$$y" } }, 17_276),
        (
            doc! { "pipeline": [{ "$set": { "a": "$$y" } }], "let": { "x": 1 } },
            17_276,
        ),
        (doc! { "localField": &none, "foreignField": &none }, 9),
    ] {
        assert_eq!(code(&[with(change.clone())]), expected, "{change}");
    }
    // Null is no argument.
    assert!(parse(&[with(doc! { "let": null, "pipeline": null })]).is_ok());
    assert_eq!(code(&[doc! { "$lookup": 1 }]), 9);
    let facet = with(doc! { "pipeline": [{ "$facet": { "a": [] } }] });
    assert!(parse(std::slice::from_ref(&facet)).is_ok());
    let error = parse(&[doc! { "$facet": { "a": [facet] } }]).expect_err("a facet in a facet");
    assert_eq!(
        (error.code(), error.to_string().contains("$lookup")),
        (40_600, true)
    );
}

#[test]
fn pipelines_in_each_other_are_limited() {
    let nested = |levels: usize, bound: bool| {
        let mut lookup = doc! { "$skip": 1 };
        for _ in 0..levels {
            let mut inner = doc! { "from": "a", "pipeline": [lookup], "as": "b" };
            if bound {
                inner.insert("let", doc! { "x": "$x" });
            }
            lookup = doc! { "$lookup": inner };
        }
        lookup
    };
    let union = |levels: usize| {
        let nest = |inner, _| doc! { "$unionWith": { "coll": "a", "pipeline": [inner] } };
        (0..levels).fold(doc! { "$skip": 1 }, nest)
    };
    assert!(parse(&[union(20)]).is_ok());
    assert_eq!(code(&[union(21)]), 232);
    for bound in [false, true] {
        assert!(parse(&[nested(20, bound)]).is_ok());
        assert_eq!(code(&[nested(21, bound)]), 232);
    }
    let deep = (0..400).fold(Bson::from(1), |inner, _| doc! { "a": inner }.into());
    for name in [
        "$match",
        "$set",
        "$project",
        "$group",
        "$lookup",
        "$unionWith",
        "$facet",
        "$replaceWith",
    ] {
        assert_eq!(
            parse(&[doc! { name: deep.clone() }]),
            Err(Error::TooDeep(180)),
            "{name}"
        );
    }
}

fn fails(stages: &[Document], documents: Vec<Document>) -> Error {
    let results = run_in_chunks(parsed(stages), &raws(documents), 2, &Collections::new());
    results.expect_err("no documents")
}

#[test]
fn a_document_that_cannot_pass_a_stage_is_an_error() {
    for (stage, document, code) in [
        (doc! { "$replaceWith": "$a" }, doc! { "a": 1 }, 40_228),
        (
            doc! { "$replaceRoot": { "newRoot": "$a" } },
            doc! {},
            40_228,
        ),
        (
            doc! { "$group": { "_id": null, "a": { "$mergeObjects": "$a" } } },
            doc! { "a": 1 },
            40_400,
        ),
        (
            doc! { "$set": { "b": { "$divide": [1, "$a"] } } },
            doc! { "a": 0 },
            2,
        ),
    ] {
        assert_eq!(
            fails(std::slice::from_ref(&stage), vec![document]).code(),
            code,
            "{stage}"
        );
    }
}

#[test]
fn a_document_that_is_too_large_leaves_no_pipeline() {
    let text = "x".repeat(6 << 20);
    let document = doc! { "a": text };
    let grown = doc! { "$set": { "b": ["$a", "$a"] } };
    let error = fails(std::slice::from_ref(&grown), vec![document.clone()]);
    let limit = (16 << 20) + (16 << 10);
    assert_eq!(error, Error::TooLarge { limit });
    assert_eq!(
        (error.code(), &*error.code_name()),
        (10_334, "BSONObjectTooLarge")
    );
    // A caller who divides it takes it.
    let pipeline = parse(std::slice::from_ref(&grown)).unwrap();
    let mut run = pipeline.begin(Pipeline::MEMORY_LIMIT);
    run.push(vec![RawDocumentBuf::try_from(&document).unwrap()]);
    assert!(matches!(
        run.step_of_any_size(),
        Ok(PipelineStep::Documents(_))
    ));
    // Between two stages it is allowed.
    let small = [grown, doc! { "$unset": "b" }];
    let results = run_in_chunks(
        parsed(&small),
        &raws(vec![document.clone()]),
        1,
        &Collections::new(),
    );
    assert_eq!(results, Ok(raws(vec![document.clone()])));
    let huge = [
        doc! { "$set": { "b": vec!["$a"; 11] } },
        doc! { "$unset": "b" },
    ];
    assert_eq!(fails(&huge, vec![document]).code(), 10_334);
}

#[test]
fn a_document_that_is_nested_too_deeply_is_an_error() {
    let wrap = |times: usize| vec![doc! { "$replaceWith": { "a": "$$ROOT" } }; times];
    let text = "x".repeat(2_000);
    let document = || doc! { "b": text.as_str() };
    assert!(
        run_in_chunks(
            parsed(&wrap(199)),
            &raws(vec![document()]),
            1,
            &Collections::new()
        )
        .is_ok()
    );
    assert_eq!(
        fails(&wrap(200), vec![document()]),
        Error::ResultTooDeep(200)
    );
    assert_eq!(
        fails(&wrap(1_000), vec![doc! {}]),
        Error::ResultTooDeep(200)
    );
    assert_eq!(Error::ResultTooDeep(200).code(), 15);
    let arrays = vec![doc! { "$set": { "a": ["$a"] } }; 999];
    assert_eq!(fails(&arrays, vec![doc! {}]), Error::ResultTooDeep(200));
}

#[test]
fn a_stage_that_needs_too_much_memory_is_an_error() {
    let documents = |count: i32| {
        (0..count)
            .map(|a| doc! { "a": a, "text": "x".repeat(1_000) })
            .collect()
    };
    let run = |stages: &[Document], count: i32| {
        let mut run = parsed(stages).begin(100_000);
        run.push(raws(documents(count)));
        run.end();
        loop {
            match run.step() {
                Ok(PipelineStep::Done) => return None,
                Ok(_) => {}
                Err(error) => return Some(error),
            }
        }
    };
    for (stage, name, code) in [
        (doc! { "$sort": { "a": 1 } }, "$sort", 292),
        (doc! { "$sample": { "size": 999 } }, "$sample", 292),
        (
            doc! { "$group": { "_id": "$text", "a": { "$push": "$text" } } },
            "$group",
            292,
        ),
        (doc! { "$group": { "_id": ["$a", "$text"] } }, "$group", 292),
        (
            doc! { "$group": { "_id": 1, "a": { "$addToSet": { "a": "$a", "text": "$text" } } } },
            "$group",
            292,
        ),
        (doc! { "$facet": { "a": [] } }, "$facet", 4_031_700),
    ] {
        assert_eq!(run(std::slice::from_ref(&stage), 20), None, "{stage}");
        let error = run(std::slice::from_ref(&stage), 200).expect("too much memory");
        let expected = Error::MemoryLimit {
            stage: name,
            limit: 100_000,
            code,
        };
        assert_eq!(error, expected, "{stage}");
    }
    assert_eq!(
        &*crate::code_name(292),
        "QueryExceededMemoryLimitNoDiskUseAllowed"
    );
    // These hold little of many documents.
    for stages in [
        vec![
            doc! { "$sort": { "a": -1 } },
            doc! { "$skip": 3 },
            doc! { "$limit": 40 },
        ],
        vec![doc! { "$sample": { "size": 40 } }],
        vec![
            doc! { "$group": { "_id": "$text", "a": { "$sum": "$a" }, "b": { "$last": "$text" } } },
        ],
        vec![doc! { "$group": { "_id": "$text", "a": { "$mergeObjects": "$$ROOT" } } }],
        vec![doc! { "$group": { "_id": 1, "a": { "$addToSet": "$text" } } }],
        vec![
            doc! { "$match": { "a": { "$gte": 0 } } },
            doc! { "$count": "n" },
        ],
    ] {
        assert_eq!(run(&stages, 1_000), None, "{stages:?}");
    }
}

#[test]
fn a_pipeline_of_any_request_is_parsed_with_the_variables_it_names() {
    let stages = [doc! { "$match": { "$expr": "$$x" } }];
    assert!(
        Pipeline::parse(
            &stages,
            &Variables::parse(&doc! { "x": true }).expect("variables")
        )
        .is_ok()
    );
    assert_eq!(code(&stages), 17_276);
}
