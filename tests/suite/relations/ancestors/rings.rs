//! Rings, which no write leaves, and ways that are too long.

use std::sync::Arc;

use super::*;

fn assert_is_ring(error: &odm::Error, ring: &str) {
    assert_eq!(error.kind(), ErrorKind::Uncomputable, "{error}");
    let text = error.to_string();
    assert!(
        text.contains(&format!("the references `categories.parentId` lead in a ring: {ring}")),
        "{text}"
    );
}

on_every_store! {
    async fn no_document_comes_below_itself(store: AnyStore) {
        let shop = shop(store).await;
        let error = move_to(&shop, 2, Some(5)).await.unwrap_err();
        assert_is_ring(&error, "5 -> 4 -> 2 -> 5");
        assert_eq!(error.location().unwrap().path.as_deref(), Some("ancestorIds"));
        assert_is_ring(&move_to(&shop, 2, Some(2)).await.unwrap_err(), "2 -> 2");
        assert_is_ring(&shop.categories.insert(category(9, 9)).await.unwrap_err(), "9 -> 9");
        let ring = [category(10, 12), category(11, 10), category(12, 11)];
        assert_is_ring(&shop.categories.insert_many(ring).await.unwrap_err(), "12 -> 11 -> 10 -> 12");
        let planned = shop.categories.update(2).set(Category::fields().parent, Some(Ref::new(5))).plan().await;
        assert_is_ring(&planned.unwrap_err(), "5 -> 4 -> 2 -> 5");
        assert_right(&shop).await;
    }

    async fn no_write_of_many_makes_a_ring(store: AnyStore) {
        let shop = shop(store).await;
        // Each of both moves alone is right.
        let both = Category::fields().id.in_([2, 6]);
        let [mut two, mut six] = [shop.categories.get(2).await.unwrap(), shop.categories.get(6).await.unwrap()];
        (two.parent, six.parent) = (Some(Ref::new(7)), Some(Ref::new(5)));
        let error = shop.categories.upsert_many([two, six]).await.unwrap_err();
        assert_is_ring(&error, "7 -> 6 -> 5 -> 4 -> 2 -> 7");
        let error = shop.categories.update_where(both).set(Category::fields().parent, Some(Ref::new(5))).await;
        assert_is_ring(&error.unwrap_err(), "5 -> 4 -> 2 -> 5");
        let parent = Category::fields().parent;
        let moves = [(2, 7), (6, 5)];
        let moves = moves.map(|(id, to)| shop.categories.update(id).set(parent, Some(Ref::new(to))));
        assert_is_ring(&shop.bulk(Vec::from(moves)).await.unwrap_err(), "5 -> 4 -> 2 -> 7 -> 6 -> 5");
        let two_moves = shop.transaction(async |shop| {
            move_to(&shop, 2, Some(7)).await?;
            move_to(&shop, 6, Some(5)).await
        });
        assert_is_ring(&two_moves.await.unwrap_err(), "5 -> 4 -> 2 -> 7 -> 6 -> 5");
        assert_right(&shop).await;
    }

    async fn of_two_documents_that_change_places_both_are_right(store: AnyStore) {
        let shop = shop(store).await;
        let [mut two, mut four] = [shop.categories.get(2).await.unwrap(), shop.categories.get(4).await.unwrap()];
        (two.parent, four.parent) = (Some(Ref::new(4)), Some(Ref::new(1)));
        shop.categories.upsert_many([two, four]).await.unwrap();
        let all = assert_right(&shop).await;
        assert_eq!((ids(&all[&2].path), ids(&all[&5].path)), (vec![1, 4], vec![1, 4]));
    }

    async fn concurrent_moves_make_no_ring(store: AnyStore) {
        let shop = Arc::new(shop(store).await);
        for round in 0..6 {
            // Each of both moves alone is right; which of them wins is open.
            let moves = [(2, 7), (6, 5)].map(|(id, parent)| {
                let shop = Arc::clone(&shop);
                tokio::spawn(async move { move_to(&shop, id, Some(parent)).await })
            });
            let mut won = 0;
            for one in moves {
                match one.await.unwrap() {
                    Ok(()) => won += 1,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Uncomputable, "{error}"),
                }
            }
            assert_eq!(won, 1, "in round {round}");
            assert_right(&shop).await;
            move_to(&shop, 2, Some(1)).await.unwrap();
            move_to(&shop, 6, None).await.unwrap();
        }
    }

    async fn an_insert_beside_a_move_is_below_the_moved_document(store: AnyStore) {
        let shop = Arc::new(shop(store).await);
        for round in 0..6_i64 {
            let to = if round % 2 == 0 { 7 } else { 1 };
            let moved = Arc::clone(&shop);
            let moved = tokio::spawn(async move { move_to(&moved, 2, Some(to)).await });
            let inserts = (0..3).map(|at| {
                let shop = Arc::clone(&shop);
                tokio::spawn(async move { shop.categories.insert(category(100 + round * 10 + at, 5)).await })
            });
            for insert in inserts.collect::<Vec<_>>() {
                insert.await.unwrap().unwrap();
            }
            moved.await.unwrap().unwrap();
            assert_right(&shop).await;
        }
    }

    async fn a_document_has_at_most_200_ancestors(store: AnyStore) {
        let shop = Shop::open(store).await.unwrap();
        let chain = (1..=201).map(|id| category(id, (id > 1).then_some(id - 1)));
        shop.categories.insert_many(chain).await.unwrap();
        assert_eq!(shop.categories.get(201).await.unwrap().path.depth(), 200);
        let error = shop.categories.insert(category(202, 201)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Uncomputable);
        assert!(error.to_string().ends_with("with `_id` = 202: there are more than 200 documents above it"), "{error}");
        shop.categories.insert(category(300, None)).await.unwrap();
        let error = move_to(&shop, 1, Some(300)).await.unwrap_err();
        assert!(error.to_string().contains("with `_id` = 201: there are more than 200"), "a move names the lowest: {error}");
        assert_is_ring(&move_to(&shop, 1, Some(201)).await.unwrap_err(), "201 -> 200 -> 199");
        assert_eq!(shop.audit().await.unwrap(), []);
    }
}
