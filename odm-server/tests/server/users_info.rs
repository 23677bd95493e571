//! What clients learn of users, and that none of them changes users.

use mongodb::bson::{Document, doc};
use odm::derive::examples::example;
use odm_server::Right;

use crate::{Fields, Secured, Served};

#[test]
fn a_user_learns_about_themself_alone() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let rights = [Right::read("parts"), Right::read_write_all()];
        secured.users.create("ann", "x", rights).await?;
        secured.users.create("ben", "x", []).await?;
        let mut ann = secured.raw().await;
        let mut run = async |command: Document| ann.run(command).await.unwrap();
        let info = |of: mongodb::bson::Bson| doc! { "usersInfo": of };
        let unknown = run(info("ann".into())).await;
        assert_eq!(unknown.number("code"), 13);

        let mut ann = secured.raw().await;
        ann.log_in("ann", "x").await;
        let mut run = async |command: Document| ann.run(command).await.unwrap();
        for own in [
            1.into(),
            "ann".into(),
            doc! { "user": "ann", "db": "shop" }.into(),
            doc! { "forAllDBs": true }.into(),
            doc! { "forAllDBs": 1 }.into(),
            vec![doc! { "user": "ann", "db": "shop" }].into(),
        ] {
            let mut command = info(own);
            command.insert("showPrivileges", true);
            let shown = run(command).await;
            let [shown] = &shown.list("users")[..] else {
                panic!("not one user: {shown}");
            };
            let shown = shown.as_document().unwrap();
            assert_eq!(
                (shown.text("_id"), shown.text("user"), shown.text("db")),
                ("shop.ann", "ann", "shop")
            );
            assert_eq!(shown.list("roles").len(), 2);
            assert_eq!(shown.list("mechanisms"), &["SCRAM-SHA-256".into()]);
            assert_eq!(shown.list("inheritedPrivileges").len(), 2);
        }
        for (others, code) in [
            (info("ben".into()), 13),
            (info("nobody".into()), 13),
            (info(vec!["ann", "ben"].into()), 13),
            (info(doc! { "user": "ann", "db": "other" }.into()), 13),
            (info(doc! { "user": "ann" }.into()), 2),
            (
                info(doc! { "user": "ann", "db": "shop", "other": 1 }.into()),
                2,
            ),
            (info(doc! { "forAllDBs": false }.into()), 2),
            (info(doc! { "forAllDBs": "x" }.into()), 2),
            (info(doc! { "forAllDBs": true, "other": 1 }.into()), 2),
            (info(doc! { "forAllDBs": "x", "other": 1 }.into()), 2),
            (info(true.into()), 14),
            (doc! { "usersInfo": "ann", "showCredentials": true }, 238),
        ] {
            let refused = run(others).await;
            assert_eq!(refused.number("code"), code, "{refused}");
        }
        let filtered = run(doc! { "usersInfo": 1, "filter": { "user": "ben" } }).await;
        assert!(filtered.list("users").is_empty());
        Ok(())
    });
}

#[test]
fn no_client_changes_users_whatever_its_rights() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let all = [Right::read_write_all()];
        secured.users.create("ann", "x", all.clone()).await?;
        let mut ann = secured.raw().await;
        ann.log_in("ann", "x").await;
        let roles = || vec![doc! { "role": "readWrite", "db": "shop" }];
        let changes = || {
            [
                doc! { "createUser": "eve", "pwd": "y", "roles": roles() },
                doc! { "updateUser": "ann", "pwd": "y" },
                doc! { "dropUser": "ann" },
                doc! { "dropAllUsersFromDatabase": 1 },
                doc! { "grantRolesToUser": "ann", "roles": roles() },
                doc! { "revokeRolesFromUser": "ann", "roles": roles() },
            ]
        };
        for change in changes() {
            let refused = ann.run(change).await.unwrap();
            assert_eq!(refused.number("code"), 13, "{refused}");
            assert!(refused.text("errmsg").contains("odm_server::Users"));
        }
        let users = secured.users.list().await?;
        assert_eq!(
            (users.len(), users[0].name.as_str(), &users[0].rights[..]),
            (1, "ann", &all[..])
        );

        // A server without users shows and changes none of the store.
        let served = Served::new(&shop).await;
        for change in changes() {
            assert_eq!(served.refused(change).await.0, 13);
        }
        let shown = served.run(doc! { "usersInfo": 1 }).await.unwrap();
        assert!(shown.list("users").is_empty());
        let shown = served.run(doc! { "usersInfo": "ann" }).await.unwrap();
        assert!(shown.list("users").is_empty());
        Ok(())
    });
}
