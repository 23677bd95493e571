//! Computed fields beside Rust: random expressions, compiled as one program, have the values in random documents that Rust computes.

mod generator;

use std::{
    collections::BTreeMap,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use fastrand::Rng;
use odm::{
    bson::{self, Bson},
    derive::{DerivedShape, FieldKind, Structure as _},
    prelude::*,
};
use odm_mql::formula::Formula;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Inner {
    count: i64,
    price: f64,
    label: String,
    extra: Option<i64>,
}

/// The text is generated, and the way in which it is written no matter.
#[allow(arithmetic_overflow, clippy::all, unconditional_panic, unused)]
mod generated {
    use super::{Inner, bson, greatest, least};
    use odm::{bson::Bson, prelude::*};
    use serde::{Deserialize, Serialize};

    include!("formulas/generated.inc");
}

use generated::{Formulas, NATIVE};

const DOCUMENTS: usize = 350;

/// The value as it is stored.
fn bson(value: impl Serialize) -> Bson {
    #[derive(Serialize)]
    struct Holder<V> {
        value: V,
    }
    let holder = bson::serialize_to_raw_document_buf(&Holder { value }).unwrap();
    Bson::try_from(holder.get("value").unwrap().unwrap()).unwrap()
}

/// `f64::min`, with the negative one of two zeros.
fn least(a: f64, b: f64) -> f64 {
    if a == 0.0 && b == 0.0 { f64::from_bits(a.to_bits() | b.to_bits()) } else { a.min(b) }
}

/// `f64::max`, with the positive one of two zeros.
fn greatest(a: f64, b: f64) -> f64 {
    if a == 0.0 && b == 0.0 { f64::from_bits(a.to_bits() & b.to_bits()) } else { a.max(b) }
}

#[test]
fn the_expressions_are_those_of_the_generator() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/formulas/generated.inc");
    let text = generator::generate(NATIVE.len());
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, generator::generate(300)).unwrap();
    } else {
        assert!(
            fs::read_to_string(path).unwrap() == text,
            "the generator has changed: run this test with UPDATE=1"
        );
    }
}

fn number(rng: &mut Rng) -> i64 {
    match rng.u8(..6) {
        0 => *rng.choice(&[i64::MAX, i64::MIN, i64::MAX - 1, i64::from(i32::MAX) + 1]).unwrap(),
        1 => 0,
        _ => rng.i64(-50..50),
    }
}

fn float(rng: &mut Rng) -> f64 {
    match rng.u8(..6) {
        0 => *rng.choice(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300]).unwrap(),
        _ => f64::from(rng.i32(-400..400)) / 16.0,
    }
}

fn text(rng: &mut Rng) -> String {
    let texts = ["", "a", "B", " Straße ", "ΟΔΟΣ", "İx", "a b"];
    (*rng.choice(texts).unwrap()).to_owned()
}

fn inner(rng: &mut Rng) -> Inner {
    Inner {
        count: number(rng),
        price: float(rng),
        label: text(rng),
        extra: rng.bool().then(|| number(rng)),
    }
}

/// A document with these values, and none of the computed fields.
fn operands(rng: &mut Rng) -> bson::Document {
    let lists = rng.usize(..4);
    let dates =
        [rng.i64(-5..5), rng.i64(-5..5)].map(|second| bson::DateTime::from_millis(second * 1_000));
    bson::doc! {
        "_id": 1_i64,
        "a": number(rng),
        "b": number(rng),
        "small": *rng.choice(&[i32::MAX, i32::MIN, 0, 3, -7]).unwrap(),
        "byte": i32::from(rng.u8(..)),
        "large": number(rng).max(0),
        "x": float(rng),
        "y": float(rng),
        "flag": rng.bool(),
        "name": text(rng),
        "other": text(rng),
        "maybe": rng.bool().then(|| number(rng)),
        "ratio": rng.bool().then(|| float(rng)),
        "note": rng.bool().then(|| text(rng)),
        "from": dates[0],
        "until": dates[1],
        "numbers": (0..lists).map(|_| number(rng)).collect::<Vec<_>>(),
        "words": (0..lists).map(|_| text(rng)).collect::<Vec<_>>(),
        "inner": bson(inner(rng)),
        "lines": (0..lists).map(|_| bson(inner(rng))).collect::<Vec<_>>(),
    }
}

/// The formulas of the computed fields, with the stored names, and a value of each type.
fn formulas() -> Vec<(&'static str, Formula, Bson)> {
    let fields = Formulas::shape().fields.iter();
    let formulas = fields.filter_map(|field| match field.kind {
        FieldKind::Derived(DerivedShape::Computed(shape)) => {
            let formula = Formula::new((shape.expression)(), (shape.result)());
            let any = match format!("{:?}", formula.result) {
                ty if ty.starts_with("Optional") => Bson::Null,
                ty if ty.contains("F64") => Bson::Double(0.0),
                ty if ty.contains("I64") || ty.contains("U64") => Bson::Int64(0),
                ty if ty.contains("Number") => Bson::Int32(0),
                ty if ty == "Bool" => Bson::Boolean(false),
                ty if ty == "Date" => bson::DateTime::from_millis(0).into(),
                _ => Bson::String(String::new()),
            };
            Some((field.name, formula, any))
        }
        _ => None,
    });
    formulas.collect()
}

fn is_same(a: &Bson, b: &Bson) -> bool {
    match (a, b) {
        (Bson::Double(a), Bson::Double(b)) => {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        (a, b) => a == b,
    }
}

#[test]
fn each_expression_has_the_value_that_rust_computes() {
    let formulas = formulas();
    assert_eq!(formulas.len(), NATIVE.len());
    let mut rng = Rng::with_seed(7);
    let (mut computed, mut refused) = (0, 0);
    // Rust tells of an overflow by a panic.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut different = BTreeMap::new();
    for _ in 0..DOCUMENTS {
        let stored = operands(&mut rng);
        let raw = bson::RawDocumentBuf::try_from(&stored).unwrap();
        let mut whole = stored.clone();
        whole.extend(formulas.iter().map(|(name, _, any)| ((*name).to_owned(), any.clone())));
        let document: Formulas = bson::deserialize_from_document(whole).unwrap();
        for ((name, formula, _), native) in formulas.iter().zip(NATIVE) {
            let ours = formula.evaluate(&raw).map(|value| Bson::try_from(value).unwrap());
            let rusts = catch_unwind(AssertUnwindSafe(|| native(&document)));
            match (&ours, &rusts) {
                (Ok(ours), Ok(rusts)) if is_same(ours, rusts) => computed += 1,
                // An integer past those of BSON has no stored form.
                (Err(_), Err(_)) => refused += 1,
                _ => {
                    let rusts = rusts.as_ref().ok();
                    different
                        .entry(*name)
                        .or_insert_with(|| format!("{name}: {ours:?}, but {rusts:?} of {stored}"));
                }
            }
        }
    }
    std::panic::set_hook(hook);
    let different: Vec<String> = different.into_values().collect();
    assert!(
        different.is_empty(),
        "{} of {}:\n{}",
        different.len(),
        formulas.len(),
        different.join("\n")
    );
    assert!(computed > 50_000 && refused > 5_000, "{computed} and {refused}");
}
