//! What shells and tools ask besides.

use mongodb::bson::doc;
use odm::derive::examples::example;
use odm_server::{Right, Server};

use crate::{Fields, Secured, Served, error_of};

#[test]
fn a_replica_set_of_one_describes_itself() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let admin = served.client.database("admin");
        let hello = admin.run_command(doc! { "hello": 1 }).await.unwrap();
        let status = admin
            .run_command(doc! { "replSetGetStatus": 1 })
            .await
            .unwrap();
        assert_eq!(
            (status.text("set"), status.number("myState")),
            (hello.text("setName"), 1)
        );
        let [member] = &status.list("members")[..] else {
            panic!("not one member: {status}");
        };
        let member = member.as_document().unwrap();
        assert_eq!(
            (member.text("name"), member.text("stateStr")),
            (hello.text("me"), "PRIMARY")
        );
        assert!(member.flag("self"));
        assert!(status.inner("optimes").contains_key("lastCommittedOpTime"));
        let config = admin
            .run_command(doc! { "replSetGetConfig": 1 })
            .await
            .unwrap();
        let config = config.inner("config");
        let member = config.list("members")[0].as_document().unwrap();
        assert_eq!(
            (config.text("_id"), member.text("host")),
            (hello.text("setName"), hello.text("me"))
        );
        for command in ["replSetGetStatus", "replSetGetConfig"] {
            assert_eq!(served.refused(doc! { command: 1 }).await.0, 13);
        }
        Ok(())
    });
}

#[test]
fn commands_and_roles_are_listed_and_nothing_is_profiled() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let listed = served.run(doc! { "listCommands": 1 }).await.unwrap();
        let find = listed.inner("commands").inner("find");
        let ping = listed.inner("commands").inner("ping");
        assert!(find.flag("requiresAuth") && !ping.flag("requiresAuth"));

        let roles = async |command| {
            let reply = served.run(command).await.unwrap();
            let all = reply.list("roles").iter();
            let names = all.map(|role| role.as_document().unwrap().text("role").to_owned());
            names.collect::<Vec<String>>()
        };
        let built_in = doc! { "rolesInfo": 1, "showBuiltinRoles": true };
        assert_eq!(roles(built_in).await, ["read", "readWrite"]);
        assert_eq!(roles(doc! { "rolesInfo": "read" }).await, ["read"]);
        assert!(roles(doc! { "rolesInfo": 1 }).await.is_empty());
        assert!(roles(doc! { "rolesInfo": "root" }).await.is_empty());
        assert_eq!(served.refused(doc! { "rolesInfo": true }).await.0, 14);

        for level in [-1, 0] {
            let was = served.run(doc! { "profile": level }).await.unwrap();
            assert_eq!(was.number("was"), 0);
        }
        assert_eq!(served.refused(doc! { "profile": 1 }).await.0, 238);
        Ok(())
    });
}

#[test]
fn commits_are_made_durable_on_demand_and_others_are_never_kept_from_writing() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let admin = served.client.database("admin");
        admin.run_command(doc! { "fsync": 1 }).await.unwrap();
        let locked = admin.run_command(doc! { "fsync": 1, "lock": true }).await;
        assert_eq!(error_of(locked.unwrap_err()).0, 238);
        assert_eq!(served.refused(doc! { "fsync": 1 }).await.0, 13);
        let both = doc! { "validate": "parts", "full": true, "background": true };
        assert_eq!(served.refused(both).await.0, 72);
        Ok(())
    });
}

#[test]
fn a_distinct_is_explained_by_its_search() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let distinct = doc! { "distinct": "parts", "key": "qty", "query": { "name": "nut" } };
        let explained = served.run(doc! { "explain": distinct }).await.unwrap();
        let plan = explained.inner("queryPlanner").inner("winningPlan");
        assert_eq!(plan.inner("inputStage").text("indexName"), "name_1");
        Ok(())
    });
}

#[test]
fn running_commands_are_counted_as_readers_and_writers() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let all = [Right::read_all()];
        secured.users.create("ann", "x", all).await?;
        let admin = secured.client("ann", "x").await.database("admin");
        let status = admin.run_command(doc! { "serverStatus": 1 }).await.unwrap();
        let active = status.inner("globalLock").inner("activeClients");
        // Itself, at least.
        assert!(active.number("readers") >= 1);
        assert_eq!(
            active.number("total"),
            active.number("readers") + active.number("writers")
        );
        Ok(())
    });
}

#[test]
#[cfg(unix)]
fn a_server_that_drivers_see_as_a_standalone_is_in_no_replica_set() {
    example(async |shop| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Upper.sock");
        let collections = odm::Collections::of(&shop);
        let server = Server::builder()
            .database("shop", collections)
            .listen_unix(&path)
            .await?;
        let host = path.display().to_string().replace('/', "%2F");
        let client = mongodb::Client::with_uri_str(format!("mongodb://{host}"))
            .await
            .unwrap();
        let admin = client.database("admin");
        let refused = admin.run_command(doc! { "replSetGetStatus": 1 }).await;
        assert_eq!(error_of(refused.unwrap_err()).0, 76);
        let snapshot = doc! { "find": "parts", "readConcern": { "level": "snapshot" } };
        let refused = client.database("shop").run_command(snapshot).await;
        assert_eq!(error_of(refused.unwrap_err()).0, 123);
        server.shutdown().await;
        Ok(())
    });
}
