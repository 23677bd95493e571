// `Embed` of `Grade`

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
    /// The fields of `Grade`.
    pub struct GradeFields<P> {
        __unused: _odm::Phantom<fn() -> (P, Grade)>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for GradeFields<P> {
        const NEW: Self = Self { __unused: _odm::Phantom };
    }
    #[automatically_derived]
    impl _odm::Structure for Grade {
        const NAMES: &'static [_odm::StoredName] = &[];
        type Fields<P: _odm::Path> = GradeFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Grade",
                    fields: &[],
                }
            }
        }
        fn schema(types: &mut _odm::SchemaTypes) -> _odm::BsonDocument {
            _odm::variants_schema::<
                Self,
            >(
                types,
                &[
                    _odm::VariantSchema {
                        name: "Fair",
                        form: _odm::EnumForm::External,
                        content: _odm::None,
                    },
                    _odm::VariantSchema {
                        name: "Good",
                        form: _odm::EnumForm::External,
                        content: _odm::None,
                    },
                ],
                false,
            )
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Grade {}
    #[automatically_derived]
    impl _odm::Ordered for Grade {
        type Present = Self;
    }
    #[automatically_derived]
    impl _odm::Through for Grade {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for Grade {}
    #[automatically_derived]
    impl _odm::EmbedField for Grade {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for Grade {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Grade {}
    #[automatically_derived]
    impl _odm::Known for Grade {
        const RELATED: bool = false;
        const OPERAND: ::core::option::Option<_odm::Operand> = _odm::Some(
            _odm::Operand::names(&["Fair", "Good"], true),
        );
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

// `Embed` of `Shape`

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
    /// The fields of `Shape`.
    pub struct ShapeFields<P> {
        /// The tag: which variant of `Shape` it is.
        pub r#type: _odm::Field<
            ::std::string::String,
            _odm::FieldPath<P, Shape, 0>,
            _odm::Plain,
        >,
        /// Its fields are stored in its place.
        pub circle: _odm::Flattened<ShapeCircle, P>,
        /// Its fields are stored in its place.
        pub square: _odm::Flattened<ShapeSquare, P>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ShapeFields<P> {
        const NEW: Self = Self {
            r#type: _odm::TypedField::TYPED,
            circle: _odm::TypedField::TYPED,
            square: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Shape {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "type",
                hash: 12075340201627130925u64,
                optional: false,
                defaulted: false,
            },
        ];
        const FLATTENED: &'static [&'static _odm::ShownNames] = &[
            _odm::shown::<ShapeCircle>(),
            _odm::shown::<ShapeSquare>(),
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: false,
                opaque: false,
                derived: &[],
                embedded: &[
                    ("", 14695981039346656037u64, _odm::outline::<ShapeCircle>()),
                    ("", 14695981039346656037u64, _odm::outline::<ShapeSquare>()),
                ],
            }
        };
        type Fields<P: _odm::Path> = ShapeFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Shape",
                fields: &[
                    _odm::FieldShape {
                        name: "type",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<::std::string::String>::DESCRIBED,
                        public: _odm::Some("type"),
                        copied: _odm::None,
                        required: false,
                        rules: &[],
                    },
                    {
                        ::core::assert!(
                            _odm::is_flat:: < ShapeCircle > (),
                            "only an embedded value, or an `Option` of one, can be flattened"
                        );
                        _odm::embed::<ShapeCircle>("")
                    },
                    {
                        ::core::assert!(
                            _odm::is_flat:: < ShapeSquare > (),
                            "only an embedded value, or an `Option` of one, can be flattened"
                        );
                        _odm::embed::<ShapeSquare>("")
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
                        name: "circle",
                        form: _odm::EnumForm::Internal("type"),
                        content: _odm::Some(<ShapeCircle as _odm::Structure>::schema),
                    },
                    _odm::VariantSchema {
                        name: "square",
                        form: _odm::EnumForm::Internal("type"),
                        content: _odm::Some(<ShapeSquare as _odm::Structure>::schema),
                    },
                    _odm::VariantSchema {
                        name: "nothing",
                        form: _odm::EnumForm::Internal("type"),
                        content: _odm::None,
                    },
                ],
                false,
            )
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            false
                || _odm::any_has_checks::<
                    Self,
                >(
                    types,
                    &[
                        <ShapeCircle as _odm::Structure>::has_checks,
                        <ShapeSquare as _odm::Structure>::has_checks,
                    ],
                )
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {}
    }
    /// What is in `Shape::Circle`.
    pub struct ShapeCircle(_odm::Phantom<fn() -> Shape>);
    /// The fields of `Shape::Circle`.
    pub struct ShapeCircleFields<P> {
        /// Stored as `theRadius`.
        pub the_radius: _odm::Field<
            f64,
            _odm::FieldPath<P, ShapeCircle, 0>,
            _odm::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ShapeCircleFields<P> {
        const NEW: Self = Self {
            the_radius: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for ShapeCircle {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "theRadius",
                hash: 1798185780897081058u64,
                optional: true,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = ShapeCircleFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Shape::Circle",
                    fields: &[
                        _odm::FieldShape {
                            name: "theRadius",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<f64>::DESCRIBED,
                            public: _odm::Some("theRadius"),
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
    impl _odm::Through for ShapeCircle {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for ShapeCircle {}
    #[automatically_derived]
    impl _odm::EmbedField for ShapeCircle {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for ShapeCircle {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for ShapeCircle {}
    #[automatically_derived]
    impl _odm::Known for ShapeCircle {
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
    /// What is in `Shape::Square`.
    pub struct ShapeSquare(_odm::Phantom<fn() -> Shape>);
    /// The fields of `Shape::Square`.
    pub struct ShapeSquareFields<P> {
        /// Stored as `sideLength`.
        pub side_length: _odm::Field<
            f64,
            _odm::FieldPath<P, ShapeSquare, 0>,
            _odm::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ShapeSquareFields<P> {
        const NEW: Self = Self {
            side_length: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for ShapeSquare {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "sideLength",
                hash: 10264167569309936954u64,
                optional: true,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = ShapeSquareFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Shape::Square",
                    fields: &[
                        _odm::FieldShape {
                            name: "sideLength",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<f64>::DESCRIBED,
                            public: _odm::Some("sideLength"),
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
    impl _odm::Through for ShapeSquare {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for ShapeSquare {}
    #[automatically_derived]
    impl _odm::EmbedField for ShapeSquare {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for ShapeSquare {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for ShapeSquare {}
    #[automatically_derived]
    impl _odm::Known for ShapeSquare {
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
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Shape {}
    #[automatically_derived]
    impl _odm::Through for Shape {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for Shape {}
    #[automatically_derived]
    impl _odm::EmbedField for Shape {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for Shape {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Shape {}
    #[automatically_derived]
    impl _odm::Known for Shape {
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
