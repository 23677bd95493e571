//! The refreshes that a write defers, and their results.

use odm::{prelude::*, store::Durability};
use tests::{on_every_store, rounds};

use super::{
    Details, Line, Maker, Offer, Part, Seller, assert_refreshed, deferred, maker, offer, part,
    rename, shelf, shop, waiting,
};

async fn names(shop: &super::Shop) -> Vec<Option<String>> {
    let parts = shop.parts.all().await.unwrap();
    parts.into_iter().map(|part| part.maker_name).collect()
}

on_every_store! {
    async fn a_deferred_copy_follows_its_source_later(store: AnyStore) {
        let shop = shop(store).await;
        shop.makers.insert_many([maker(1, "Acme"), maker(2, "Bolt")]).await.unwrap();
        // A rival may have copied their names before.
        assert_refreshed(&shop).await;
        let sellers = vec![
            Seller { id: Ref::new(2), name: String::new() },
            Seller { id: Ref::new(1), name: String::new() },
        ];
        let details = Details { designer: Some(Ref::new(1)), designer_name: None };
        let own = Part { sellers, details: Cold::new(details), ..part(1, Some(1)) };
        // A field that is written with its holder is right at once.
        let own = shop.parts.insert(own).await.unwrap();
        assert_eq!(own.maker_name.as_deref(), Some("Acme"));
        assert_eq!(waiting(&shop).await, 0);

        rename(&shop, 1, "Acme & Sons").await;
        shop.makers.update(1).set(Maker::fields().city, "Wien".to_owned()).await.unwrap();
        let part = shop.parts.get(1).with(Part::fields().details).await.unwrap();
        assert_eq!(part.maker_name.as_deref(), Some("Acme"));
        // The other copy at the reference is refreshed at once.
        assert_eq!(part.maker_city.as_deref(), Some("Wien"));
        // Along the references of the part, of its rival, of its sellers and of its details.
        assert_eq!(waiting(&shop).await, 4);
        assert_eq!(deferred(&shop).await, 3);

        assert_refreshed(&shop).await;
        let part = shop.parts.get(1).with(Part::fields().details).await.unwrap();
        assert_eq!(part.maker_name.as_deref(), Some("Acme & Sons"));
        assert_eq!(part.sellers[0].name, "Bolt");
        assert_eq!(part.sellers[1].name, "Acme & Sons");
        let details = part.details.get().unwrap();
        assert_eq!(details.designer_name.as_deref(), Some("Acme & Sons"));
    }

    async fn a_chain_of_deferred_copies_is_followed_to_its_end(store: AnyStore) {
        let shop = shop(store).await;
        shop.makers.insert(maker(1, "Acme")).await.unwrap();
        shop.parts.insert(part(1, Some(1))).await.unwrap();
        shop.shelves.insert(shelf(1)).await.unwrap();
        shop.offers.insert(offer(1, 1, 1, 5)).await.unwrap();
        assert_refreshed(&shop).await;
        rename(&shop, 1, "Bolt").await;
        shop.wait_for_refreshes().await.unwrap();
        let offer = shop.offers.get(1).await.unwrap();
        assert_eq!(offer.maker_name.as_deref(), Some("Bolt"));
        let shelf = shop.shelves.get(1).await.unwrap();
        assert_eq!(shelf.cheapest[0].maker_name.as_deref(), Some("Bolt"));
        assert_refreshed(&shop).await;
    }

    async fn deferred_fields_follow_their_children_later(store: AnyStore) {
        let shop = shop(store).await;
        shop.parts.insert(part(1, None)).await.unwrap();
        shop.shelves.insert_many([shelf(1), shelf(2)]).await.unwrap();
        let offers = [(1, 9), (2, 7), (3, 8)].map(|(id, price)| offer(id, 1, 1, price));
        shop.offers.insert_many(offers).await.unwrap();
        let own = shop.shelves.get(1).await.unwrap();
        assert_eq!((own.offers, own.offers_now, own.cheapest.len(), own.prices.len()), (0, 3, 0, 0));
        assert_eq!(waiting(&shop).await, 3);
        assert_eq!(deferred(&shop).await, 3);
        assert_refreshed(&shop).await;
        let own = shop.shelves.get(1).await.unwrap();
        let line = |id, price| Line { id, price, maker_name: None };
        assert_eq!(*own.cheapest, [line(2, 7), line(3, 8)]);
        assert_eq!((own.offers, own.prices), (3, vec![9, 7, 8]));

        let moved = shop.offers.update(2).set(Offer::fields().shelf, 2);
        moved.await.unwrap();
        shop.offers.delete(3).await.unwrap();
        assert!(deferred(&shop).await > 0);
        assert_refreshed(&shop).await;
        assert_eq!(*shop.shelves.get(1).await.unwrap().cheapest, [line(1, 9)]);
        let other = shop.shelves.get(2).await.unwrap();
        assert_eq!((&*other.cheapest, other.offers), (&[line(2, 7)][..], 1));
    }

    async fn what_many_writes_have_left_of_one_document_is_refreshed_at_once(store: AnyStore) {
        let shop = shop(store.clone()).await;
        shop.parts.insert(part(1, None)).await.unwrap();
        shop.shelves.insert_many([shelf(1), shelf(2)]).await.unwrap();
        let fast = shop.durability(Durability::Eventual);
        let number = rounds(&store, 300) as i32;
        for id in 0..number {
            fast.offers.insert(offer(id, 1, 1, id)).await.unwrap();
        }
        assert_eq!(waiting(&shop).await, 3 * number as u64);
        let (done, cost) = odm::measure(shop.wait_for_refreshes()).await;
        done.unwrap();
        // Each refresh reads the shelf and counts its offers: two are enough.
        assert!(cost.queries <= 20, "{cost:?}");
        assert_refreshed(&shop).await;
        let own = shop.shelves.get(1).await.unwrap();
        assert_eq!((own.offers, own.offers_now, own.prices.len()), (number as i64, number as i64, number as usize));
    }

    async fn a_parent_that_is_written_as_a_whole_is_right_at_once(store: AnyStore) {
        let shop = shop(store).await;
        shop.parts.insert(part(1, None)).await.unwrap();
        shop.shelves.insert(shelf(1)).await.unwrap();
        shop.offers.insert(offer(1, 1, 1, 5)).await.unwrap();
        assert_refreshed(&shop).await;
        let stored = shop.shelves.replace(shelf(1)).await.unwrap();
        assert_eq!((stored.offers, stored.cheapest.len()), (1, 1));
        assert_eq!(deferred(&shop).await, 0);
    }

    async fn a_unit_leaves_one_record_for_each_reference_and_source(store: AnyStore) {
        let shop = shop(store).await;
        shop.makers.insert_many([maker(1, "a"), maker(2, "b")]).await.unwrap();
        assert_refreshed(&shop).await;
        let all = shop.makers.update_where(Maker::fields().id.gt(0));
        let plan = all.set(Maker::fields().name, "c").plan().await.unwrap();
        // The records do not count as documents of the user.
        assert_eq!(plan.collections.len(), 1);
        let steps = plan.steps.iter().filter(|step| step.name.starts_with("deferred refresh of"));
        assert!(steps.clone().any(|step| step.name.contains("`maker_name` of `parts`")));
        assert_eq!(steps.map(|step| step.cost.documents_written).sum::<u64>(), 8);
        let all = shop.makers.update_where(Maker::fields().id.gt(0));
        all.set(Maker::fields().name, "c").await.unwrap();
        assert_eq!(waiting(&shop).await, 8);
        // An unchanged value leaves no record.
        rename(&shop, 1, "c").await;
        assert_eq!(waiting(&shop).await, 8);
    }

    async fn references_that_move_and_sources_that_go_end_right(store: AnyStore) {
        let shop = shop(store).await;
        shop.makers.insert_many([maker(1, "a"), maker(2, "b")]).await.unwrap();
        let rival = Part { rival: Some(Ref::new(1)), ..part(1, Some(1)) };
        shop.parts.insert_many([rival, part(2, Some(2)), part(3, Some(1))]).await.unwrap();
        rename(&shop, 1, "a2").await;
        rename(&shop, 2, "b2").await;
        // It takes the present value.
        shop.parts.update(2).set(Part::fields().maker, Ref::new(1)).await.unwrap();
        assert_eq!(names(&shop).await, [Some("a".into()), Some("a2".into()), Some("a".into())]);
        // The references are emptied, or kept.
        shop.makers.delete(1).await.unwrap();
        assert_eq!(names(&shop).await, [None, None, None]);
        assert_refreshed(&shop).await;
        let part = shop.parts.get(1).await.unwrap();
        assert_eq!(part.rival_name.as_deref(), Some("a"), "the last value that it was given");
        // A source that is inserted late is followed later.
        shop.makers.insert(maker(1, "a3")).await.unwrap();
        assert!(waiting(&shop).await > 0);
        assert_refreshed(&shop).await;
        let part = shop.parts.get(1).await.unwrap();
        assert_eq!(part.rival_name.as_deref(), Some("a3"));
    }

    async fn a_transaction_leaves_its_records_with_its_commit(store: AnyStore) {
        let shop = shop(store).await;
        shop.makers.insert(maker(1, "a")).await.unwrap();
        shop.parts.insert(part(1, Some(1))).await.unwrap();
        assert_refreshed(&shop).await;
        let guard = shop.begin().await.unwrap();
        rename(&guard, 1, "b").await;
        assert!(guard.deferred_refreshes().await.unwrap().waiting > 0);
        assert!(guard.wait_for_refreshes().await.is_err());
        guard.rollback().await.unwrap();
        assert_eq!(waiting(&shop).await, 0);
        shop.transaction(async |shop| {
            rename(&shop, 1, "c").await;
            shop.parts.insert(part(2, Some(1))).await
        })
        .await
        .unwrap();
        assert_eq!(names(&shop).await, [Some("a".into()), Some("c".into())]);
        assert_refreshed(&shop).await;
        assert_eq!(names(&shop).await, [Some("c".into()), Some("c".into())]);
    }

    async fn more_holders_than_a_unit_takes_are_all_refreshed(store: AnyStore) {
        let shop = shop(store).await;
        shop.makers.insert(maker(1, "a")).await.unwrap();
        let parts = (0..1_200).map(|id| part(id, Some(1)));
        shop.parts.insert_many(parts).await.unwrap();
        rename(&shop, 1, "b").await;
        assert_eq!(deferred(&shop).await, 1_200);
        assert_refreshed(&shop).await;
        let right = shop.parts.find(Part::fields().maker_name.eq("b")).count().await.unwrap();
        assert_eq!(right, 1_200);
    }

    async fn an_import_ends_right(store: AnyStore) {
        let from = super::shop(odm::Embedded::memory().await.unwrap()).await;
        from.makers.insert(maker(1, "a")).await.unwrap();
        from.parts.insert_many((0..30).map(|id| part(id, Some(1)))).await.unwrap();
        from.shelves.insert(shelf(1)).await.unwrap();
        from.offers.insert_many((0..30).map(|id| offer(id, id, 1, id))).await.unwrap();
        rename(&from, 1, "b").await;
        let mut lines = Vec::new();
        from.export(&mut lines).await.unwrap();
        let shop = shop(store).await;
        shop.import(&lines[..]).await.unwrap();
        deferred(&shop).await;
        assert_refreshed(&shop).await;
        assert_eq!(shop.parts.get(7).await.unwrap().maker_name.as_deref(), Some("b"));
        assert_eq!(shop.shelves.get(1).await.unwrap().offers, 30);
    }
}
