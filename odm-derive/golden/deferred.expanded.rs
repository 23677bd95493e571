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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Author`.
    pub struct AuthorFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Author, 0>, _odm::Identity>,
        /// Stored as `name`.
        pub name: _odm::Field<String, _odm::FieldPath<P, Author, 1>, _odm::Plain>,
        /// Stored as `posts`.
        pub posts: _odm::Field<u32, _odm::FieldPath<P, Author, 2>, _odm::Derived>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for AuthorFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            name: _odm::TypedField::TYPED,
            posts: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Author {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "name",
                hash: 14176396743819860870u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "posts",
                hash: 14624936443175169884u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = AuthorFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Author",
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
                        name: "name",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<String>::DESCRIBED,
                        public: _odm::Some("name"),
                        copied: _odm::None,
                        required: true,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<u32>::DESCRIBED,
                        .._odm::count::<
                            u32,
                        >(
                            "posts",
                            _odm::children::<
                                Post,
                            >(
                                _odm::parent_path::<Post, Author, _, _>(),
                                _odm::None,
                                true,
                            ),
                        )
                    },
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Author {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Author {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Author";
        const COLLECTION: &'static str = "authors";
        const HASH: ::core::primitive::u64 = 15562202057769132575u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Author> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Author> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Author>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Author
    where
        _odm::Ref<Post>: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < String as _odm::Known > ::RELATED,
            "`name` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::SubsetItem for Author {
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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Post`.
    pub struct PostFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<ObjectId, _odm::FieldPath<P, Post, 0>, _odm::Identity>,
        /// Stored as `author`.
        pub author: _odm::Field<Ref<Author>, _odm::FieldPath<P, Post, 1>, _odm::Plain>,
        /// Stored as `author_name`.
        pub author_name: _odm::Field<String, _odm::FieldPath<P, Post, 2>, _odm::Derived>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for PostFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            author: _odm::TypedField::TYPED,
            author_name: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Post {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "author",
                hash: 7815024061042257814u64,
                optional: _odm::Probe::<Ref<Author>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "author_name",
                hash: 13799445651202536688u64,
                optional: false,
                defaulted: false,
            },
        ];
        const COPIES: &'static [(&'static str, ::core::primitive::u64, _odm::Copied)] = &[
            (
                "author_name",
                13799445651202536688u64,
                _odm::copied::<Author, _>(_odm::fields_of::<Author>().name)
                    .copied_as::<String>()
                    .where_(
                        !_odm::Probe::<String>::RELATED
                            || _odm::Probe::<String>::EMBEDDED
                            || _odm::Probe::<String>::SUBSET
                            || _odm::Probe::<String>::ANCESTORS,
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .where_(
                        !_odm::holds_references(_odm::Probe::<String>::OUTLINE),
                        "a reference, or a value that holds one, cannot be copied: copy a plain field, and follow the reference where it is",
                    )
                    .along(
                        _odm::beside::<
                            Author,
                            _,
                            _,
                            _,
                        >(_odm::fields_of::<Post>().author),
                        _odm::Declared {
                            none: _odm::Probe::<String>::NONE,
                            optional: _odm::Probe::<String>::OPTIONAL,
                            frozen: false,
                            unchecked: false,
                            skipped: false,
                            deferred: true,
                        },
                    ),
            ),
        ];
        const OUTLINE: &'static _odm::Outline = {
            &_odm::Outline {
                references: true,
                opaque: false,
                derived: &[
                    (
                        "author_name",
                        13799445651202536688u64,
                        _odm::copy_reads::<Post>(0usize),
                    ),
                ],
                embedded: &[],
            }
        };
        type Fields<P: _odm::Path> = PostFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Post",
                fields: &[
                    _odm::FieldShape {
                        name: "_id",
                        kind: _odm::FieldKind::Plain,
                        described: _odm::Probe::<ObjectId>::DESCRIBED,
                        public: _odm::Some("_id"),
                        copied: _odm::None,
                        required: false,
                        rules: &[],
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Ref<Author>>::DESCRIBED,
                        required: !_odm::Probe::<Ref<Author>>::FROM_NOTHING,
                        .._odm::reference::<
                            Ref<Author>,
                        >(
                            "author",
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
                        described: _odm::Probe::<String>::DESCRIBED,
                        .._odm::copy::<Post>(0usize).copied(_odm::Probe::<String>::INNER)
                    },
                ],
            };
            &ONE
        }
    }
    const _: () = {
        _odm::check::<Post>(0usize);
    };
    #[automatically_derived]
    impl _odm::Referable for Post {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: _odm::Described = _odm::Probe::<ObjectId>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Post {
        type Id = ObjectId;
        type Itself = Self;
        const NAME: &'static str = "Post";
        const COLLECTION: &'static str = "posts";
        const HASH: ::core::primitive::u64 = 14624936443175169884u64;
        fn id(&self) -> &ObjectId {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Post> for ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Post> for &ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            _odm::clone_id::<Post>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Post
    where
        Ref<Author>: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as _odm::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::ChildOf<Author, _odm::Any, 0usize> for Post {
        const PATH: &'static str = "author";
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Post {
        type Child = Post;
    }
};
