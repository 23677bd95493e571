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
    use ::odm::derive::Unknown as _;
    /// The fields of `Grade`.
    pub struct GradeFields<P> {
        __unused: ::odm::derive::Phantom<fn() -> (P, Grade)>,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for GradeFields<P> {
        const NEW: Self = Self {
            __unused: ::odm::derive::Phantom,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Grade {
        const NAMES: &'static [::odm::derive::StoredName] = &[];
        type Fields<P: ::odm::derive::Path> = GradeFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Grade",
                fields: &[],
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
                        name: "Fair",
                        form: ::odm::derive::EnumForm::External,
                        content: ::core::option::Option::None,
                    },
                    ::odm::derive::VariantSchema {
                        name: "Good",
                        form: ::odm::derive::EnumForm::External,
                        content: ::core::option::Option::None,
                    },
                ],
                false,
            )
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Grade {}
    #[automatically_derived]
    impl ::odm::derive::Ordered for Grade {
        type Present = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Through for Grade {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for Grade {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for Grade {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Grade {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Grade {}
    #[automatically_derived]
    impl ::odm::derive::Known for Grade {
        const RELATED: bool = false;
        const OPERAND: ::core::option::Option<::odm::derive::Operand> = ::core::option::Option::Some(
            ::odm::derive::Operand::names(&["Fair", "Good"], true),
        );
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
    use ::odm::derive::Unknown as _;
    /// The fields of `Shape`.
    pub struct ShapeFields<P> {
        /// The tag: which variant of `Shape` it is.
        pub r#type: ::odm::derive::Field<
            ::std::string::String,
            ::odm::derive::FieldPath<P, Shape, 0>,
            ::odm::derive::Plain,
        >,
        /// Its fields are stored in its place.
        pub circle: ::odm::derive::Flattened<ShapeCircle, P>,
        /// Its fields are stored in its place.
        pub square: ::odm::derive::Flattened<ShapeSquare, P>,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ShapeFields<P> {
        const NEW: Self = Self {
            r#type: ::odm::derive::Field::NEW,
            circle: ::odm::derive::Flattened::NEW,
            square: ::odm::derive::Flattened::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Shape {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "type",
                hash: 12075340201627130925u64,
                optional: false,
                defaulted: false,
            },
        ];
        const FLATTENED: &'static [&'static ::odm::derive::ShownNames] = &[
            ::odm::derive::shown::<ShapeCircle>(),
            ::odm::derive::shown::<ShapeSquare>(),
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: false,
                opaque: false,
                derived: &[],
                embedded: &[
                    (
                        "",
                        14695981039346656037u64,
                        ::odm::derive::outline::<ShapeCircle>(),
                    ),
                    (
                        "",
                        14695981039346656037u64,
                        ::odm::derive::outline::<ShapeSquare>(),
                    ),
                ],
            }
        };
        type Fields<P: ::odm::derive::Path> = ShapeFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Shape",
                fields: &[
                    ::odm::derive::plain("type")
                        .of(::odm::derive::Probe::<::std::string::String>::DESCRIBED),
                    {
                        ::core::assert!(
                            ::odm::derive::is_flat:: < ShapeCircle > (),
                            "only an embedded value, or an `Option` of one, can be flattened"
                        );
                        ::odm::derive::embed::<ShapeCircle>("")
                    },
                    {
                        ::core::assert!(
                            ::odm::derive::is_flat:: < ShapeSquare > (),
                            "only an embedded value, or an `Option` of one, can be flattened"
                        );
                        ::odm::derive::embed::<ShapeSquare>("")
                    },
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
                        name: "circle",
                        form: ::odm::derive::EnumForm::Internal("type"),
                        content: ::core::option::Option::Some(
                            <ShapeCircle as ::odm::derive::Structure>::schema,
                        ),
                    },
                    ::odm::derive::VariantSchema {
                        name: "square",
                        form: ::odm::derive::EnumForm::Internal("type"),
                        content: ::core::option::Option::Some(
                            <ShapeSquare as ::odm::derive::Structure>::schema,
                        ),
                    },
                    ::odm::derive::VariantSchema {
                        name: "nothing",
                        form: ::odm::derive::EnumForm::Internal("type"),
                        content: ::core::option::Option::None,
                    },
                ],
                false,
            )
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            false
                || ::odm::derive::any_has_checks::<
                    Self,
                >(
                    types,
                    &[
                        <ShapeCircle as ::odm::derive::Structure>::has_checks,
                        <ShapeSquare as ::odm::derive::Structure>::has_checks,
                    ],
                )
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {}
    }
    /// What is in `Shape::Circle`.
    pub struct ShapeCircle(::odm::derive::Phantom<fn() -> Shape>);
    /// The fields of `Shape::Circle`.
    pub struct ShapeCircleFields<P> {
        /// Stored as `theRadius`.
        pub the_radius: ::odm::derive::Field<
            f64,
            ::odm::derive::FieldPath<P, ShapeCircle, 0>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ShapeCircleFields<P> {
        const NEW: Self = Self {
            the_radius: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for ShapeCircle {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "theRadius",
                hash: 1798185780897081058u64,
                optional: true,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = ShapeCircleFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Shape::Circle",
                fields: &[
                    ::odm::derive::known(
                        "theRadius",
                        ::odm::derive::Probe::<f64>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Through for ShapeCircle {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for ShapeCircle {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for ShapeCircle {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for ShapeCircle {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for ShapeCircle {}
    #[automatically_derived]
    impl ::odm::derive::Known for ShapeCircle {
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
    /// What is in `Shape::Square`.
    pub struct ShapeSquare(::odm::derive::Phantom<fn() -> Shape>);
    /// The fields of `Shape::Square`.
    pub struct ShapeSquareFields<P> {
        /// Stored as `sideLength`.
        pub side_length: ::odm::derive::Field<
            f64,
            ::odm::derive::FieldPath<P, ShapeSquare, 0>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ShapeSquareFields<P> {
        const NEW: Self = Self {
            side_length: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for ShapeSquare {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "sideLength",
                hash: 10264167569309936954u64,
                optional: true,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = ShapeSquareFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Shape::Square",
                fields: &[
                    ::odm::derive::known(
                        "sideLength",
                        ::odm::derive::Probe::<f64>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Through for ShapeSquare {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for ShapeSquare {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for ShapeSquare {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for ShapeSquare {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for ShapeSquare {}
    #[automatically_derived]
    impl ::odm::derive::Known for ShapeSquare {
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
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Shape {}
    #[automatically_derived]
    impl ::odm::derive::Through for Shape {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for Shape {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for Shape {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Shape {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Shape {}
    #[automatically_derived]
    impl ::odm::derive::Known for Shape {
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
