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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Side`.
    pub struct SideFields<P> {
        /// Stored as `length`.
        pub length: _odm::Field<f64, _odm::FieldPath<P, Side, 0>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for SideFields<P> {
        const NEW: Self = Self {
            length: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Side {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "length",
                hash: 16866358008026078901u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = SideFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Side",
                    fields: &[
                        _odm::FieldShape {
                            name: "length",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<f64>::DESCRIBED,
                            public: _odm::Some("length"),
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
    impl<D> _odm::RefersWithin<D> for Side {}
    #[automatically_derived]
    impl _odm::Through for Side {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for Side {}
    #[automatically_derived]
    impl _odm::EmbedField for Side {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for Side {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Side {}
    #[automatically_derived]
    impl _odm::Known for Side {
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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Figure`.
    pub struct FigureFields<P> {
        /// The tag: which variant of `Figure` it is.
        pub kind: _odm::Field<
            ::std::string::String,
            _odm::FieldPath<P, Figure, 0>,
            _odm::Plain,
        >,
        /// Stored as `of`.
        pub square: _odm::Field<Side, _odm::FieldPath<P, Figure, 1>, _odm::Plain>,
        /// Stored as `of`.
        pub text: _odm::Field<String, _odm::FieldPath<P, Figure, 1>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for FigureFields<P> {
        const NEW: Self = Self {
            kind: _odm::TypedField::TYPED,
            square: _odm::TypedField::TYPED,
            text: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Figure {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "kind",
                hash: 17265840922154185283u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "of",
                hash: 626105934427877640u64,
                optional: true,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: false,
                opaque: false,
                derived: &[],
                embedded: &[("of", 626105934427877640u64, _odm::Probe::<Side>::OUTLINE)],
            }
        };
        type Fields<P: _odm::Path> = FigureFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Figure",
                fields: &[
                    _odm::FieldShape {
                        name: "kind",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<::std::string::String>::DESCRIBED,
                        public: _odm::Some("kind"),
                        copied: _odm::None,
                        required: false,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Side>::DESCRIBED,
                        .._odm::embed::<Side>("of")
                    },
                    _odm::FieldShape {
                        name: "of",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<String>::DESCRIBED,
                        public: _odm::Some("of"),
                        copied: _odm::None,
                        required: false,
                        rules: &[],
                    },
                ],
            };
            &ONE
        }
        fn schema(types: &mut _odm::SchemaTypes) -> _odm::BsonDocument {
            _odm::variants_schema::<
                Self,
            >(
                types,
                &[
                    _odm::VariantSchema {
                        name: "Square",
                        form: _odm::EnumForm::Adjacent("kind", "of"),
                        content: _odm::Some(_odm::Probe::<Side>::DESCRIBED.schema),
                    },
                    _odm::VariantSchema {
                        name: "Text",
                        form: _odm::EnumForm::Adjacent("kind", "of"),
                        content: _odm::Some(_odm::Probe::<String>::DESCRIBED.schema),
                    },
                ],
                false,
            )
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            false
                || _odm::any_has_checks::<
                    Self,
                >(types, &[_odm::Probe::<Side>::HAS_CHECKS])
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            if let Self::Square { 0: value } = self {
                _odm::Probe::<Side>::NEW.check(value, &at.join("of"), found);
            }
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Figure
    where
        Side: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`text` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::Through for Figure {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for Figure {}
    #[automatically_derived]
    impl _odm::EmbedField for Figure {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for Figure {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Figure {}
    #[automatically_derived]
    impl _odm::Known for Figure {
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
