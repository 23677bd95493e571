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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Category`.
    pub struct CategoryFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Category, 0>, _odm::Identity>,
        /// Stored as `parent`.
        pub parent: _odm::Field<
            Option<Ref<Category>>,
            _odm::FieldPath<P, Category, 1>,
            _odm::Plain,
        >,
        /// Stored as `ancestorIds`.
        pub path: _odm::Field<
            Ancestors<Category>,
            _odm::FieldPath<P, Category, 2>,
            _odm::Derived,
        >,
        /// Stored as `shelf`.
        pub shelf: _odm::Field<
            Option<Ref<Shelf>>,
            _odm::FieldPath<P, Category, 3>,
            _odm::Plain,
        >,
        /// Stored as `shelves`.
        pub shelves: _odm::Field<
            Ancestors<Shelf>,
            _odm::FieldPath<P, Category, 4>,
            _odm::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for CategoryFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            parent: _odm::TypedField::TYPED,
            path: _odm::TypedField::TYPED,
            shelf: _odm::TypedField::TYPED,
            shelves: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Category {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "parent",
                hash: 7371339085820260189u64,
                optional: _odm::Probe::<Option<Ref<Category>>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "ancestorIds",
                hash: 18306882235864413706u64,
                optional: _odm::Probe::<Ancestors<Category>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "shelf",
                hash: 5559972230643540163u64,
                optional: _odm::Probe::<Option<Ref<Shelf>>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "shelves",
                hash: 15008988759792554755u64,
                optional: _odm::Probe::<Ancestors<Shelf>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: true,
                opaque: false,
                derived: &[],
                embedded: &[],
            }
        };
        type Fields<P: _odm::Path> = CategoryFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Category",
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
                        described: _odm::Probe::<Option<Ref<Category>>>::DESCRIBED,
                        required: !_odm::Probe::<Option<Ref<Category>>>::FROM_NOTHING,
                        .._odm::reference::<
                            Option<Ref<Category>>,
                        >(
                            "parent",
                            _odm::DeclaredReference {
                                parent: true,
                                one: false,
                                unchecked: false,
                                on_delete: _odm::None,
                                inverse: _odm::None,
                            },
                        )
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Ancestors<Category>>::DESCRIBED,
                        ..{
                            _odm::ancestors::<
                                Ancestors<Category>,
                                _,
                            >(
                                "ancestorIds",
                                _odm::along::<
                                    Ancestors<Category>,
                                    _,
                                    _,
                                    _,
                                >(_odm::fields_of::<Category>().parent),
                                false,
                            )
                        }
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Option<Ref<Shelf>>>::DESCRIBED,
                        required: !_odm::Probe::<Option<Ref<Shelf>>>::FROM_NOTHING,
                        .._odm::reference::<
                            Option<Ref<Shelf>>,
                        >(
                            "shelf",
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
                        described: _odm::Probe::<Ancestors<Shelf>>::DESCRIBED,
                        ..{
                            _odm::ancestors::<
                                Ancestors<Shelf>,
                                _,
                            >(
                                "shelves",
                                _odm::along::<
                                    Ancestors<Shelf>,
                                    _,
                                    _,
                                    _,
                                >(_odm::fields_of::<Category>().shelf),
                                true,
                            )
                        }
                    },
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Category {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Category {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Category";
        const COLLECTION: &'static str = "categories";
        const HASH: ::core::primitive::u64 = 12228503658399509997u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Category> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Category> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Category>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Category
    where
        Option<Ref<Category>>: _odm::RefersWithin<D>,
        Option<Ref<Shelf>>: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl _odm::ChildOf<Category, _odm::Any, 0usize> for Category {
        const PATH: &'static str = "parent";
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Category {
        type Child = Category;
    }
    #[automatically_derived]
    impl<T> _odm::AncestorsIn<T, 2usize> for Category
    where
        Ancestors<Category>: _odm::AncestorsOf<T>,
    {
        const PATH: &'static str = "ancestorIds";
    }
    #[automatically_derived]
    impl<T> _odm::AncestorsIn<T, 4usize> for Category
    where
        Ancestors<Shelf>: _odm::AncestorsOf<T>,
    {
        const PATH: &'static str = "shelves";
    }
};
