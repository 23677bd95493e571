// `Document` of `Order`

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
    /// The fields of `Order`.
    pub struct OrderFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Order, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `cents`.
        pub cents: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Order, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `discount`.
        pub discount: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Order, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `notes`.
        pub notes: ::odm::derive::Field<
            Vec<Note>,
            ::odm::derive::FieldPath<P, Order, 3>,
            ::odm::derive::Plain,
        >,
        /// Stored as `due`.
        pub due: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Order, 4>,
            ::odm::derive::Derived,
        >,
        /// Stored as `urgent`.
        pub urgent: ::odm::derive::Field<
            bool,
            ::odm::derive::FieldPath<P, Order, 5>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for OrderFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            cents: ::odm::derive::Field::NEW,
            discount: ::odm::derive::Field::NEW,
            notes: ::odm::derive::Field::NEW,
            due: ::odm::derive::Field::NEW,
            urgent: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Order {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "cents",
                hash: 2179065326846402292u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "discount",
                hash: 13847152100568682270u64,
                optional: false,
                defaulted: true,
            },
            ::odm::derive::StoredName {
                text: "notes",
                hash: 4652337650770631594u64,
                optional: ::odm::derive::Probe::<Vec<Note>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "due",
                hash: 14583848670718103765u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "urgent",
                hash: 9500078418517557744u64,
                optional: false,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: false,
                opaque: false,
                derived: &[
                    (
                        "due",
                        14583848670718103765u64,
                        ::odm::derive::DerivedReads {
                            paths: &[
                                ::odm::derive::sort_path(
                                    ::odm::derive::fields_of::<Order>().cents,
                                ),
                                ::odm::derive::sort_path(
                                    ::odm::derive::fields_of::<Order>().discount,
                                ),
                            ],
                            ..::odm::derive::child_reads::<Order>()
                        },
                    ),
                    (
                        "urgent",
                        9500078418517557744u64,
                        ::odm::derive::DerivedReads {
                            paths: &[
                                ::odm::derive::sort_path(
                                    ::odm::derive::fields_of::<Order>().notes,
                                ),
                            ],
                            ..::odm::derive::child_reads::<Order>()
                        },
                    ),
                ],
                embedded: &[
                    (
                        "notes",
                        4652337650770631594u64,
                        ::odm::derive::Probe::<Vec<Note>>::OUTLINE,
                    ),
                ],
            }
        };
        type Fields<P: ::odm::derive::Path> = OrderFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Order",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "cents",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::known(
                        "discount",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::embed::<Vec<Note>>("notes")
                        .of(::odm::derive::Probe::<Vec<Note>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Vec<Note>>::FROM_NOTHING),
                    ::odm::derive::computed::<
                        i64,
                        _,
                        _,
                    >(
                            "due",
                            |__document: &Order| -> i64 {
                                ::odm::derive::formula::number(
                                    ::odm::derive::formula::copied(&__document.cents),
                                )
                                    - ::odm::derive::formula::number(
                                        ::odm::derive::formula::ordered(
                                                ::odm::derive::formula::copied(&__document.discount),
                                            )
                                            .min(
                                                ::odm::derive::formula::number(
                                                    ::odm::derive::formula::copied(&__document.cents),
                                                ) / ::odm::derive::formula::number(2),
                                            ),
                                    )
                            },
                            || ::odm::derive::formula::Expression::Call(
                                ::odm::derive::formula::Function::Subtract,
                                ::std::vec![
                                    ::odm::derive::formula::field(::odm::derive::fields_of:: <
                                    Order > ().cents),
                                    ::odm::derive::formula::Expression::Call(::odm::derive::formula::Function::Min,
                                    ::std::vec![::odm::derive::formula::defaulted_field(::odm::derive::fields_of::
                                    < Order > ().discount, ::core::default::Default::default),
                                    ::odm::derive::formula::Expression::Call(::odm::derive::formula::Function::Divide,
                                    ::std::vec![::odm::derive::formula::field(::odm::derive::fields_of::
                                    < Order > ().cents),
                                    ::odm::derive::formula::Expression::Integer(2i64,
                                    ::core::option::Option::None)],)],)
                                ],
                            ),
                        )
                        .of(::odm::derive::Probe::<i64>::DESCRIBED),
                    ::odm::derive::computed::<
                        bool,
                        _,
                        _,
                    >(
                            "urgent",
                            |__document: &Order| -> bool {
                                ::odm::derive::formula::iterator(
                                        ::odm::derive::formula::list(&__document.notes).iter(),
                                    )
                                    .any(|note| {
                                        ::odm::derive::formula::boolean(
                                            ::odm::derive::formula::copied(&note.urgent),
                                        )
                                            && ::odm::derive::formula::boolean(
                                                *::odm::derive::formula::equated(&note.text)
                                                    != *::odm::derive::formula::equated(&"done"),
                                            )
                                    })
                            },
                            || ::odm::derive::formula::Expression::Call(
                                ::odm::derive::formula::Function::Any,
                                ::std::vec![
                                    ::odm::derive::formula::field(::odm::derive::fields_of:: <
                                    Order > ().notes),
                                    ::odm::derive::formula::Expression::Call(::odm::derive::formula::Function::And,
                                    ::std::vec![::odm::derive::formula::field_of(0usize,
                                    ::odm::derive::fields_of:: < Order > ().notes,
                                    ::odm::derive::step(::odm::derive::fields_of:: < Order > ()
                                    .notes).urgent),
                                    ::odm::derive::formula::Expression::Call(::odm::derive::formula::Function::NotEqual,
                                    ::std::vec![::odm::derive::formula::field_of(0usize,
                                    ::odm::derive::fields_of:: < Order > ().notes,
                                    ::odm::derive::step(::odm::derive::fields_of:: < Order > ()
                                    .notes).text), ::odm::derive::formula::constant(&
                                    "done")],)],)
                                ],
                            ),
                        )
                        .of(::odm::derive::Probe::<bool>::DESCRIBED),
                ],
            };
            &ONE
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            false
                || ::odm::derive::any_has_checks::<
                    Self,
                >(types, &[::odm::derive::Probe::<Vec<Note>>::HAS_CHECKS])
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            ::odm::derive::Probe::<Vec<Note>>::NEW
                .check(&self.notes, &at.join("notes"), found);
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Order {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Order {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "orders";
        const HASH: ::core::primitive::u64 = 5169432582064972u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Order",
                collection: "orders",
                shape: <Order as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Order>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Order>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Order>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Order> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Order> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Order>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Order
    where
        Vec<Note>: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl<X, K> ::odm::derive::ChildOf<X, K, 0usize> for Order
    where
        Vec<Note>: ::odm::derive::ParentIn<X, K>,
    {
        const PATH: &'static str = <<Vec<
            Note,
        > as ::odm::derive::ParentIn<
            X,
            K,
        >>::ParentPath<
            ::odm::derive::FieldPath<::odm::derive::Root<Order>, Order, 3>,
        > as ::odm::derive::Path>::TEXT;
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Order {
        type Child = Order;
    }
};

// `Embed` of `Note`

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
    /// The fields of `Note`.
    pub struct NoteFields<P> {
        /// Stored as `text`.
        pub text: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Note, 0>,
            ::odm::derive::Plain,
        >,
        /// Stored as `urgent`.
        pub urgent: ::odm::derive::Field<
            bool,
            ::odm::derive::FieldPath<P, Note, 1>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for NoteFields<P> {
        const NEW: Self = Self {
            text: ::odm::derive::Field::NEW,
            urgent: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Note {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "text",
                hash: 18015793717152399486u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "urgent",
                hash: 9500078418517557744u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = NoteFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Note",
                fields: &[
                    ::odm::derive::known(
                        "text",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::computed::<
                        bool,
                        _,
                        _,
                    >(
                            "urgent",
                            |__document: &Note| -> bool {
                                ::odm::derive::formula::text(&__document.text)
                                    .starts_with(::odm::derive::formula::pattern("!"))
                            },
                            || ::odm::derive::formula::Expression::Call(
                                ::odm::derive::formula::Function::StartsWith,
                                ::std::vec![
                                    ::odm::derive::formula::field(::odm::derive::fields_of:: <
                                    Note > ().text), ::odm::derive::formula::constant(& "!")
                                ],
                            ),
                        )
                        .of(::odm::derive::Probe::<bool>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Note {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`text` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::Through for Note {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for Note {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for Note {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Note {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Note {}
    #[automatically_derived]
    impl ::odm::derive::Known for Note {
        const RELATED: bool = true;
        fn schema(
            types: &mut ::odm::derive::SchemaTypes,
        ) -> ::odm::derive::BsonDocument {
            <Self as ::odm::derive::Structure>::schema(types)
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            <Self as ::odm::derive::Structure>::has_checks(types)
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            <Self as ::odm::derive::Structure>::check(self, at, found);
        }
    }
};
