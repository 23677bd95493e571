//! Types are recognised however they are written.

use odm::{
    derive::{ChildOf, HasSubset, parent_path},
    model::{IntoId, Link, Path, Structure as _},
    prelude::{Cold as Part2, Ref as Reference, Subset as Shown, *},
};
use serde::{Deserialize, Serialize};

type Text = String;
type MakerRef = Reference<Maker>;
type OptionalShop = Option<Reference<Shop>>;
type Shops = Vec<Reference<Shop>>;
type Newest = Shown<Brief>;
type Extra = Part2<Details>;
type MaybeText = Option<Text>;
type MaybeTag = Option<Tag>;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: Text,
    name: Text,
    #[subset(limit = 3, sort = "name")]
    newest: Newest,
    #[split(collection = "maker_details", key = "maker")]
    details: Extra,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "shops")]
struct Shop {
    #[serde(rename = "_id")]
    id: i64,
    city: Text,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Details {
    history: Text,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Tag {
    word: Text,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "items", index(fields = "label", unique))]
struct Item {
    #[serde(rename = "_id")]
    id: i64,
    name: Text,
    #[reference(parent)]
    maker: MakerRef,
    #[reference(parent, on_delete = "nullify")]
    #[serde(skip_serializing_if = "Option::is_none")]
    shop: OptionalShop,
    #[reference(child, on_delete = "pull")]
    others: Shops,
    #[denormalize(from = "Maker.name", via = "maker")]
    maker_name: Text,
    #[denormalize(from = "Shop.city", via = "shop")]
    #[serde(skip_serializing_if = "Option::is_none")]
    city: MaybeText,
    #[embed]
    #[serde(flatten)]
    tag: MaybeTag,
    label: Text,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Item")]
struct Brief {
    name: Text,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct MakerLink {
    #[reference(child)]
    id: MakerRef,
    #[denormalize(from = "Maker.name")]
    name: Text,
}

fn parent<C: ChildOf<P, K, N>, P, K, const N: usize>(_: &P) -> &'static str {
    C::PATH
}

#[test]
fn parents_are_found_behind_aliases() {
    let shop = Shop {
        id: 1,
        city: "Oslo".into(),
    };
    assert_eq!(parent::<Item, _, _, _>(&shop), "shop");
    assert_eq!(parent_path::<Item, Maker, _, _>(), "maker");
}

#[test]
fn links_are_made_of_an_alias_of_a_reference() {
    let maker = Maker {
        id: "a".into(),
        name: "A".into(),
        newest: Shown::new(),
        details: Part2::unloaded(),
    };
    let link = MakerLink::from(&maker);
    assert_eq!(
        (link.target().id().as_str(), link.name.as_str()),
        ("a", "A")
    );
    assert_eq!(<MakerLink as Link>::PATH, "id");
    assert_eq!(IntoId::<Maker>::into_id("a"), "a");
}

#[test]
fn subsets_and_cold_parts_are_known_by_their_traits() {
    fn path<P: Path, T>(_: odm::model::Field<Shown<T>, P, odm::model::Derived>) -> &'static str
    where
        Maker: HasSubset<P, T>,
    {
        P::TEXT
    }
    assert_eq!(path(Maker::fields().newest), "newest");
    assert_eq!(Maker::fields().details.history.path(), "details.history");
}

#[test]
fn a_flattened_alias_of_an_option_can_lack_its_fields() {
    assert_eq!(Item::fields().tag.word.path(), "word");
    fn optional<V, P: Path, K>(_: odm::model::Field<V, P, K>) -> bool {
        P::OPTIONAL
    }
    assert!(optional(Item::fields().tag.word));
    assert!(!optional(Item::fields().label));
}
