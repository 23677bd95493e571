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
    use ::odm::derive::Unknown as _;
    /// The fields of `Issue`.
    pub struct IssueFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Issue, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `project`.
        pub project: ::odm::derive::Field<
            Ref<Project>,
            ::odm::derive::FieldPath<P, Issue, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `book`.
        pub book: ::odm::derive::Field<
            Option<BookLink>,
            ::odm::derive::FieldPath<P, Issue, 2>,
            ::odm::derive::Plain,
        >,
        /// Stored as `number`.
        pub number: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Issue, 3>,
            ::odm::derive::Derived,
        >,
        /// Stored as `page`.
        pub page: ::odm::derive::Field<
            Option<i32>,
            ::odm::derive::FieldPath<P, Issue, 4>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for IssueFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            project: ::odm::derive::Field::NEW,
            book: ::odm::derive::Field::NEW,
            number: ::odm::derive::Field::NEW,
            page: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Issue {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "project",
                hash: 12400238528678257790u64,
                optional: ::odm::derive::Probe::<Ref<Project>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "book",
                hash: 14785262170617678040u64,
                optional: ::odm::derive::Probe::<Option<BookLink>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "number",
                hash: 9237349086447201248u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "page",
                hash: 255344043153000726u64,
                optional: ::odm::derive::Probe::<Option<i32>>::OPTIONAL,
                defaulted: false,
            },
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: true,
                opaque: false,
                derived: &[],
                embedded: &[
                    (
                        "book",
                        14785262170617678040u64,
                        ::odm::derive::Probe::<Option<BookLink>>::OUTLINE,
                    ),
                ],
            }
        };
        type Fields<P: ::odm::derive::Path> = IssueFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Issue",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::reference::<
                        Ref<Project>,
                    >(
                            "project",
                            ::odm::derive::DeclaredReference {
                                parent: true,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Ref<Project>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Ref<Project>>::FROM_NOTHING),
                    ::odm::derive::embed::<Option<BookLink>>("book")
                        .of(::odm::derive::Probe::<Option<BookLink>>::DESCRIBED)
                        .required(
                            !::odm::derive::Probe::<Option<BookLink>>::FROM_NOTHING,
                        ),
                    {
                        ::odm::derive::within(
                                ::odm::derive::fields_of::<Issue>().project,
                            )
                            .sequence::<i64>("number")
                    }
                        .of(::odm::derive::Probe::<i64>::DESCRIBED),
                    {
                        ::core::assert!(
                            ::odm::derive::is_single(::odm::derive::fields_of:: < Issue >
                            ().book),
                            "a number is within one parent, and `book` is a list or a map: name a reference outside of it"
                        );
                        ::odm::derive::within(
                                ::odm::derive::step(
                                        ::odm::derive::fields_of::<Issue>().book,
                                    )
                                    .id,
                            )
                            .sequence::<Option<i32>>("page")
                    }
                        .of(::odm::derive::Probe::<Option<i32>>::DESCRIBED),
                ],
            };
            &ONE
        }
        fn has_checks(types: &mut ::odm::derive::SchemaTypes) -> bool {
            false
                || ::odm::derive::any_has_checks::<
                    Self,
                >(types, &[::odm::derive::Probe::<Option<BookLink>>::HAS_CHECKS])
        }
        fn check(
            &self,
            at: &::odm::derive::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<::odm::derive::Violation>,
        ) {
            ::odm::derive::Probe::<Option<BookLink>>::NEW
                .check(&self.book, &at.join("book"), found);
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Issue {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Issue {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "issues";
        const HASH: ::core::primitive::u64 = 8942803801534225417u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Issue",
                collection: "issues",
                shape: <Issue as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Issue>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Issue>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Issue>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Issue> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Issue> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Issue>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Issue
    where
        Ref<Project>: ::odm::derive::RefersWithin<D>,
        Option<BookLink>: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl ::odm::derive::ChildOf<Project, ::odm::derive::Any, 0usize> for Issue {
        const PATH: &'static str = "project";
    }
    #[automatically_derived]
    impl<X, K> ::odm::derive::ChildOf<X, K, 1usize> for Issue
    where
        Option<BookLink>: ::odm::derive::ParentIn<X, K>,
    {
        const PATH: &'static str = <<Option<
            BookLink,
        > as ::odm::derive::ParentIn<
            X,
            K,
        >>::ParentPath<
            ::odm::derive::FieldPath<::odm::derive::Root<Issue>, Issue, 2>,
        > as ::odm::derive::Path>::TEXT;
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Issue {
        type Child = Issue;
    }
};
