// `Document` of `Issue`

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
    /// The fields of `Issue`.
    pub struct IssueFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Issue, 0>, _odm::Identity>,
        /// Stored as `project`.
        pub project: _odm::Field<
            Ref<Project>,
            _odm::FieldPath<P, Issue, 1>,
            _odm::Plain,
        >,
        /// Stored as `book`.
        pub book: _odm::Field<
            Option<BookLink>,
            _odm::FieldPath<P, Issue, 2>,
            _odm::Plain,
        >,
        /// Stored as `number`.
        pub number: _odm::Field<i64, _odm::FieldPath<P, Issue, 3>, _odm::Derived>,
        /// Stored as `page`.
        pub page: _odm::Field<Option<i32>, _odm::FieldPath<P, Issue, 4>, _odm::Derived>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for IssueFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            project: _odm::TypedField::TYPED,
            book: _odm::TypedField::TYPED,
            number: _odm::TypedField::TYPED,
            page: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Issue {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "project",
                hash: 12400238528678257790u64,
                optional: _odm::Probe::<Ref<Project>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "book",
                hash: 14785262170617678040u64,
                optional: _odm::Probe::<Option<BookLink>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "number",
                hash: 9237349086447201248u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "page",
                hash: 255344043153000726u64,
                optional: _odm::Probe::<Option<i32>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: true,
                opaque: false,
                derived: &[],
                embedded: &[
                    (
                        "book",
                        14785262170617678040u64,
                        _odm::Probe::<Option<BookLink>>::OUTLINE,
                    ),
                ],
            }
        };
        type Fields<P: _odm::Path> = IssueFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Issue",
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
                        described: _odm::Probe::<Ref<Project>>::DESCRIBED,
                        required: !_odm::Probe::<Ref<Project>>::FROM_NOTHING,
                        .._odm::reference::<
                            Ref<Project>,
                        >(
                            "project",
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
                        described: _odm::Probe::<Option<BookLink>>::DESCRIBED,
                        required: !_odm::Probe::<Option<BookLink>>::FROM_NOTHING,
                        .._odm::embed::<Option<BookLink>>("book")
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<i64>::DESCRIBED,
                        ..{
                            _odm::within(_odm::fields_of::<Issue>().project)
                                .sequence::<i64>("number")
                        }
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Option<i32>>::DESCRIBED,
                        ..{
                            ::core::assert!(
                                _odm::is_single(_odm::fields_of:: < Issue > ().book),
                                "a number is within one parent, and `book` is a list or a map: name a reference outside of it"
                            );
                            _odm::within(_odm::step(_odm::fields_of::<Issue>().book).id)
                                .sequence::<Option<i32>>("page")
                        }
                    },
                ],
            };
            &ONE
        }
        fn has_checks(types: &mut _odm::SchemaTypes) -> bool {
            false
                || _odm::any_has_checks::<
                    Self,
                >(types, &[_odm::Probe::<Option<BookLink>>::HAS_CHECKS])
        }
        fn check(
            &self,
            at: &_odm::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<_odm::Violation>,
        ) {
            _odm::Probe::<Option<BookLink>>::NEW
                .check(&self.book, &at.join("book"), found);
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Issue {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Issue {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Issue";
        const COLLECTION: &'static str = "issues";
        const HASH: ::core::primitive::u64 = 8942803801534225417u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Issue> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Issue> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Issue>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Issue
    where
        Ref<Project>: _odm::RefersWithin<D>,
        Option<BookLink>: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl _odm::ChildOf<Project, _odm::Any, 0usize> for Issue {
        const PATH: &'static str = "project";
    }
    #[automatically_derived]
    impl<X, K> _odm::ChildOf<X, K, 1usize> for Issue
    where
        Option<BookLink>: _odm::ParentIn<X, K>,
    {
        const PATH: &'static str = <<Option<
            BookLink,
        > as _odm::ParentIn<
            X,
            K,
        >>::ParentPath<
            _odm::FieldPath<_odm::Root<Issue>, Issue, 2>,
        > as _odm::Path>::TEXT;
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Issue {
        type Child = Issue;
    }
};
