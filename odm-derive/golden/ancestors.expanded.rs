// `Document` of `Category`

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
    /// The fields of `Category`.
    pub struct CategoryFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Category, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `parent`.
        pub parent: ::odm::derive::Field<
            Option<Ref<Category>>,
            ::odm::derive::FieldPath<P, Category, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `ancestorIds`.
        pub path: ::odm::derive::Field<
            Ancestors<Category>,
            ::odm::derive::FieldPath<P, Category, 2>,
            ::odm::derive::Derived,
        >,
        /// Stored as `shelf`.
        pub shelf: ::odm::derive::Field<
            Option<Ref<Shelf>>,
            ::odm::derive::FieldPath<P, Category, 3>,
            ::odm::derive::Plain,
        >,
        /// Stored as `shelves`.
        pub shelves: ::odm::derive::Field<
            Ancestors<Shelf>,
            ::odm::derive::FieldPath<P, Category, 4>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for CategoryFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            parent: ::odm::derive::Field::NEW,
            path: ::odm::derive::Field::NEW,
            shelf: ::odm::derive::Field::NEW,
            shelves: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Category {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "parent",
                hash: 7371339085820260189u64,
                optional: ::odm::derive::Probe::<Option<Ref<Category>>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "ancestorIds",
                hash: 18306882235864413706u64,
                optional: ::odm::derive::Probe::<Ancestors<Category>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "shelf",
                hash: 5559972230643540163u64,
                optional: ::odm::derive::Probe::<Option<Ref<Shelf>>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "shelves",
                hash: 15008988759792554755u64,
                optional: ::odm::derive::Probe::<Ancestors<Shelf>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: true,
                opaque: false,
                derived: &[],
                embedded: &[],
            }
        };
        type Fields<P: ::odm::derive::Path> = CategoryFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Category",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::reference::<
                        Option<Ref<Category>>,
                    >(
                            "parent",
                            ::odm::derive::DeclaredReference {
                                parent: true,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Option<Ref<Category>>>::DESCRIBED)
                        .required(
                            !::odm::derive::Probe::<Option<Ref<Category>>>::FROM_NOTHING,
                        ),
                    {
                        ::odm::derive::ancestors::<
                            Ancestors<Category>,
                            _,
                        >(
                            "ancestorIds",
                            ::odm::derive::along::<
                                Ancestors<Category>,
                                _,
                                _,
                                _,
                            >(::odm::derive::fields_of::<Category>().parent),
                            false,
                        )
                    }
                        .of(::odm::derive::Probe::<Ancestors<Category>>::DESCRIBED),
                    ::odm::derive::reference::<
                        Option<Ref<Shelf>>,
                    >(
                            "shelf",
                            ::odm::derive::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Option<Ref<Shelf>>>::DESCRIBED)
                        .required(
                            !::odm::derive::Probe::<Option<Ref<Shelf>>>::FROM_NOTHING,
                        ),
                    {
                        ::odm::derive::ancestors::<
                            Ancestors<Shelf>,
                            _,
                        >(
                            "shelves",
                            ::odm::derive::along::<
                                Ancestors<Shelf>,
                                _,
                                _,
                                _,
                            >(::odm::derive::fields_of::<Category>().shelf),
                            true,
                        )
                    }
                        .of(::odm::derive::Probe::<Ancestors<Shelf>>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Category {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Category {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "categories";
        const HASH: ::core::primitive::u64 = 12228503658399509997u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Category",
                collection: "categories",
                shape: <Category as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Category>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Category>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Category>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Category> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Category> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Category>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Category
    where
        Option<Ref<Category>>: ::odm::derive::RefersWithin<D>,
        Option<Ref<Shelf>>: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl ::odm::derive::ChildOf<Category, ::odm::derive::Any, 0usize> for Category {
        const PATH: &'static str = "parent";
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Category {
        type Child = Category;
    }
    #[automatically_derived]
    impl<T> ::odm::derive::AncestorsIn<T, 2usize> for Category
    where
        Ancestors<Category>: ::odm::derive::AncestorsOf<T>,
    {
        const PATH: &'static str = "ancestorIds";
    }
    #[automatically_derived]
    impl<T> ::odm::derive::AncestorsIn<T, 4usize> for Category
    where
        Ancestors<Shelf>: ::odm::derive::AncestorsOf<T>,
    {
        const PATH: &'static str = "shelves";
    }
};
