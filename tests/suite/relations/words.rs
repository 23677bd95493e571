//! `words` and `fold_case` in a computed field: the words of own and copied fields, which a search asks for.

use std::future::IntoFuture;

use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[computed(fold_case(&name))]
    #[index(unique)]
    name_folded: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    note: Option<String>,
    #[reference(parent)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.name")]
    maker_name: String,
    #[computed(words(&format!("{name} {maker_name} {}", note.unwrap_or("".to_owned()))))]
    #[index]
    words: Vec<String>,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    makers: Repository<Maker>,
    products: Repository<Product>,
}

fn maker(id: i64, name: &str) -> Maker {
    Maker { id, name: name.to_owned(), name_folded: String::new() }
}

fn product(id: i64, name: &str) -> Product {
    Product {
        id,
        name: name.to_owned(),
        note: None,
        maker: Ref::new(1),
        maker_name: String::new(),
        words: vec!["sent".to_owned()],
    }
}

async fn shop(store: impl TestStore) -> Shop {
    let db = Shop::open(store).await.unwrap();
    db.makers.insert(maker(1, "ÖBB Werke")).await.unwrap();
    let names = ["Red widget", "red bolt", "Blue widgets, REDDISH"];
    db.products.insert_many((1..).zip(names).map(|(id, name)| product(id, name))).await.unwrap();
    db
}

async fn found(db: &Shop, search: &str) -> Vec<i64> {
    let query = db.products.find(Product::fields().words.matches(search));
    query
        .sort(Product::fields().id.asc())
        .await
        .unwrap()
        .into_iter()
        .map(|product| product.id)
        .collect()
}

on_every_store! {
    async fn a_search_finds_documents_with_all_its_words_in_any_case(store: AnyStore) {
        let db = shop(store).await;
        assert_eq!(found(&db, "RED").await, [1, 2]);
        assert_eq!(found(&db, "red widg*").await, [1]);
        assert_eq!(found(&db, "widg* red*").await, [1, 3]);
        assert_eq!(found(&db, "widg").await, [0; 0]);
        assert_eq!(found(&db, " öbb, blue!").await, [3]);
        // Signs are no words, and ask for nothing.
        assert_eq!(found(&db, ".* (").await, [1, 2, 3]);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn the_words_follow_own_and_copied_fields(store: AnyStore) {
        let db = shop(store).await;
        let fields = Product::fields();
        db.products.update(2).set(fields.note, Some("can't rust".to_owned())).await.unwrap();
        assert_eq!(db.products.get(2).await.unwrap().words, ["bolt", "can't", "red", "rust", "werke", "öbb"]);
        db.makers.update(1).set(Maker::fields().name, "Acme".to_owned()).await.unwrap();
        assert_eq!(found(&db, "acme").await, [1, 2, 3]);
        assert_eq!(found(&db, "öbb").await, [0; 0]);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_folded_text_under_a_unique_index_is_unique_in_any_case(store: AnyStore) {
        let db = shop(store).await;
        let error = db.makers.insert(maker(2, "öbb WERKE")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey, "{error}");
        db.makers.update(1).set(Maker::fields().name, "Öbb".to_owned()).await.unwrap();
        db.makers.insert(maker(2, "öbb WERKE")).await.unwrap();
        let folded = Maker::fields().name_folded.eq(odm::fold_case("ÖBB"));
        assert_eq!(db.makers.find(folded).one().await.unwrap().id, 1);
    }

    async fn a_request_searches_words_by_pages(store: AnyStore) {
        let db = shop(store).await;
        let filter = Product::filter_from_query([("words[matches]", "red* widg*")]).unwrap();
        let page = db.products.find(filter.clone()).sort(Product::fields().id.desc()).page(1).await.unwrap();
        assert_eq!(page.items.iter().map(|product| product.id).collect::<Vec<_>>(), [3]);
        let next = db.products.find(filter).sort(Product::fields().id.desc()).after(&page.next.unwrap()).page(1).await.unwrap();
        assert_eq!(next.items.iter().map(|product| product.id).collect::<Vec<_>>(), [1]);
        let none = Product::filter_from_query([("words[matches]", "")]).unwrap();
        assert_eq!(db.products.find(none).count().await.unwrap(), 3);
        for (pair, wanted) in [
            (("name[matches]", "red"), "`name` is no list of words, and so has no `matches`"),
            (("words[like]", "red"), "use `eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `exists`, `matches`"),
        ] {
            let error = Product::filter_from_query([pair]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
            assert!(error.to_string().contains(wanted), "{error}");
        }
        let many = "a ".repeat(1_001);
        let error = Product::filter_from_query([("words[matches]", &*many)]).unwrap_err();
        assert!(error.to_string().contains("has 1001 words, and at most 1000 are allowed"), "{error}");
    }

    async fn a_search_reads_the_index_of_the_words(store: AnyStore) {
        let db = Shop::open(store).await.unwrap();
        db.makers.insert(maker(1, "maker")).await.unwrap();
        let products = (0..500).map(|id| product(id, &format!("part number{id}")));
        db.products.insert_many(products).await.unwrap();
        for search in ["number7", "part number7", "number49*"] {
            let query = db.products.find(Product::fields().words.matches(search));
            let (result, cost) = odm::measure(query.count().into_future()).await;
            assert!([1, 11].contains(&result.unwrap()), "{search}");
            // A store of maps has no indexes.
            let is_indexed = cost.documents_scanned == 0;
            assert!(!is_indexed || cost.documents_examined <= 11, "{search}: {cost:?}");
        }
    }

    async fn a_document_has_ten_thousand_words(store: AnyStore) {
        let db = shop(store).await;
        let text: String = (0..10_000).map(|at| format!("word{at} ")).collect();
        db.products.insert(product(9, &text)).await.unwrap();
        assert_eq!(found(&db, "WORD9999 werke").await, [9]);
        db.products.update(9).set(Product::fields().name, "short".to_owned()).await.unwrap();
        assert_eq!(db.products.get(9).await.unwrap().words, ["short", "werke", "öbb"]);
        assert_eq!(found(&db, "word9999").await, [0; 0]);
    }
}
