"""Writes that typical triggers of SQLite miss, each beside the right answer: python3 benchmarks/triggers.py"""

import sqlite3

TABLES = """
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, reviews INTEGER NOT NULL DEFAULT 0, stars INTEGER NOT NULL DEFAULT 0);
CREATE TABLE reviews (id INTEGER PRIMARY KEY, product INTEGER, stars INTEGER);
CREATE TABLE links (id INTEGER PRIMARY KEY, product INTEGER, name TEXT);
CREATE TABLE categories (id INTEGER PRIMARY KEY, parent INTEGER, name TEXT, path TEXT);
"""
TRIGGERS = """
CREATE TRIGGER added AFTER INSERT ON reviews BEGIN
    UPDATE products SET reviews = reviews + 1, stars = stars + new.stars WHERE id = new.product; END;
CREATE TRIGGER removed AFTER DELETE ON reviews BEGIN
    UPDATE products SET reviews = reviews - 1, stars = stars - old.stars WHERE id = old.product; END;
CREATE TRIGGER moved AFTER UPDATE OF product ON reviews BEGIN
    UPDATE products SET reviews = reviews - 1, stars = stars - old.stars WHERE id = old.product;
    UPDATE products SET reviews = reviews + 1, stars = stars + new.stars WHERE id = new.product; END;
CREATE TRIGGER renamed AFTER UPDATE OF name ON products BEGIN UPDATE links SET name = new.name WHERE product = new.id; END;
CREATE TRIGGER rooted AFTER UPDATE OF path ON categories BEGIN
    UPDATE categories SET path = new.path || '/' || name WHERE parent = new.id; END;
"""
COUNT = "SELECT reviews FROM products", "SELECT count(*) FROM reviews WHERE product = 1"
SUM = "SELECT stars FROM products", "SELECT sum(stars) FROM reviews WHERE product = 1"
COPY = "SELECT name FROM links", "SELECT name FROM products"
PATH = "SELECT path FROM categories WHERE id = 3", "SELECT 'b/y/z'"
# What is missed, the writes before the triggers are there, those with them, and the stored and the right answer.
CASES = [
    ("nothing: insert, delete", "INSERT INTO products (id) VALUES (1)",
     "INSERT INTO reviews VALUES (1, 1, 5), (2, 1, 3); DELETE FROM reviews WHERE id = 1", SUM),
    ("nothing: rename", "INSERT INTO products (id, name) VALUES (1, 'bolt')",
     "INSERT INTO links VALUES (1, 1, 'bolt'); UPDATE products SET name = 'hex bolt'", COPY),
    ("INSERT OR REPLACE", "INSERT INTO products (id) VALUES (1)",
     "INSERT INTO reviews VALUES (1, 1, 5); INSERT OR REPLACE INTO reviews VALUES (1, 1, 3)", COUNT),
    ("a chain within one table", "INSERT INTO categories VALUES (1, NULL, 'a', 'a'), (2, 1, 'y', 'a/y'), (3, 2, 'z', 'a/y/z')",
     "UPDATE categories SET name = 'b', path = 'b' WHERE id = 1", PATH),
    ("a link inserted with a wrong copy", "INSERT INTO products (id, name) VALUES (1, 'bolt')",
     "INSERT INTO links VALUES (1, 1, 'nut')", COPY),
    ("a parent inserted after its children", "", "INSERT INTO reviews VALUES (1, 1, 5); INSERT INTO products (id) VALUES (1)", COUNT),
    ("a column forgotten in UPDATE OF", "INSERT INTO products (id) VALUES (1)",
     "INSERT INTO reviews VALUES (1, 1, 5); UPDATE reviews SET stars = 3", SUM),
    ("data from before the triggers", "INSERT INTO products (id) VALUES (1); INSERT INTO reviews VALUES (1, 1, 5)", "", COUNT),
    ("a count set by hand", "INSERT INTO products (id) VALUES (1)", "UPDATE products SET reviews = 99", COUNT),
]

print("SQLite", sqlite3.sqlite_version)
for recursive in False, True:
    print(f"recursive_triggers = {recursive}")
    for name, before, writes, (stored, right) in CASES:
        database = sqlite3.connect(":memory:")
        database.execute(f"PRAGMA recursive_triggers = {recursive}")
        for statements in TABLES, before, TRIGGERS, writes:
            database.executescript(statements)
        answers = [database.execute(query).fetchone()[0] for query in (stored, right)]
        print(f"  {'right' if answers[0] == answers[1] else 'WRONG'}  {name}: stored {answers[0]}, right {answers[1]}")
