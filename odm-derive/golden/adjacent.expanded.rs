// `Embed` of `Side`

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
    /// The fields of `Side`.
    pub struct SideFields<P> {
        /// Stored as `length`.
        pub length: ::odm::derive::Field<
            f64,
            ::odm::derive::FieldPath<P, Side, 0>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for SideFields<P> {
        const NEW: Self = Self {
            length: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Side {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "length",
                hash: 16866358008026078901u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = SideFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Side",
                fields: &[
                    ::odm::derive::known(
                        "length",
                        ::odm::derive::Probe::<f64>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Side {}
    #[automatically_derived]
    impl ::odm::derive::Through for Side {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for Side {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for Side {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Side {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Side {}
    #[automatically_derived]
    impl ::odm::derive::Known for Side {
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

// `Embed` of `Figure`

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
    /// The fields of `Figure`.
    pub struct FigureFields<P> {
        /// The tag: which variant of `Figure` it is.
        pub kind: ::odm::derive::Field<
            ::std::string::String,
            ::odm::derive::FieldPath<P, Figure, 0>,
            ::odm::derive::Plain,
        >,
        /// Stored as `of`.
        pub square: ::odm::derive::Field<
            Side,
            ::odm::derive::FieldPath<P, Figure, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `of`.
        pub text: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Figure, 1>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for FigureFields<P> {
        const NEW: Self = Self {
            kind: ::odm::derive::Field::NEW,
            square: ::odm::derive::Field::NEW,
            text: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Figure {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "kind",
                hash: 17265840922154185283u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "of",
                hash: 626105934427877640u64,
                optional: true,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: false,
                opaque: false,
                derived: &[],
                embedded: &[
                    ("of", 626105934427877640u64, ::odm::derive::Probe::<Side>::OUTLINE),
                ],
            }
        };
        type Fields<P: ::odm::derive::Path> = FigureFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Figure",
                fields: &[
                    ::odm::derive::plain("kind")
                        .of(::odm::derive::Probe::<::std::string::String>::DESCRIBED),
                    ::odm::derive::embed::<Side>("of")
                        .of(::odm::derive::Probe::<Side>::DESCRIBED),
                    ::odm::derive::plain("of")
                        .of(::odm::derive::Probe::<String>::DESCRIBED),
                ],
            };
            &ONE
        }
        fn schema(
            types: &mut ::odm::derive::SchemaTypes,
        ) -> ::odm::derive::BsonDocument {
            ::odm::derive::variants_schema::<
                Self,
            >(
                types,
                &[
                    ::odm::derive::VariantSchema {
                        name: "Square",
                        form: ::odm::derive::EnumForm::Adjacent("kind", "of"),
                        content: ::core::option::Option::Some(
                            ::odm::derive::Probe::<Side>::DESCRIBED.schema,
                        ),
                    },
                    ::odm::derive::VariantSchema {
                        name: "Text",
                        form: ::odm::derive::EnumForm::Adjacent("kind", "of"),
                        content: ::core::option::Option::Some(
                            ::odm::derive::Probe::<String>::DESCRIBED.schema,
                        ),
                    },
                ],
                false,
            )
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            false
                || ::odm::derive::any_has_checks::<
                    Self,
                >(types, &[::odm::derive::Probe::<Side>::HAS_CHECKS])
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            if let Self::Square { 0: value } = self {
                ::odm::derive::Probe::<Side>::NEW.check(value, &at.join("of"), found);
            }
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Figure
    where
        Side: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`text` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::Through for Figure {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for Figure {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for Figure {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Figure {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Figure {}
    #[automatically_derived]
    impl ::odm::derive::Known for Figure {
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
