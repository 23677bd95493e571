use mongodb::bson::{Bson, doc};

use super::{Cells, Table, show, size};

#[test]
fn columns_are_the_fields_of_all_rows_with_the_id_first() {
    let rows = [
        doc! { "name": "nut", "_id": 1 },
        doc! { "_id": 12, "qty": 5 },
    ];
    let table = Table::of(&rows, Cells::Stored, 80);
    assert_eq!(table.head(Cells::Stored), "_id  name  qty");
    assert_eq!(table.row(&rows[0], Cells::Stored), "  1  nut");
    assert_eq!(table.row(&rows[1], Cells::Stored), " 12          5");
}

#[test]
fn wide_columns_are_cut_and_columns_without_room_are_left_out() {
    let rows = [doc! { "a": "x".repeat(50), "b": "y".repeat(50), "c": "z".repeat(50) }];
    let table = Table::of(&rows, Cells::Stored, 30);
    assert_eq!(
        (
            table.row(&rows[0], Cells::Stored).chars().count(),
            table.left_out()
        ),
        (30, 0)
    );
    let table = Table::of(&rows, Cells::Stored, 20);
    assert_eq!(
        (table.head(Cells::Stored).as_str(), table.left_out()),
        ("a         b", 1)
    );
}

#[test]
fn a_text_cannot_command_the_terminal() {
    assert_eq!(
        show(&Bson::String("\u{1b}[31mred\n".into())),
        "\\u{1b}[31mred\\n"
    );
}

#[test]
fn sizes_have_units() {
    assert_eq!(
        [size(1023), size(1536), size(5 << 30)],
        ["1023 B", "1.5 KiB", "5.0 GiB"]
    );
}
