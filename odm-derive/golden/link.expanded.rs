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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Part`.
    pub struct PartFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Part, 0>, _odm::Identity>,
        /// Stored as `name`.
        pub name: _odm::Field<String, _odm::FieldPath<P, Part, 1>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for PartFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            name: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Part {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "name",
                hash: 14176396743819860870u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = PartFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Part",
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
                            name: "name",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("name"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                    ],
                }
            }
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Part {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Part {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Part";
        const COLLECTION: &'static str = "parts";
        const HASH: ::core::primitive::u64 = 887663944871270597u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Part> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Part> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Part>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Part {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`name` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::SubsetItem for Part {
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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `PartLink`.
    pub struct PartLinkFields<P> {
        /// Stored as `id`.
        pub id: _odm::Field<Ref<Part>, _odm::FieldPath<P, PartLink, 0>, _odm::Plain>,
        /// Stored as `name`.
        pub name: _odm::Field<String, _odm::FieldPath<P, PartLink, 1>, _odm::Derived>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for PartLinkFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            name: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for PartLink {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "id",
                hash: 628021283683842752u64,
                optional: _odm::Probe::<Ref<Part>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "name",
                hash: 14176396743819860870u64,
                optional: false,
                defaulted: false,
            },
        ];
        const COPIES: &'static [(&'static str, ::core::primitive::u64, _odm::Copied)] = &[
            (
                "name",
                14176396743819860870u64,
                _odm::copied::<Part, _>(_odm::fields_of::<Part>().name)
                    .copied_as::<String>()
                    .where_(
                        !_odm::Probe::<String>::RELATED
                            || _odm::Probe::<String>::EMBEDDED
                            || _odm::Probe::<String>::SUBSET
                            || _odm::Probe::<String>::ANCESTORS,
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .where_(
                        !_odm::holds_references(_odm::Probe::<String>::OUTLINE),
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .along(
                        _odm::beside::<Part, _, _, _>(_odm::fields_of::<PartLink>().id),
                        _odm::Declared {
                            none: _odm::Probe::<String>::NONE,
                            optional: _odm::Probe::<String>::OPTIONAL,
                            frozen: false,
                            unchecked: false,
                            skipped: false,
                            deferred: false,
                        },
                    ),
            ),
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: true,
                opaque: false,
                derived: &[
                    (
                        "name",
                        14176396743819860870u64,
                        _odm::copy_reads::<PartLink>(0usize),
                    ),
                ],
                embedded: &[],
            }
        };
        type Fields<P: _odm::Path> = PartLinkFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "PartLink",
                fields: &[
                    _odm::FieldShape {
                        described: _odm::Probe::<Ref<Part>>::DESCRIBED,
                        required: !_odm::Probe::<Ref<Part>>::FROM_NOTHING,
                        .._odm::reference::<
                            Ref<Part>,
                        >(
                            "id",
                            _odm::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: false,
                                on_delete: _odm::None,
                                inverse: _odm::None,
                            },
                        )
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<String>::DESCRIBED,
                        .._odm::copy::<PartLink>(0usize)
                            .copied(_odm::Probe::<String>::INNER)
                    },
                ],
            };
            &ONE
        }
    }
    const _: () = {
        _odm::check::<PartLink>(0usize);
    };
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for PartLink
    where
        Ref<Part>: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl _odm::Linked for PartLink {
        type Reference = Ref<Part>;
        const NAME: &'static str = "id";
        fn reference(&self) -> &Ref<Part> {
            &self.id
        }
    }
    #[automatically_derived]
    impl ::core::convert::From<&<Ref<Part> as _odm::ReferenceField>::Target>
    for PartLink {
        fn from(document: &<Ref<Part> as _odm::ReferenceField>::Target) -> Self {
            Self {
                id: _odm::ReferenceField::to(document),
                name: _odm::from_source::<
                    _,
                    String,
                >(
                    &_odm::of_original(
                            document,
                            _odm::copied::<Part, _>(_odm::fields_of::<Part>().name)
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
    impl _odm::Through for PartLink {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for PartLink {}
    #[automatically_derived]
    impl _odm::EmbedField for PartLink {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for PartLink {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for PartLink {}
    #[automatically_derived]
    impl _odm::Known for PartLink {
        const RELATED: bool = true;
        fn schema(types: &mut _odm::SchemaTypes) -> _odm::BsonDocument {
            <Self as _odm::Structure>::schema(types)
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            <Self as _odm::Structure>::has_checks(types)
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            <Self as _odm::Structure>::check(self, at, found);
        }
    }
};
