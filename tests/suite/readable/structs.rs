//! Structs of all types, with serde's attributes for structs.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::IpAddr,
    num::NonZeroU8,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use odm::{bson, prelude::*};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::readable::values::{any_struct, model};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "scalars")]
pub(crate) struct Scalars {
    #[serde(rename = "_id")]
    id: i64,
    a: bool,
    b: i8,
    c: i16,
    d: i32,
    e: i64,
    f: u8,
    g: u16,
    h: u32,
    i: u64,
    j: f32,
    k: f64,
    l: char,
    m: String,
    n: (),
}
model!(
    Scalars: a b c d e f g h i j k l m n;
    set a b c d e f g h i j k l m n;
    eq a b c d e f g h i j k l m
);

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "others")]
pub(crate) struct Others {
    #[serde(rename = "_id")]
    id: i64,
    object_id: ObjectId,
    date: DateTime,
    decimal: bson::Decimal128,
    uuid: bson::Uuid,
    binary: bson::Binary,
    timestamp: bson::Timestamp,
    #[serde(with = "odm::native")]
    ip: IpAddr,
    non_zero: NonZeroU8,
    path: PathBuf,
    duration: Duration,
    time: SystemTime,
    tuple: (i32, String),
    array: [u8; 3],
}
model!(
    Others: object_id date decimal uuid binary timestamp ip non_zero path duration time tuple array;
    set object_id date decimal uuid binary timestamp ip non_zero path duration time tuple array;
    eq object_id date decimal uuid
);

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "containers")]
pub(crate) struct Containers {
    #[serde(rename = "_id")]
    id: i64,
    option: Option<i32>,
    options: Option<Option<i32>>,
    boxed: Box<Option<String>>,
    list: Vec<String>,
    optional_list: Option<Vec<f64>>,
    list_of_options: Vec<Option<u64>>,
    lists: Vec<Vec<i8>>,
    deque: VecDeque<DateTime>,
    set: BTreeSet<String>,
    map: BTreeMap<String, i64>,
    map_of_maps: BTreeMap<String, BTreeMap<String, Vec<bool>>>,
}
model!(
    Containers: option options boxed list optional_list list_of_options lists deque set map map_of_maps;
    set option options boxed list optional_list list_of_options lists deque set map map_of_maps;
    eq option;
    // Both are stored as null.
    read |value| value.options = value.options.filter(Option::is_some)
);

/// Has all kinds of names.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "named")]
#[serde(rename_all = "SCREAMING-KEBAB-CASE", expecting = "a named document")]
pub(crate) struct Named {
    #[serde(rename = "_id")]
    id: i64,
    first_name: String,
    #[serde(rename(serialize = "last name", deserialize = "last name"))]
    last_name: String,
    r#type: i32,
    #[serde(rename = "ß")]
    letter: char,
    #[serde(skip)]
    skipped: i32,
}
model!(
    Named: first_name last_name r#type letter skipped;
    set first_name last_name r#type letter;
    eq first_name last_name r#type letter;
    read |value| value.skipped = 0
);

fn seven() -> i32 {
    7
}

fn is_seven(number: &i32) -> bool {
    *number == 7
}

/// Leaves out fields with a default.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "defaults")]
pub(crate) struct Defaults {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(default)]
    plain: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    list: Vec<i32>,
    #[serde(default = "seven", skip_serializing_if = "is_seven")]
    number: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    other: Option<String>,
    #[embed]
    inner: Inner,
    #[embed]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inners: Vec<Inner>,
}
model!(
    Defaults: plain list number option other inner inners;
    set plain list number option other inner inners;
    eq plain option other
);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embed)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Inner {
    the_number: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    the_text: String,
}
any_struct!(Inner { the_number, the_text });

mod text {
    use super::*;

    pub(super) fn serialize<S: Serializer>(number: &Option<i32>, s: S) -> Result<S::Ok, S::Error> {
        number.map(|number| number.to_string()).serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<i32>, D::Error> {
        let text = Option::<String>::deserialize(d)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

fn negate<S: Serializer>(flag: &bool, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_bool(!flag)
}

fn negated<'de, D: Deserializer<'de>>(d: D) -> Result<bool, D::Error> {
    bool::deserialize(d).map(|flag| !flag)
}

/// Is stored by functions of its own.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "converted")]
pub(crate) struct Converted {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(with = "text")]
    text: Option<i32>,
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    left_out: Option<i32>,
    #[serde(serialize_with = "negate", deserialize_with = "negated")]
    flag: bool,
    after: i32,
}
model!(Converted: text left_out flag after; set after; eq after);

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub(crate) struct Size {
    width: f32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<u32>,
    #[embed]
    #[serde(flatten)]
    unit: Unit,
}
any_struct!(Size { width, marks, unit });

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(tag = "unit")]
pub(crate) struct Unit {
    factor: f64,
    made: DateTime,
    id: ObjectId,
}
any_struct!(Unit { factor, made, id });

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub(crate) struct Weight {
    weight: u64,
    heavy: Option<bool>,
}
any_struct!(Weight { weight, heavy });

/// Has the fields of other structs in its place.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "flat")]
pub(crate) struct Flat {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    decimal: bson::Decimal128,
    #[embed]
    #[serde(flatten)]
    size: Size,
    #[embed]
    #[serde(flatten)]
    weight: Option<Weight>,
}
model!(Flat: name decimal size weight; set name decimal; eq name decimal);

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(transparent)]
pub(crate) struct Through {
    #[embed]
    size: Size,
}
any_struct!(Through { size });

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub(crate) struct Tree {
    label: String,
    #[embed]
    left: Option<Box<Tree>>,
}

impl crate::readable::values::Any for Tree {
    fn any(rng: &mut crate::readable::values::Rng) -> Self {
        let left = (rng.below(3) == 0).then(|| Box::new(Tree::any(rng)));
        Tree { label: String::any(rng), left }
    }
}

/// Embeds values, alone and in all containers.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "embedding")]
pub(crate) struct Embedding {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    through: Through,
    #[embed]
    tree: Tree,
    #[embed]
    list: Vec<Inner>,
    #[embed]
    map: BTreeMap<String, Size>,
    #[embed]
    option: Option<Inner>,
    #[opaque]
    document: bson::Document,
}
model!(
    Embedding: through tree list map option document;
    set through tree list map option document;
    eq option;
    modified |value| value.document = value.document.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
);

impl crate::readable::values::Any for bson::Document {
    fn any(rng: &mut crate::readable::values::Rng) -> Self {
        let fields = BTreeMap::<String, i64>::any(rng);
        fields.into_iter().map(|(name, value)| (name, value.into())).collect()
    }

    fn is_storable(&self) -> bool {
        !self.keys().any(|name| name.contains('\0'))
    }
}
