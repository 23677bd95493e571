use odm::{
    Collections,
    bson::rawdoc,
    derive::examples::{Shop, example},
    mql::Filter,
};

use super::*;

/// A cursor over a collection of so many documents.
async fn cursor(shop: &Shop, number: i32) -> odm::Result<Cursor> {
    let numbers = Collections::of(shop).collection("numbers");
    let documents = (0..number).map(|id| rawdoc! { "_id": id });
    numbers.insert(documents).await?;
    let documents = numbers.find(Filter::default()).cursor();
    let documents = Documents::Stored(Box::new(documents));
    Ok(Cursor::new("shop", "numbers", documents))
}

#[test]
fn a_cursor_that_is_not_read_goes_on_with_a_newer_state() {
    example(async |shop| {
        let mut cursor = cursor(&shop, 2_000).await?;
        let first = cursor.batch(Some(100)).await.unwrap();
        assert!(!first.is_last);
        let Documents::Stored(documents) = &mut cursor.documents else {
            panic!("the documents are stored");
        };
        documents.release();
        Collections::of(&shop)
            .collection("numbers")
            .delete(Filter::default())
            .await?;
        let rest = cursor.batch(None).await.unwrap();
        assert!(rest.is_last && rest.documents.into_iter().next().is_none());
        Ok(())
    });
}

#[test]
fn a_cursor_is_read_by_one_command_at_a_time_and_gone_if_that_is_dropped() {
    example(async |shop| {
        let cursors = Cursors::new(10);
        let id = cursors.keep(cursor(&shop, 10).await?).unwrap();
        let taken = cursors.take(id).unwrap();
        assert_eq!(cursors.take(id).unwrap_err().code, code::CURSOR_IN_USE);
        taken.put_back().unwrap();
        drop(cursors.take(id).unwrap());
        assert_eq!(cursors.take(id).unwrap_err().code, code::CURSOR_NOT_FOUND);
        Ok(())
    });
}

#[test]
fn a_cursor_that_is_killed_while_it_is_read_is_not_put_back() {
    example(async |shop| {
        let cursors = Cursors::new(10);
        let id = cursors.keep(cursor(&shop, 10).await?).unwrap();
        let taken = cursors.take(id).unwrap();
        assert!(!cursors.kill(id, ("shop", "others")));
        assert!(cursors.kill(id, ("shop", "numbers")));
        assert_eq!(taken.put_back().unwrap_err().code, code::CURSOR_KILLED);
        assert_eq!(cursors.len(), 0);
        Ok(())
    });
}
