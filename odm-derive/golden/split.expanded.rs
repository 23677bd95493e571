// `Document` of `Movie`

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
    /// The fields of `Movie`.
    pub struct MovieFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Movie, 0>, _odm::Identity>,
        /// Stored as `title`.
        pub title: _odm::Field<String, _odm::FieldPath<P, Movie, 1>, _odm::Plain>,
        /// Stored as `details`.
        pub details: _odm::Field<
            Cold<Details>,
            _odm::ColdPath<_odm::FieldPath<P, Movie, 2>>,
            _odm::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for MovieFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            title: _odm::TypedField::TYPED,
            details: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Movie {
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
                text: "details",
                hash: 13353550034922503269u64,
                optional: _odm::Probe::<Cold<Details>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: false,
                opaque: false || _odm::holds_opaque(_odm::Probe::<Cold<Details>>::COLD),
                derived: &[],
                embedded: &[],
            }
        };
        type Fields<P: _odm::Path> = MovieFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Movie",
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
                    _odm::split::<
                        Cold<Details>,
                    >("details", "movie_details", "movie_id", false),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Movie {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Movie {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Movie";
        const COLLECTION: &'static str = "movies";
        const HASH: ::core::primitive::u64 = 1262771245238922164u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Movie> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Movie> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Movie>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Movie
    where
        Cold<Details>: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`title` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::SubsetItem for Movie {
        type Child = Movie;
    }
    #[automatically_derived]
    impl<
        T,
    > _odm::HasCold<_odm::ColdPath<_odm::FieldPath<_odm::Root<Movie>, Movie, 2>>, T>
    for Movie
    where
        Cold<Details>: _odm::ColdOf<T>,
    {
        fn cold(&mut self) -> &mut _odm::Cold<T> {
            _odm::ColdOf::cold(&mut self.details)
        }
    }
};

// `Embed` of `Details`

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
    /// The fields of `Details`.
    pub struct DetailsFields<P> {
        /// Stored as `plot`.
        pub plot: _odm::Field<String, _odm::FieldPath<P, Details, 0>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for DetailsFields<P> {
        const NEW: Self = Self {
            plot: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Details {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "plot",
                hash: 11953210977900513794u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = DetailsFields<P>;
        fn shape() -> &'static _odm::Shape {
            const {
                &_odm::Shape {
                    name: "Details",
                    fields: &[
                        _odm::FieldShape {
                            name: "plot",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<String>::DESCRIBED,
                            public: _odm::Some("plot"),
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
    impl<D> _odm::RefersWithin<D> for Details {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`plot` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::Through for Details {
        type To = Self;
    }
    #[automatically_derived]
    impl _odm::Embed for Details {}
    #[automatically_derived]
    impl _odm::EmbedField for Details {
        type Value = Self;
        const CONTAINER: _odm::Container = _odm::Container::One;
        type Parent = _odm::NoParent;
        type ParentPath<P: _odm::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl _odm::Referable for Details {
        type Key = _odm::NoKey;
        type StoredKey = _odm::NoKey;
    }
    #[automatically_derived]
    impl _odm::formula::FormulaEquated for Details {}
    #[automatically_derived]
    impl _odm::Known for Details {
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
