//! The cases, each as a script of both peers and a function of the library.

use futures_util::future::BoxFuture;

use super::{Script, library};

pub(super) struct Case {
    /// The public report, or `found here`.
    pub(super) report: &'static str,
    pub(super) what: &'static str,
    pub(super) expected: &'static str,
    pub(super) odm: fn() -> BoxFuture<'static, anyhow::Result<String>>,
    pub(super) surreal: Option<Script>,
    pub(super) turso: Option<Script>,
}

const fn script(before: &'static str, query: &'static str) -> Option<Script> {
    Some(Script {
        before,
        at_once: None,
        reopens: false,
        query,
    })
}

pub(super) static CASES: &[Case] = &[
    Case {
        report: "turso#8531",
        what: "a group that single deletes emptied comes back",
        expected: "1",
        odm: || Box::pin(library::emptied_group()),
        surreal: script(
            "DEFINE TABLE members SCHEMALESS;
             DEFINE TABLE counts AS SELECT grp, count() AS n FROM members GROUP BY grp;
             CREATE members:1 SET grp = 'x'; CREATE members:2 SET grp = 'x';
             DELETE members:1; DELETE members:2;
             CREATE members:3 SET grp = 'x';",
            "SELECT VALUE n FROM counts",
        ),
        turso: script(
            "CREATE TABLE members (id INTEGER PRIMARY KEY, grp TEXT);
             CREATE MATERIALIZED VIEW counts AS SELECT grp, count(*) AS n FROM members GROUP BY grp;
             INSERT INTO members VALUES (1, 'x'), (2, 'x');
             DELETE FROM members WHERE id = 1; DELETE FROM members WHERE id = 2;
             INSERT INTO members VALUES (3, 'x');",
            "SELECT n FROM counts",
        ),
    },
    Case {
        report: "turso#3406",
        what: "sums of the lines of orders, of some customers only",
        expected: "14000, 10000",
        odm: || Box::pin(library::revenue_of_orders()),
        surreal: script(
            "CREATE customers:1 SET segment = 'F'; CREATE customers:2 SET segment = 'G';
             CREATE orders:1 SET customer = customers:1, day = 10;
             CREATE orders:2 SET customer = customers:1, day = 30;
             CREATE orders:3 SET customer = customers:2, day = 10;
             CREATE orders:4 SET customer = customers:1, day = 15;
             CREATE lines:1 SET order = orders:1, price = 100, discount = 10, shipped = 25;
             CREATE lines:2 SET order = orders:1, price = 50, discount = 0, shipped = 30;
             CREATE lines:3 SET order = orders:1, price = 70, discount = 0, shipped = 15;
             CREATE lines:4 SET order = orders:2, price = 80, discount = 0, shipped = 40;
             CREATE lines:5 SET order = orders:3, price = 90, discount = 0, shipped = 25;
             CREATE lines:6 SET order = orders:4, price = 200, discount = 50, shipped = 21;
             DEFINE TABLE revenues AS
                 SELECT order, order.day AS day, math::sum(price * (100 - discount)) AS revenue FROM lines
                 WHERE order.customer.segment = 'F' AND order.day < 20 AND shipped > 20 GROUP BY order, day;",
            "SELECT VALUE revenue FROM revenues ORDER BY revenue DESC",
        ),
        turso: script(
            "CREATE TABLE customers (c_id INTEGER PRIMARY KEY, segment TEXT);
             CREATE TABLE orders (o_id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER);
             CREATE TABLE lines (l_id INTEGER PRIMARY KEY, order_id INTEGER, price INTEGER, discount INTEGER, shipped INTEGER);
             INSERT INTO customers VALUES (1, 'F'), (2, 'G');
             INSERT INTO orders VALUES (1, 1, 10), (2, 1, 30), (3, 2, 10), (4, 1, 15);
             INSERT INTO lines VALUES (1, 1, 100, 10, 25), (2, 1, 50, 0, 30), (3, 1, 70, 0, 15), (4, 2, 80, 0, 40),
                 (5, 3, 90, 0, 25), (6, 4, 200, 50, 21);
             CREATE MATERIALIZED VIEW revenues AS
                 SELECT order_id, sum(price * (100 - discount)) AS revenue, day
                 FROM customers JOIN orders ON c_id = customer JOIN lines ON order_id = o_id
                 WHERE segment = 'F' AND day < 20 AND shipped > 20 GROUP BY order_id, day;",
            "SELECT revenue FROM revenues ORDER BY revenue DESC",
        ),
    },
    Case {
        report: "turso#3401",
        what: "sum over a join, by one condition or another",
        expected: "16",
        odm: || Box::pin(library::one_or_the_other()),
        surreal: script(
            "CREATE parts:1 SET brand = 'A'; CREATE parts:2 SET brand = 'B'; CREATE parts:3 SET brand = 'C';
             CREATE lines:1 SET part = parts:1, quantity = 5, price = 7;
             CREATE lines:2 SET part = parts:1, quantity = 50, price = 100;
             CREATE lines:3 SET part = parts:2, quantity = 15, price = 9;
             CREATE lines:4 SET part = parts:3, quantity = 5, price = 1000;
             DEFINE TABLE totals AS SELECT math::sum(price) AS total FROM lines
                 WHERE (part.brand = 'A' AND quantity >= 1 AND quantity <= 11)
                     OR (part.brand = 'B' AND quantity >= 10 AND quantity <= 20) GROUP ALL;",
            "SELECT VALUE total FROM totals",
        ),
        turso: script(
            "CREATE TABLE parts (p_id INTEGER PRIMARY KEY, brand TEXT);
             CREATE TABLE lines (l_id INTEGER PRIMARY KEY, part INTEGER, quantity INTEGER, price INTEGER);
             INSERT INTO parts VALUES (1, 'A'), (2, 'B'), (3, 'C');
             INSERT INTO lines VALUES (1, 1, 5, 7), (2, 1, 50, 100), (3, 2, 15, 9), (4, 3, 5, 1000);
             CREATE MATERIALIZED VIEW totals AS SELECT sum(price) AS total FROM lines JOIN parts ON part = p_id
                 WHERE (brand = 'A' AND quantity >= 1 AND quantity <= 11)
                     OR (brand = 'B' AND quantity >= 10 AND quantity <= 20);",
            "SELECT total FROM totals",
        ),
    },
    Case {
        report: "turso#5734",
        what: "a union of a table with itself",
        expected: "1, 1, 2, 2",
        odm: || Box::pin(async { Ok(super::NONE.to_owned()) }),
        surreal: None,
        turso: script(
            "CREATE TABLE numbers (number INTEGER);
             CREATE MATERIALIZED VIEW doubled AS SELECT number FROM numbers UNION ALL SELECT number FROM numbers;
             INSERT INTO numbers VALUES (1), (2);",
            "SELECT number FROM doubled ORDER BY number",
        ),
    },
    Case {
        report: "surrealdb#3227",
        what: "three counts of one table, with and without a filter",
        expected: "5, 3, 2",
        odm: || Box::pin(library::three_counts()),
        surreal: script(
            "INSERT INTO users [{ deleted: NONE }, { deleted: NONE }, { deleted: NONE }, { deleted: 1 }, { deleted: 1 }];
             DEFINE TABLE one AS SELECT count() AS n FROM users GROUP ALL;
             DEFINE TABLE two AS SELECT count() AS n FROM users WHERE deleted = NONE GROUP ALL;
             DEFINE TABLE three AS SELECT count() AS n FROM users WHERE deleted != NONE GROUP ALL;",
            "RETURN [(SELECT VALUE n FROM one), (SELECT VALUE n FROM two), (SELECT VALUE n FROM three)]",
        ),
        turso: script(
            "CREATE TABLE users (id INTEGER PRIMARY KEY, deleted INTEGER);
             INSERT INTO users (deleted) VALUES (NULL), (NULL), (NULL), (1), (1);
             CREATE MATERIALIZED VIEW one AS SELECT count(*) AS n FROM users;
             CREATE MATERIALIZED VIEW two AS SELECT count(*) AS n FROM users WHERE deleted IS NULL;
             CREATE MATERIALIZED VIEW three AS SELECT count(*) AS n FROM users WHERE deleted IS NOT NULL;",
            "SELECT (SELECT n FROM one), (SELECT n FROM two), (SELECT n FROM three)",
        ),
    },
    Case {
        report: "surrealdb#3556",
        what: "counts by two kinds of groups",
        expected: "3, 3",
        odm: || Box::pin(library::two_kinds_of_groups()),
        surreal: script(
            "CREATE rounds:1 SET month = 1, day = 1; CREATE rounds:2 SET month = 1, day = 1; CREATE rounds:3 SET month = 1, day = 1;
             DEFINE TABLE monthly AS SELECT count() AS n, month FROM rounds GROUP BY month;
             DEFINE TABLE daily AS SELECT count() AS n, month, day FROM rounds GROUP BY month, day;",
            "RETURN [(SELECT VALUE n FROM monthly), (SELECT VALUE n FROM daily)]",
        ),
        turso: script(
            "CREATE TABLE rounds (id INTEGER PRIMARY KEY, month INTEGER, day INTEGER);
             INSERT INTO rounds VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1);
             CREATE MATERIALIZED VIEW monthly AS SELECT count(*) AS n, month FROM rounds GROUP BY month;
             CREATE MATERIALIZED VIEW daily AS SELECT count(*) AS n, month, day FROM rounds GROUP BY month, day;",
            "SELECT (SELECT n FROM monthly), (SELECT n FROM daily)",
        ),
    },
    Case {
        report: "surrealdb#6149",
        what: "a sum of 0 changes",
        expected: "2, 5",
        odm: || Box::pin(library::sum_of_zero()),
        surreal: script(
            "CREATE members:1 SET grp = 'x', points = 0; CREATE members:2 SET grp = 'x', points = 0;
             DEFINE TABLE sums AS SELECT grp, count() AS n, math::sum(points) AS total FROM members GROUP BY grp;
             UPDATE members:1 SET name = 'new'; UPDATE members:1 SET points = 5;",
            "SELECT VALUE [n, total] FROM sums",
        ),
        turso: script(
            "CREATE TABLE members (id INTEGER PRIMARY KEY, grp TEXT, points INTEGER, name TEXT);
             INSERT INTO members VALUES (1, 'x', 0, ''), (2, 'x', 0, '');
             CREATE MATERIALIZED VIEW sums AS SELECT grp, count(*) AS n, sum(points) AS total FROM members GROUP BY grp;
             UPDATE members SET name = 'new' WHERE id = 1; UPDATE members SET points = 5 WHERE id = 1;",
            "SELECT n, total FROM sums",
        ),
    },
    Case {
        report: "surrealdb#7448",
        what: "the greatest value, behind a filter, becomes less",
        expected: "1",
        odm: || Box::pin(library::greatest_becomes_less()),
        surreal: script(
            "DEFINE TABLE members SCHEMALESS;
             DEFINE TABLE greatest AS SELECT grp, math::max(points) AS best FROM members WHERE points != NONE GROUP BY grp;
             CREATE members:1 SET grp = 'x', points = 1; CREATE members:2 SET grp = 'x'; CREATE members:3 SET grp = 'x', points = 996;
             UPDATE members:3 SET points = 0;",
            "SELECT VALUE best FROM greatest",
        ),
        turso: script(
            "CREATE TABLE members (id INTEGER PRIMARY KEY, grp TEXT, points INTEGER);
             CREATE MATERIALIZED VIEW greatest AS
                 SELECT grp, max(points) AS best FROM members WHERE points IS NOT NULL GROUP BY grp;
             INSERT INTO members VALUES (1, 'x', 1), (2, 'x', NULL), (3, 'x', 996);
             UPDATE members SET points = 0 WHERE id = 3;",
            "SELECT best FROM greatest",
        ),
    },
    Case {
        report: "surrealdb#6540",
        what: "counts of all and of the unread, after an update and a delete",
        expected: "3, 2",
        odm: || Box::pin(library::unread()),
        surreal: script(
            "CREATE mails:1 SET owner = 'x', unread = true; CREATE mails:2 SET owner = 'x', unread = false;
             DEFINE TABLE counts AS SELECT owner, count() AS n, count(unread) AS unread FROM mails GROUP BY owner;
             CREATE mails:3 SET owner = 'x', unread = true; CREATE mails:4 SET owner = 'x', unread = false;
             UPDATE mails:2 SET unread = true; DELETE mails:1;",
            "SELECT VALUE [n, unread] FROM counts",
        ),
        turso: script(
            "CREATE TABLE mails (id INTEGER PRIMARY KEY, owner TEXT, unread INTEGER);
             INSERT INTO mails VALUES (1, 'x', 1), (2, 'x', 0);
             CREATE MATERIALIZED VIEW counts AS SELECT owner, count(*) AS n, sum(unread) AS unread FROM mails GROUP BY owner;
             INSERT INTO mails VALUES (3, 'x', 1), (4, 'x', 0);
             UPDATE mails SET unread = 1 WHERE id = 2; DELETE FROM mails WHERE id = 1;",
            "SELECT n, unread FROM counts",
        ),
    },
    Case {
        report: "surrealdb#7090",
        what: "a count after a delete of all, with relations between them",
        expected: "2",
        odm: || Box::pin(library::count_after_delete()),
        surreal: script(
            "DEFINE TABLE logs SCHEMAFULL; DEFINE FIELD text ON logs TYPE string; DEFINE INDEX number ON logs COUNT;
             DEFINE TABLE caused TYPE RELATION;
             DEFINE TABLE OVERWRITE logs SCHEMAFULL;
             DEFINE FUNCTION fn::log($text: string) {
                 LET $cause = SELECT VALUE id FROM logs LIMIT 1;
                 LET $log = CREATE ONLY logs SET text = $text;
                 IF $cause { RELATE $cause->caused->$log.id; };
                 RETURN $log.id;
             };
             RETURN fn::log('a'); RETURN fn::log('b'); RETURN fn::log('c');
             DELETE logs;
             RETURN fn::log('a'); RETURN fn::log('b');",
            "SELECT VALUE count FROM (SELECT count() FROM logs GROUP ALL)",
        ),
        turso: script(
            "CREATE TABLE logs (id INTEGER PRIMARY KEY, cause INTEGER REFERENCES logs (id), text TEXT);
             CREATE MATERIALIZED VIEW number AS SELECT count(*) AS n FROM logs;
             INSERT INTO logs VALUES (1, NULL, 'a'); INSERT INTO logs VALUES (2, 1, 'b'); INSERT INTO logs VALUES (3, 1, 'c');
             DELETE FROM logs;
             INSERT INTO logs VALUES (4, NULL, 'a'); INSERT INTO logs VALUES (5, 4, 'b');",
            "SELECT n FROM number",
        ),
    },
    Case {
        report: "surrealdb#7291",
        what: "counts while eight tasks insert, move and delete",
        expected: "80, 40, 120",
        odm: || Box::pin(library::counts_under_load()),
        surreal: Some(Script {
            before: "DEFINE TABLE members SCHEMALESS; DEFINE INDEX number ON members COUNT;
                     DEFINE TABLE counts AS SELECT grp, count() AS n FROM members GROUP BY grp;",
            at_once: Some(|task| {
                statements(task, |id, group| match id % 4 {
                    0 => format!("CREATE members:{id} SET grp = {group}; DELETE members:{id};"),
                    1 => {
                        format!(
                            "CREATE members:{id} SET grp = {group}; UPDATE members:{id} SET grp = 1;"
                        )
                    }
                    _ => format!("CREATE members:{id} SET grp = {group};"),
                })
            }),
            reopens: false,
            query: "RETURN [(SELECT grp, n FROM counts ORDER BY grp).n,
                    (SELECT VALUE count FROM (SELECT count() FROM members GROUP ALL))]",
        }),
        turso: Some(Script {
            before: "CREATE TABLE members (id INTEGER PRIMARY KEY, grp INTEGER);
                     CREATE MATERIALIZED VIEW counts AS SELECT grp, count(*) AS n FROM members GROUP BY grp;",
            at_once: Some(|task| {
                statements(task, |id, group| {
                    let insert = format!("INSERT INTO members VALUES ({id}, {group});");
                    match id % 4 {
                        0 => format!("{insert} DELETE FROM members WHERE id = {id};"),
                        1 => format!("{insert} UPDATE members SET grp = 1 WHERE id = {id};"),
                        _ => insert,
                    }
                })
            }),
            reopens: false,
            query: "SELECT (SELECT n FROM counts WHERE grp = 1), (SELECT n FROM counts WHERE grp = 2),
                    (SELECT count(*) FROM members)",
        }),
    },
    Case {
        report: "surrealdb#7446",
        what: "a sum of large integers",
        expected: "4611686018427387905",
        odm: || Box::pin(library::large_sum()),
        surreal: script(
            "CREATE members:1 SET grp = 'x', points = 4611686018427387904; CREATE members:2 SET grp = 'x', points = 1;
             DEFINE TABLE sums AS SELECT grp, math::sum(points) AS total FROM members GROUP BY grp;",
            "SELECT VALUE total FROM sums",
        ),
        turso: script(
            "CREATE TABLE members (id INTEGER PRIMARY KEY, grp TEXT, points INTEGER);
             INSERT INTO members VALUES (1, 'x', 4611686018427387904), (2, 'x', 1);
             CREATE MATERIALIZED VIEW sums AS SELECT grp, sum(points) AS total FROM members GROUP BY grp;",
            "SELECT total FROM sums",
        ),
    },
    Case {
        report: "surrealdb#7447",
        what: "a sum of a field that some lack",
        expected: "2, 10",
        odm: || Box::pin(library::field_that_some_lack()),
        surreal: script(
            "DEFINE TABLE members SCHEMALESS;
             DEFINE TABLE sums AS SELECT grp, count() AS n, math::sum(points) AS total FROM members GROUP BY grp;
             CREATE members:1 SET grp = 'x', points = 10; CREATE members:2 SET grp = 'x';",
            "SELECT VALUE [n, total] FROM sums",
        ),
        turso: script(
            "CREATE TABLE members (id INTEGER PRIMARY KEY, grp TEXT, points INTEGER);
             CREATE MATERIALIZED VIEW sums AS SELECT grp, count(*) AS n, sum(points) AS total FROM members GROUP BY grp;
             INSERT INTO members VALUES (1, 'x', 10), (2, 'x', NULL);",
            "SELECT n, total FROM sums",
        ),
    },
    Case {
        report: "turso#8463",
        what: "a row is replaced under its key",
        expected: "1",
        odm: || Box::pin(library::replaced()),
        surreal: script(
            "DEFINE TABLE members SCHEMALESS;
             DEFINE TABLE counts AS SELECT grp, count() AS n FROM members GROUP BY grp;
             UPSERT members:1 CONTENT { grp: 'x', points: 1 }; UPSERT members:1 CONTENT { grp: 'x', points: 2 };",
            "SELECT VALUE n FROM counts",
        ),
        turso: script(
            "CREATE TABLE members (id INTEGER PRIMARY KEY, grp TEXT, points INTEGER);
             CREATE MATERIALIZED VIEW counts AS SELECT grp, count(*) AS n FROM members GROUP BY grp;
             INSERT OR REPLACE INTO members VALUES (1, 'x', 1); INSERT OR REPLACE INTO members VALUES (1, 'x', 2);",
            "SELECT n FROM counts",
        ),
    },
    Case {
        report: "found here",
        what: "the least value, behind a filter, becomes greater",
        expected: "3",
        odm: || Box::pin(library::least_becomes_greater()),
        surreal: script(
            "DEFINE TABLE members SCHEMALESS;
             DEFINE TABLE least AS SELECT grp, math::min(points) AS least FROM members WHERE points > 0 GROUP BY grp;
             CREATE members:1 SET grp = 'x', points = 2; CREATE members:2 SET grp = 'x', points = 0;
             UPDATE members:1 SET points = 3;",
            "SELECT VALUE least FROM least",
        ),
        turso: script(
            "CREATE TABLE members (id INTEGER PRIMARY KEY, grp TEXT, points INTEGER);
             CREATE MATERIALIZED VIEW least AS SELECT grp, min(points) AS least FROM members WHERE points > 0 GROUP BY grp;
             INSERT INTO members VALUES (1, 'x', 2), (2, 'x', 0);
             UPDATE members SET points = 3 WHERE id = 1;",
            "SELECT least FROM least",
        ),
    },
    Case {
        report: "found here",
        what: "the extremes, after one of two with the same value goes",
        expected: "3, 3",
        odm: || Box::pin(library::one_of_two_goes()),
        surreal: script(
            "DEFINE TABLE members SCHEMALESS;
             DEFINE TABLE extremes AS
                 SELECT grp, math::min(points) AS least, math::max(points) AS best FROM members GROUP BY grp;
             CREATE members:1 SET grp = 'x', points = 3; CREATE members:2 SET grp = 'x', points = 3;
             DELETE members:1;",
            "SELECT VALUE [least, best] FROM extremes",
        ),
        turso: script(
            "CREATE TABLE members (id INTEGER PRIMARY KEY, grp TEXT, points INTEGER);
             CREATE MATERIALIZED VIEW extremes AS SELECT grp, min(points) AS least, max(points) AS best FROM members GROUP BY grp;
             INSERT INTO members VALUES (1, 'x', 3), (2, 'x', 3);
             DELETE FROM members WHERE id = 1;",
            "SELECT least, best FROM extremes",
        ),
    },
    Case {
        report: "found here",
        what: "a thousand groups, after the database is opened again",
        expected: "1000",
        odm: || Box::pin(library::many_groups()),
        surreal: Some(Script {
            before: "DEFINE TABLE members SCHEMALESS;
                     DEFINE TABLE counts AS SELECT grp, count() AS n FROM members GROUP BY grp;
                     FOR $id IN 1..=1000 { CREATE members SET grp = $id; };",
            at_once: None,
            reopens: true,
            query: "SELECT VALUE count FROM (SELECT count() FROM counts GROUP ALL)",
        }),
        turso: Some(Script {
            before: "CREATE TABLE members (id INTEGER PRIMARY KEY, grp INTEGER);
                     CREATE MATERIALIZED VIEW counts AS SELECT grp, count(*) AS n FROM members GROUP BY grp;
                     INSERT INTO members SELECT value, value FROM generate_series(1, 1000);",
            at_once: None,
            reopens: true,
            query: "SELECT count(*) FROM counts",
        }),
    },
];

/// The statements of a task on twenty ids of its own, of which the even ones are in group 1 and the odd ones in group 2.
fn statements(task: i64, one: fn(i64, i64) -> String) -> String {
    (0..20).map(|at| one(task * 20 + at, 1 + at % 2)).collect()
}
