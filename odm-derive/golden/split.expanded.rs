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
    use ::odm::derive::Unknown as _;
    /// The fields of `Movie`.
    pub struct MovieFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Movie, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `title`.
        pub title: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Movie, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `details`.
        pub details: ::odm::derive::Field<
            Cold<Details>,
            ::odm::derive::ColdPath<::odm::derive::FieldPath<P, Movie, 2>>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for MovieFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            title: ::odm::derive::Field::NEW,
            details: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Movie {
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
                text: "details",
                hash: 13353550034922503269u64,
                optional: ::odm::derive::Probe::<Cold<Details>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: false,
                opaque: false
                    || ::odm::derive::holds_opaque(
                        ::odm::derive::Probe::<Cold<Details>>::COLD,
                    ),
                derived: &[],
                embedded: &[],
            }
        };
        type Fields<P: ::odm::derive::Path> = MovieFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Movie",
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
                    ::odm::derive::split::<
                        Cold<Details>,
                    >("details", "movie_details", "movie_id", false),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Movie {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Movie {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "movies";
        const HASH: ::core::primitive::u64 = 1262771245238922164u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Movie",
                collection: "movies",
                shape: <Movie as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Movie>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Movie>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Movie>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Movie> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Movie> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Movie>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Movie
    where
        Cold<Details>: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`title` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Movie {
        type Child = Movie;
    }
    #[automatically_derived]
    impl<
        T,
    > ::odm::derive::HasCold<
        ::odm::derive::ColdPath<
            ::odm::derive::FieldPath<::odm::derive::Root<Movie>, Movie, 2>,
        >,
        T,
    > for Movie
    where
        Cold<Details>: ::odm::derive::ColdOf<T>,
    {
        fn cold(&mut self) -> &mut ::odm::derive::Cold<T> {
            ::odm::derive::ColdOf::cold(&mut self.details)
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
    use ::odm::derive::Unknown as _;
    /// The fields of `Details`.
    pub struct DetailsFields<P> {
        /// Stored as `plot`.
        pub plot: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Details, 0>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for DetailsFields<P> {
        const NEW: Self = Self {
            plot: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Details {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "plot",
                hash: 11953210977900513794u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = DetailsFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Details",
                fields: &[
                    ::odm::derive::known(
                        "plot",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Details {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`plot` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::Through for Details {
        type To = Self;
    }
    #[automatically_derived]
    impl ::odm::derive::Embed for Details {}
    #[automatically_derived]
    impl ::odm::derive::EmbedField for Details {
        type Value = Self;
        const CONTAINER: ::odm::derive::Container = ::odm::derive::Container::One;
        type Parent = ::odm::derive::NoParent;
        type ParentPath<P: ::odm::derive::Path> = P;
        type ParentCardinality = ();
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Details {
        type Key = ::odm::derive::NoKey;
        type StoredKey = ::odm::derive::NoKey;
    }
    #[automatically_derived]
    impl ::odm::derive::formula::FormulaEquated for Details {}
    #[automatically_derived]
    impl ::odm::derive::Known for Details {
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
