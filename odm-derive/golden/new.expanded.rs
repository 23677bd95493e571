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
    use ::odm::derive::Unknown as _;
    /// The fields of `Ticket`.
    pub struct TicketFields<P> {
        /// Stored as `_id`.
        pub number: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Ticket, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `title`.
        pub title: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Ticket, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `urgent`.
        pub urgent: ::odm::derive::Field<
            bool,
            ::odm::derive::FieldPath<P, Ticket, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `revision`.
        pub revision: ::odm::derive::Field<
            i32,
            ::odm::derive::FieldPath<P, Ticket, 3>,
            ::odm::derive::Version,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for TicketFields<P> {
        const NEW: Self = Self {
            number: ::odm::derive::Field::NEW,
            title: ::odm::derive::Field::NEW,
            urgent: ::odm::derive::Field::NEW,
            revision: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Ticket {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "title",
                hash: 15722393318163439657u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "urgent",
                hash: 9500078418517557744u64,
                optional: false,
                defaulted: true,
            },
            ::odm::derive::StoredName {
                text: "revision",
                hash: 15466728656978478680u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = TicketFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Ticket",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "title",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "urgent",
                        ::odm::derive::Probe::<bool>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "revision",
                        ::odm::derive::Probe::<i32>::DESCRIBED,
                        false,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Ticket {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Ticket {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "tickets";
        const HASH: ::core::primitive::u64 = 14461360829286482370u64;
        fn id(&self) -> &i64 {
            &self.number
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Ticket",
                collection: "tickets",
                shape: <Ticket as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::Some(
                    ::odm::derive::stored_id_of_number::<Ticket, NewTicket>,
                ),
                version: ::core::option::Option::Some("revision"),
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Ticket>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Ticket>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Ticket>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Ticket> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Ticket> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Ticket>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Ticket {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`title` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::Versioned for Ticket {
        type Version = i32;
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Ticket {
        type Child = Ticket;
    }
    #[automatically_derived]
    impl ::odm::derive::Insertable<Ticket> for NewTicket {
        fn id_of_number() -> ::core::option::Option<
            fn(::core::primitive::i64) -> ::core::option::Option<i64>,
        > {
            ::core::option::Option::Some(::odm::derive::id_of_number::<i64>)
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
