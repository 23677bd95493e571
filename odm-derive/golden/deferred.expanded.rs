// `Document` of `Author`

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
    /// The fields of `Author`.
    pub struct AuthorFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Author, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `name`.
        pub name: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Author, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `posts`.
        pub posts: ::odm::derive::Field<
            u32,
            ::odm::derive::FieldPath<P, Author, 2>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for AuthorFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            name: ::odm::derive::Field::NEW,
            posts: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Author {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "name",
                hash: 14176396743819860870u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "posts",
                hash: 14624936443175169884u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = AuthorFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Author",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::known(
                        "name",
                        ::odm::derive::Probe::<String>::DESCRIBED,
                        true,
                    ),
                    ::odm::derive::count::<
                        u32,
                    >(
                            "posts",
                            ::odm::derive::children::<
                                Post,
                            >(
                                ::odm::derive::parent_path::<Post, Author, _, _>(),
                                ::core::option::Option::None,
                                true,
                            ),
                        )
                        .of(::odm::derive::Probe::<u32>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Author {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Author {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "authors";
        const HASH: ::core::primitive::u64 = 15562202057769132575u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Author",
                collection: "authors",
                shape: <Author as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Author>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Author>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Author>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Author> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Author> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Author>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Author
    where
        ::odm::derive::Ref<Post>: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as ::odm::derive::Known > ::RELATED,
            "`name` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Author {
        type Child = Author;
    }
};

// `Document` of `Post`

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
    /// The fields of `Post`.
    pub struct PostFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            ObjectId,
            ::odm::derive::FieldPath<P, Post, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `author`.
        pub author: ::odm::derive::Field<
            Ref<Author>,
            ::odm::derive::FieldPath<P, Post, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `author_name`.
        pub author_name: ::odm::derive::Field<
            String,
            ::odm::derive::FieldPath<P, Post, 2>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for PostFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            author: ::odm::derive::Field::NEW,
            author_name: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Post {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "author",
                hash: 7815024061042257814u64,
                optional: ::odm::derive::Probe::<Ref<Author>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "author_name",
                hash: 13799445651202536688u64,
                optional: false,
                defaulted: false,
            },
        ];
        const COPIES: &'static [(
            &'static str,
            ::core::primitive::u64,
            ::odm::derive::Copied,
        )] = &[
            (
                "author_name",
                13799445651202536688u64,
                ::odm::derive::copied::<
                    Author,
                    _,
                >(::odm::derive::fields_of::<Author>().name)
                    .copied_as::<String>()
                    .where_(
                        !::odm::derive::Probe::<String>::RELATED
                            || ::odm::derive::Probe::<String>::EMBEDDED
                            || ::odm::derive::Probe::<String>::SUBSET
                            || ::odm::derive::Probe::<String>::ANCESTORS,
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .where_(
                        !::odm::derive::holds_references(
                            ::odm::derive::Probe::<String>::OUTLINE,
                        ),
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .along(
                        ::odm::derive::beside::<
                            Author,
                            _,
                            _,
                            _,
                        >(::odm::derive::fields_of::<Post>().author),
                        ::odm::derive::Declared {
                            none: ::odm::derive::Probe::<String>::NONE,
                            optional: ::odm::derive::Probe::<String>::OPTIONAL,
                            frozen: false,
                            unchecked: false,
                            skipped: false,
                            deferred: true,
                        },
                    ),
            ),
        ];
        const OUTLINE: &'static ::odm::derive::Outline = {
            &::odm::derive::Outline {
                references: true,
                opaque: false,
                derived: &[
                    (
                        "author_name",
                        13799445651202536688u64,
                        ::odm::derive::copy_reads::<Post>(0usize),
                    ),
                ],
                embedded: &[],
            }
        };
        type Fields<P: ::odm::derive::Path> = PostFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Post",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<ObjectId>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::reference::<
                        Ref<Author>,
                    >(
                            "author",
                            ::odm::derive::DeclaredReference {
                                parent: true,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Ref<Author>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Ref<Author>>::FROM_NOTHING),
                    ::odm::derive::copy::<Post>(0usize)
                        .copied(::odm::derive::Probe::<String>::INNER)
                        .of(::odm::derive::Probe::<String>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    const _: () = {
        ::odm::derive::check::<Post>(0usize);
    };
    #[automatically_derived]
    impl ::odm::derive::Referable for Post {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<
            ObjectId,
        >::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Post {
        type Id = ObjectId;
        type Itself = Self;
        const COLLECTION: &'static str = "posts";
        const HASH: ::core::primitive::u64 = 14624936443175169884u64;
        fn id(&self) -> &ObjectId {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Post",
                collection: "posts",
                shape: <Post as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Post>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Post>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Post>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Post> for ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Post> for &ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            ::odm::derive::clone_id::<Post>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Post
    where
        Ref<Author>: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as ::odm::derive::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::ChildOf<Author, ::odm::derive::Any, 0usize> for Post {
        const PATH: &'static str = "author";
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Post {
        type Child = Post;
    }
};
