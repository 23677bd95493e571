//! The setting in the stored catalog: it can change between versions, and is not a part of a field's definition.

use odm::{ErrorKind, OpenOptions, prelude::*};
use tests::{TestStore, on_every_store, stored};

/// Declares the same models, with other settings of the copy.
macro_rules! version {
    ($module:ident, $name:literal, $version:literal, $($setting:tt)*) => {
        #[allow(dead_code, reason = "not every version is written to")]
        mod $module {
            use odm::prelude::*;
            use serde::{Deserialize, Serialize};

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "makers")]
            pub(super) struct Maker {
                #[serde(rename = "_id")]
                pub(super) id: i32,
                pub(super) name: String,
            }

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "parts")]
            pub(super) struct Part {
                #[serde(rename = "_id")]
                pub(super) id: i32,
                #[reference(child)]
                pub(super) maker: Ref<Maker>,
                #[denormalize(from = "Maker.name" $($setting)*)]
                pub(super) maker_name: String,
            }

            #[derive(Debug, Database)]
            #[database(name = $name, version = $version)]
            pub(super) struct Shop {
                pub(super) makers: Repository<Maker>,
                pub(super) parts: Repository<Part>,
            }

            pub(super) async fn rename(shop: &Shop, name: &str) {
                shop.makers.update(1).set(Maker::fields().name, name).await.unwrap();
            }

            pub(super) async fn copied(shop: &Shop) -> String {
                shop.parts.get(1).await.unwrap().maker_name
            }
        }
    };
}

version!(at_once, "shop", 1,);
version!(changed, "shop", 1, , refresh = "later");
version!(deferred, "shop", 2, , refresh = "later");
version!(again_at_once, "shop", 3,);
version!(other, "other", 1, , refresh = "later");

fn by_hand() -> OpenOptions {
    OpenOptions::default().refresh_every(None)
}

async fn at_once(store: impl TestStore) -> at_once::Shop {
    let shop = at_once::Shop::open_with(store, by_hand()).await.unwrap();
    let maker = at_once::Maker { id: 1, name: "a".into() };
    shop.makers.insert(maker).await.unwrap();
    let part = at_once::Part { id: 1, maker: Ref::new(1), maker_name: String::new() };
    shop.parts.insert(part).await.unwrap();
    shop
}

on_every_store! {
    async fn a_field_that_becomes_deferred_needs_no_backfill(store: AnyStore) {
        let old = at_once(store.clone()).await;
        let options = by_hand().refuse_backfill();
        let new = deferred::Shop::open_with(store.clone(), options).await.unwrap();
        assert_eq!(new.pending_backfills(), [""; 0]);
        deferred::rename(&new, "b").await;
        assert_eq!(deferred::copied(&new).await, "a");
        // An older version goes on, and follows the new setting.
        at_once::rename(&old, "c").await;
        assert_eq!(at_once::copied(&old).await, "a");
        old.wait_for_refreshes().await.unwrap();
        assert_eq!(deferred::copied(&new).await, "c");
    }

    async fn records_are_worked_off_when_a_field_is_deferred_no_more(store: AnyStore) {
        drop(at_once(store.clone()).await);
        let shop = deferred::Shop::open_with(store.clone(), by_hand()).await.unwrap();
        deferred::rename(&shop, "b").await;
        drop(shop);
        // By the worker, which exists although no field is deferred.
        let shop = again_at_once::Shop::open(store.clone()).await.unwrap();
        shop.wait_for_refreshes().await.unwrap();
        assert_eq!(again_at_once::copied(&shop).await, "b");
        again_at_once::rename(&shop, "c").await;
        assert_eq!(again_at_once::copied(&shop).await, "c");
        assert_eq!(shop.deferred_refreshes().await.unwrap().waiting, 0);
        assert_eq!(shop.audit().await.unwrap(), []);
    }

    async fn the_setting_changes_with_the_version_only(store: AnyStore) {
        drop(at_once(store.clone()).await);
        let error = changed::Shop::open_with(store.clone(), by_hand()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`parts.maker_name`"), "{error}");
    }

    async fn a_field_is_deferred_if_all_databases_say_so(store: AnyStore) {
        let shop = at_once(store.clone()).await;
        let other = other::Shop::open_with(store.clone(), by_hand()).await.unwrap();
        other::rename(&other, "b").await;
        assert_eq!(other::copied(&other).await, "b");
        let newer = deferred::Shop::open_with(store.clone(), by_hand()).await.unwrap();
        deferred::rename(&newer, "c").await;
        assert_eq!(other::copied(&other).await, "b");
        drop(shop);
    }

    async fn what_is_not_deferred_is_stored_as_ever(store: AnyStore) {
        drop(at_once(store.clone()).await);
        let text = format!("{:?}", stored(&store, "_odm_catalog").await);
        assert!(!text.contains("deferred") && !text.contains("_odm_outbox"));
        let find = stored(&store, "_odm_outbox").await;
        assert_eq!(find.len(), 0);
    }
}
