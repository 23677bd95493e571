//! Derived fields that are derived of derived fields, of any kind.

use odm::derive::{ChildrenShape, CopyShape, DerivedShape, SubsetShape, Via};

use super::*;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "writers")]
struct Writer {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[count(of = "Book")]
    books: i64,
    /// Sorted by a count and by a copy, and shows both.
    #[subset(limit = 3, sort = "-sales, shop_name")]
    best: Subset<BestBook>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    writer: Ref<Writer>,
    #[reference(parent)]
    shop: Option<Ref<Shop>>,
    #[count(of = "Sale")]
    sales: u32,
    #[denormalize(from = "Shop.name")]
    shop_name: Option<String>,
    /// A copy of a count.
    #[denormalize(from = "Writer.books")]
    written: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Book")]
struct BestBook {
    sales: u32,
    shop_name: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "sales")]
struct Sale {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    book: Ref<Book>,
    /// A copy of a copy of a count.
    #[denormalize(from = "Book.written")]
    written: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "shops_of_books")]
struct Shop {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[reference(child)]
    favourite: Option<Ref<Writer>>,
    #[reference(child)]
    next: Ref<Writer>,
    /// Copies of the array of a subset.
    #[denormalize(from = "Writer.best", via = "favourite")]
    best: Option<Subset<BestBook>>,
    #[denormalize(from = "Writer.best", via = "next")]
    next_best: Subset<BestBook>,
}

#[derive(Database)]
#[database(name = "chains", version = 1)]
struct Chains {
    writers: Repository<Writer>,
    books: Repository<Book>,
    sales: Repository<Sale>,
    shops: Repository<Shop>,
}

fn kind(shape: &odm::model::Shape, name: &str) -> FieldKind {
    let mut fields = shape.fields.iter();
    fields.find(|field| field.name == name).unwrap().kind
}

#[test]
fn counts_and_subsets_can_be_copied() {
    let copied = |kind| match kind {
        FieldKind::Derived(DerivedShape::Copy(CopyShape {
            source,
            path,
            via: Via::Beside(reference),
            optional,
            ..
        })) => (source, path, reference, optional),
        _ => panic!("not a copy"),
    };
    let shop = Shop::model();
    let shape = (shop.shape)();
    assert_eq!(
        copied(kind(shape, "best")),
        ("writers", "best", "favourite", true)
    );
    assert_eq!(
        copied(kind(shape, "next_best")),
        ("writers", "best", "next", false)
    );
    let shape = (Book::model().shape)();
    assert_eq!(
        copied(kind(shape, "written")),
        ("writers", "books", "writer", false)
    );
    assert!(matches!(
        kind(shape, "sales"),
        FieldKind::Derived(DerivedShape::Count(ChildrenShape { via: "book", .. }))
    ));
}

#[test]
fn subsets_can_be_sorted_by_counts_and_copies() {
    let FieldKind::Derived(DerivedShape::Subset(SubsetShape { sort, .. })) =
        kind((Writer::model().shape)(), "best")
    else {
        panic!("not a subset");
    };
    let paths: Vec<_> = sort.iter().map(|(path, _)| *path).collect();
    assert_eq!(paths, ["sales", "shop_name"]);
    let models = <Chains as odm::derive::Database>::models();
    assert_eq!(models.len(), 4);
}
