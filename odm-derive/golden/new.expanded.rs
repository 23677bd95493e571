// `Document` of `Ticket`

#[doc(hidden)]
#[allow(
    dead_code,
    deprecated,
    non_camel_case_types,
    non_snake_case,
    private_bounds,
    private_interfaces,
    unreachable_pub,
    unused_imports,
    unused_qualifications
)]
const _: () = {
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Ticket`.
    pub struct TicketFields<P> {
        /// Stored as `_id`.
        pub number: _odm::Field<i64, _odm::FieldPath<P, Ticket, 0>, _odm::Identity>,
        /// Stored as `title`.
        pub title: _odm::Field<String, _odm::FieldPath<P, Ticket, 1>, _odm::Plain>,
        /// Stored as `urgent`.
        pub urgent: _odm::Field<bool, _odm::FieldPath<P, Ticket, 2>, _odm::Plain>,
        /// Stored as `revision`.
        pub revision: _odm::Field<i32, _odm::FieldPath<P, Ticket, 3>, _odm::Version>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for TicketFields<P> {
        const NEW: Self = Self {
            number: _odm::TypedField::TYPED,
            title: _odm::TypedField::TYPED,
            urgent: _odm::TypedField::TYPED,
            revision: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Ticket {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "title",
                hash: 15722393318163439657u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "urgent",
                hash: 9500078418517557744u64,
                optional: false,
                defaulted: true,
            },
            _odm::StoredName {
                text: "revision",
                hash: 15466728656978478680u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = TicketFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Ticket",
                    fields: &[
                        _odm::FieldShape {
                            name: "_id",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i64>::DESCRIBED,
                            public: _odm::Some("_id"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "title",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("title"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "urgent",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<bool>::DESCRIBED,
                            public: _odm::Some("urgent"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                        _odm::FieldShape {
                            name: "revision",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<i32>::DESCRIBED,
                            public: _odm::Some("revision"),
                            copied: _odm::None,
                            required: false,
                            rules: &[],
                        },
                    ],
                }
            }
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Ticket {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Ticket {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Ticket";
        const COLLECTION: &'static str = "tickets";
        const HASH: ::core::primitive::u64 = 14461360829286482370u64;
        fn id(&self) -> &i64 {
            &self.number
        }
        fn model() -> &'static _odm::Model {
            static ONE: _odm::Model = _odm::Model {
                id_of_number: _odm::Some(_odm::stored_id_of_number::<Ticket, NewTicket>),
                version: _odm::Some("revision"),
                .._odm::Probe::<Ticket>::BARE_MODEL
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Ticket> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Ticket> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Ticket>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Ticket {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`title` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::Versioned for Ticket {
        type Version = i32;
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Ticket {
        type Child = Ticket;
    }
    #[automatically_derived]
    impl _odm::Insertable<Ticket> for NewTicket {
        fn id_of_number() -> ::core::option::Option<
            fn(::core::primitive::i64) -> ::core::option::Option<i64>,
        > {
            ::core::option::Option::Some(_odm::id_of_number::<i64>)
        }
    }
};
/// The fields of a new [`Ticket`] that its caller gives; an insert sets the others, and returns the whole.
#[derive(::odm::derive::serde::Serialize, Debug)]
#[serde(crate = "::odm::derive::serde")]
pub struct NewTicket {
    pub title: String,
    #[serde(default)]
    pub urgent: bool,
}
