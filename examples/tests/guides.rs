//! Runs the systems of the guides, and compares their screens with their promises.

use examples::{
    guides::{SYSTEMS, System, list},
    show::COLUMNS,
};
use odm::Embedded;

async fn screen(system: System) -> String {
    let store = Embedded::memory().await.unwrap();
    system.run(store, false).await.unwrap()
}

#[tokio::test]
async fn each_system_is_one_screen_whose_audit_finds_nothing() {
    for system in SYSTEMS {
        let screen = screen(system).await;
        assert!(screen.starts_with(&format!("{system}  ")), "{screen}");
        assert!(screen.ends_with("\naudit: 0 findings\n"), "{screen}");
        assert!(!screen.contains("should not have"), "{screen}");
        let lines = screen.lines().count();
        assert!((30..=80).contains(&lines), "{system} has {lines} lines");
        for line in screen.lines() {
            assert!(line.chars().count() <= COLUMNS, "{system}: {line}");
            assert!(!line.contains('\x1b'), "{system}: {line}");
        }
    }
}

#[tokio::test]
async fn a_rename_is_shown_as_a_difference_of_all_that_follows() {
    let ninth: System = "s9".parse().unwrap();
    let screen = screen(ninth).await;
    let (_, step) = screen.split_once("3. a part is renamed").unwrap();
    let (step, _) = step.split_once("4. ").unwrap();
    let first = step.lines().next().unwrap();
    assert!(first.ends_with("3 written"), "{first}");
    let code = r##"  db.parts.update(grommet).set(Part::fields().name, "#5 grommet")"##;
    assert_eq!(step.lines().nth(1).unwrap(), code);
    let changes = |sign: &str| step.lines().filter(|line| line.starts_with(sign)).count();
    assert_eq!((changes("  - "), changes("  + ")), (3, 3), "{step}");
}

#[tokio::test]
async fn colours_are_shown_where_they_are_asked_for_and_change_no_text() {
    let third: System = "S3".parse().unwrap();
    let store = Embedded::memory().await.unwrap();
    let coloured = third.run(store, true).await.unwrap();
    assert!(coloured.contains("\x1b[32m  + "), "{coloured}");
    let mut plain = String::new();
    for (at, part) in coloured.split('\x1b').enumerate() {
        plain += if at == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        };
    }
    assert_eq!(plain, screen(third).await);
}

#[test]
fn the_list_names_each_system_within_the_columns() {
    let list = list(false);
    for system in SYSTEMS {
        let line = list
            .lines()
            .find(|line| line.starts_with(&format!("{system} ")));
        assert!(line.unwrap().contains(system.pattern), "{list}");
    }
    assert!(
        list.lines().all(|line| line.chars().count() <= COLUMNS),
        "{list}"
    );
}
