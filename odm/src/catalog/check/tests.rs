use super::*;
use crate::catalog::{
    Along, Cardinality, Children, CountDefinition, DeclaredCollection, Edge, OnDelete, Split,
    WriteFields,
};

fn collection(name: &str, version: Option<&str>) -> DeclaredCollection {
    DeclaredCollection {
        write_fields: WriteFields {
            version: version.map(str::to_owned),
            ..WriteFields::default()
        },
        ..DeclaredCollection::new(name, name)
    }
}

fn edge(path: &str) -> Edge {
    Edge {
        from: "things".to_owned(),
        path: path.to_owned(),
        to: "regions".to_owned(),
        cardinality: Cardinality::One,
        list: None,
        unchecked: false,
        on_delete: OnDelete::Restrict,
        inverse: None,
    }
}

fn split(hot: &str, path: &str) -> Split {
    Split {
        hot: hot.to_owned(),
        path: path.to_owned(),
        cold: "details".to_owned(),
        key: "of".to_owned(),
        own_id: false,
        optional: false,
    }
}

fn copy(within: &str, name: &str) -> DerivedField {
    DerivedField::from(CopyDefinition {
        holder: "things".to_owned(),
        within: within.to_owned(),
        name: name.to_owned(),
        source: "regions".to_owned(),
        value: "name".to_owned(),
        along: Along::Local("region".to_owned()),
        frozen: false,
        optional: false,
        deferred: false,
    })
}

fn count(path: &str) -> DerivedField {
    DerivedField::from(CountDefinition(Children {
        parent: "things".to_owned(),
        path: path.to_owned(),
        child: "regions".to_owned(),
        reference: "thing".to_owned(),
        filter: Default::default(),
        deferred: false,
    }))
}

/// The merged declarations of two programs that each know a part of the fields.
fn merged(one: Relations, other: Relations) -> String {
    for alone in [&one, &other] {
        check(alone).unwrap();
    }
    let mut all = one.clone();
    all.merge(other.clone()).unwrap();
    let mut reversed = other;
    reversed.merge(one).unwrap();
    check(&reversed).unwrap_err();
    check(&all).unwrap_err().to_string()
}

fn with_version(path: &str) -> Relations {
    Relations {
        collections: vec![collection("things", Some(path))],
        ..Relations::default()
    }
}

fn with_edge(path: &str) -> Relations {
    Relations {
        edges: vec![edge(path)],
        ..Relations::default()
    }
}

fn with_split(hot: &str, path: &str) -> Relations {
    Relations {
        splits: vec![split(hot, path)],
        ..Relations::default()
    }
}

fn with(derived: DerivedField) -> Relations {
    Relations {
        derived: vec![derived],
        ..Relations::default()
    }
}

#[test]
fn fields_that_two_programs_declare_for_different_ends_do_not_overlap() {
    for (one, other, fields) in [
        (
            with(copy("", "home")),
            with(copy("home", "city")),
            "`things.home` is derived, and `things.home.city` is derived",
        ),
        (
            with(count("n")),
            with_version("n"),
            "`things.n` is the version",
        ),
        (
            with(count("detail.n")),
            with_split("things", "detail"),
            "`things.detail` is a cold part",
        ),
        (
            with_edge("detail.region"),
            with_split("things", "detail"),
            "`things.detail.region` is a reference",
        ),
        (
            with(copy("", "home")),
            with_edge("home.id"),
            "`things.home.id` is a reference",
        ),
        (
            with_version("region"),
            with_edge("region"),
            "`things.region` is the version",
        ),
    ] {
        let message = merged(one, other);
        assert!(
            message.starts_with("overlapping fields: ") && message.contains(fields),
            "{message}"
        );
    }
    let mut both = with_edge("detail.region");
    both.merge(with_edge("detail")).unwrap();
    check(&both).unwrap();
}

#[test]
fn no_copy_follows_a_reference_backwards_out_of_a_cold_part() {
    let names = DerivedField::from(CopyDefinition {
        holder: "regions".to_owned(),
        within: String::new(),
        name: "names".to_owned(),
        source: "things".to_owned(),
        value: "name".to_owned(),
        along: Along::Reverse("detail.region".to_owned()),
        frozen: false,
        optional: false,
        deferred: false,
    });
    let message = merged(with(names), with_split("things", "detail"));
    assert!(
        message.contains("`regions.names` reads `things.detail.region`"),
        "{message}"
    );
}

#[test]
fn two_programs_do_not_store_different_cold_parts_in_one_collection() {
    let message = merged(
        with_split("things", "detail"),
        with_split("others", "detail"),
    );
    assert!(
        message.contains("`things.detail` and `others.detail` are both stored in `details`"),
        "{message}"
    );
}

#[test]
fn no_relation_reads_a_field_whose_name_is_a_number() {
    let of = |value: &str| {
        DerivedField::from(CopyDefinition {
            value: value.to_owned(),
            holder: "things".to_owned(),
            within: String::new(),
            name: "copy".to_owned(),
            source: "regions".to_owned(),
            along: Along::Local("region".to_owned()),
            frozen: false,
            optional: false,
            deferred: false,
        })
    };
    for relations in [
        with_edge("links.0"),
        with_split("things", "7"),
        with_version("12"),
        with(of("0")),
        with(of("1.name")),
        with(copy("2", "name")),
    ] {
        let message = check(&relations).unwrap_err().to_string();
        assert!(message.starts_with("numbered field: "), "{message}");
    }
    check(&with(of("a0"))).unwrap();
}
