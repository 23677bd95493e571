// `Document` of `Part`

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
    /// The fields of `Part`.
    pub struct PartFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Part, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `name`.
        pub name: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Part, 1>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for PartFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            name: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Part {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "name",
                hash: 14176396743819860870u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = PartFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Part",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "name",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Part {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Part {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "parts";
        const HASH: ::core::primitive::u64 = 887663944871270597u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Part",
                collection: "parts",
                shape: <Part as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Part>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Part>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Part>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Part> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Part> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Part>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Part {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`name` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Part {
        type Child = Part;
    }
};

// `Embed` of `PartLink`

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
    /// The fields of `PartLink`.
    pub struct PartLinkFields<P> {
        /// Stored as `id`.
        pub id: ::odm::derive::Field<
            Ref<Part>,
            ::odm::derive::FieldPath<P, PartLink, 0>,
            ::odm::derive::Plain,
        >,
        /// Stored as `name`.
        pub name: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, PartLink, 1>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for PartLinkFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            name: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for PartLink {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "id",
                hash: 628021283683842752u64,
                optional: ::odm::derive::Probe::<Ref<Part>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "name",
                hash: 14176396743819860870u64,
                optional: false,
                defaulted: false,
            },
        ];
        const COPIES: &'static [(
            &'static str,
            ::core::primitive::u64,
            ::odm::derive::Copied,
        )] = &[
            (
                "name",
                14176396743819860870u64,
                ::odm::derive::copied::<Part, _>(::odm::derive::fields_of::<Part>().name)
                    .copied_as::<String>()
                    .where_(
                        !::odm::derive::Probe::<String>::RELATED
                            || ::odm::derive::Probe::<String>::EMBEDDED
                            || ::odm::derive::Probe::<String>::SUBSET
                            || ::odm::derive::Probe::<String>::ANCESTORS,
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .where_(
                        !::odm::derive::holds_references(
                            ::odm::derive::Probe::<String>::OUTLINE,
                        ),
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .along(
                        ::odm::derive::beside::<
                            Part,
                            _,
                            _,
                            _,
                        >(::odm::derive::fields_of::<PartLink>().id),
                        ::odm::derive::Declared {
                            none: ::odm::derive::Probe::<String>::NONE,
                            optional: ::odm::derive::Probe::<String>::OPTIONAL,
                            frozen: false,
                            unchecked: false,
                            skipped: false,
                            deferred: false,
                        },
                    ),
            ),
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: true,
                opaque: false,
                derived: &[
                    (
                        "name",
                        14176396743819860870u64,
                        ::odm::derive::copy_reads::<PartLink>(0usize),
                    ),
                ],
                embedded: &[],
            }
        };
        type Fields<P: ::odm::derive::Path> = PartLinkFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "PartLink",
                fields: &[
                    ::odm::derive::reference::<
                        Ref<Part>,
                    >(
                            "id",
                            ::odm::derive::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Ref<Part>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Ref<Part>>::FROM_NOTHING),
                    ::odm::derive::copy::<PartLink>(0usize)
                        .copied(::odm::derive::Probe::<String>::INNER)
                        .of(::odm::derive::Probe::<String>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    const _: () = {
        ::odm::derive::check::<PartLink>(0usize);
    };
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for PartLink
    where
        Ref<Part>: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl ::odm::derive::Linked for PartLink {
        type Reference = Ref<Part>;
        const NAME: &'static str = "id";
        fn reference(&self) -> &Ref<Part> {
            &self.id
        }
    }
    #[automatically_derived]
    impl ::core::convert::From<&<Ref<Part> as ::odm::derive::ReferenceField>::Target>
    for PartLink {
        fn from(
            document: &<Ref<Part> as ::odm::derive::ReferenceField>::Target,
        ) -> Self {
            Self {
                id: ::odm::derive::ReferenceField::to(document),
                name: ::odm::derive::from_source::<
                    _,
                    String,
                >(
                    &::odm::derive::of_original(
                            document,
                            ::odm::derive::copied::<
                                Part,
                                _,
                            >(::odm::derive::fields_of::<Part>().name)
                                .copied_as::<String>(),
                        )
                        .name,
                ),
            }
        }
    }
    #[automatically_derived]
    impl ::core::convert::From<Ref<Part>> for PartLink
    where
        for<'empty> String: ::core::default::Default,
    {
        fn from(reference: Ref<Part>) -> Self {
            Self {
                id: reference,
                name: ::core::default::Default::default(),
            }
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Through for PartLink {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for PartLink {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for PartLink {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for PartLink {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for PartLink {}
    #[automatically_derived]
    impl ::odm::derive::Known for PartLink {
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
