// `Document` of `Person`

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
    /// The fields of `Person`.
    pub struct PersonFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Person, 0>, _odm::Identity>,
        /// Stored as `tasks`.
        pub tasks: _odm::Field<
            Vec<Ref<Task>>,
            _odm::FieldPath<P, Person, 1>,
            _odm::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for PersonFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            tasks: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Person {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "tasks",
                hash: 565226122958520589u64,
                optional: _odm::Probe::<Vec<Ref<Task>>>::OPTIONAL,
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
        type Fields<P: _odm::Path> = PersonFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Person",
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
                        described: _odm::Probe::<Vec<Ref<Task>>>::DESCRIBED,
                        required: !_odm::Probe::<Vec<Ref<Task>>>::FROM_NOTHING,
                        ..{
                            _odm::delete_rule::<
                                Vec<Ref<Task>>,
                            >(_odm::OnDelete::Pull, false);
                            _odm::reference::<
                                Vec<Ref<Task>>,
                            >(
                                "tasks",
                                _odm::DeclaredReference {
                                    parent: false,
                                    one: false,
                                    unchecked: false,
                                    on_delete: _odm::Some(_odm::OnDelete::Pull),
                                    inverse: _odm::Some({
                                        let path = _odm::path_to::<
                                            Person,
                                            _,
                                            _,
                                            _,
                                        >(_odm::target::<Vec<Ref<Task>>>().owner);
                                        ::core::assert!(
                                            _odm::points_back:: < Vec < Ref < Task > > > ("owner",
                                            "tasks"),
                                            "`owner` of `Task` is not declared as the inverse: add `inverse = \"tasks\"` to it"
                                        );
                                        path
                                    }),
                                },
                            )
                        }
                    },
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Person {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Person {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Person";
        const COLLECTION: &'static str = "people";
        const HASH: ::core::primitive::u64 = 6911893159086953230u64;
        const INVERSES: &'static [(&'static str, &'static str)] = &[("tasks", "owner")];
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Person> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Person> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Person>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Person
    where
        Vec<Ref<Task>>: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl _odm::SubsetItem for Person {
        type Child = Person;
    }
};

// `Document` of `Task`

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
    /// The fields of `Task`.
    pub struct TaskFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<ObjectId, _odm::FieldPath<P, Task, 0>, _odm::Identity>,
        /// Stored as `owner`.
        pub owner: _odm::Field<
            Option<Ref<Person>>,
            _odm::FieldPath<P, Task, 1>,
            _odm::Plain,
        >,
        /// Stored as `author`.
        pub author: _odm::Field<
            Ref<Person>,
            _odm::FieldPath<P, Task, 2>,
            _odm::Unchecked,
        >,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for TaskFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            owner: _odm::TypedField::TYPED,
            author: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Task {
        const NAMES: &'static [_odm::StoredName] = &[
            _odm::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "owner",
                hash: 12002927925776846068u64,
                optional: _odm::Probe::<Option<Ref<Person>>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "author",
                hash: 7815024061042257814u64,
                optional: _odm::Probe::<Ref<Person>>::OPTIONAL,
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
        type Fields<P: _odm::Path> = TaskFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Task",
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
                        described: _odm::Probe::<Option<Ref<Person>>>::DESCRIBED,
                        required: !_odm::Probe::<Option<Ref<Person>>>::FROM_NOTHING,
                        ..{
                            _odm::delete_rule::<
                                Option<Ref<Person>>,
                            >(_odm::OnDelete::Nullify, false);
                            _odm::reference::<
                                Option<Ref<Person>>,
                            >(
                                "owner",
                                _odm::DeclaredReference {
                                    parent: true,
                                    one: false,
                                    unchecked: false,
                                    on_delete: _odm::Some(_odm::OnDelete::Nullify),
                                    inverse: _odm::Some({
                                        let path = _odm::path_to::<
                                            Task,
                                            _,
                                            _,
                                            _,
                                        >(_odm::target::<Option<Ref<Person>>>().tasks);
                                        ::core::assert!(
                                            _odm::points_back:: < Option < Ref < Person > > > ("tasks",
                                            "owner"),
                                            "`tasks` of `Person` is not declared as the inverse: add `inverse = \"owner\"` to it"
                                        );
                                        path
                                    }),
                                },
                            )
                        }
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<Ref<Person>>::DESCRIBED,
                        required: !_odm::Probe::<Ref<Person>>::FROM_NOTHING,
                        .._odm::reference::<
                            Ref<Person>,
                        >(
                            "author",
                            _odm::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: true,
                                on_delete: _odm::None,
                                inverse: _odm::None,
                            },
                        )
                    },
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Task {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: _odm::Described = _odm::Probe::<ObjectId>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Task {
        type Id = ObjectId;
        type Itself = Self;
        const NAME: &'static str = "Task";
        const COLLECTION: &'static str = "tasks";
        const HASH: ::core::primitive::u64 = 565226122958520589u64;
        const INVERSES: &'static [(&'static str, &'static str)] = &[("owner", "tasks")];
        fn id(&self) -> &ObjectId {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Task> for ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Task> for &ObjectId {
        type How = _odm::ById;
        fn into_id(self) -> ObjectId {
            _odm::clone_id::<Task>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Task
    where
        Option<Ref<Person>>: _odm::RefersWithin<D>,
        Ref<Person>: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as _odm::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::ChildOf<Person, _odm::Any, 0usize> for Task {
        const PATH: &'static str = "owner";
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Task {
        type Child = Task;
    }
};
