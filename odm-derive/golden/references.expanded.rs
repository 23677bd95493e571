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
    use ::odm::derive::Unknown as _;
    /// The fields of `Person`.
    pub struct PersonFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Person, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `tasks`.
        pub tasks: ::odm::derive::Field<
            Vec<Ref<Task>>,
            ::odm::derive::FieldPath<P, Person, 1>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for PersonFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            tasks: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Person {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "tasks",
                hash: 565226122958520589u64,
                optional: ::odm::derive::Probe::<Vec<Ref<Task>>>::OPTIONAL,
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
        type Fields<P: ::odm::derive::Path> = PersonFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Person",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    {
                        ::odm::derive::delete_rule::<
                            Vec<Ref<Task>>,
                        >(::odm::derive::OnDelete::Pull, false);
                        ::odm::derive::reference::<
                            Vec<Ref<Task>>,
                        >(
                            "tasks",
                            ::odm::derive::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::Some(
                                    ::odm::derive::OnDelete::Pull,
                                ),
                                inverse: ::core::option::Option::Some({
                                    let path = ::odm::derive::path_to::<
                                        Person,
                                        _,
                                        _,
                                        _,
                                    >(::odm::derive::target::<Vec<Ref<Task>>>().owner);
                                    ::core::assert!(
                                        ::odm::derive::points_back:: < Vec < Ref < Task > > >
                                        ("owner", "tasks"),
                                        "`owner` of `Task` is not declared as the inverse: add `inverse = \"tasks\"` to it"
                                    );
                                    path
                                }),
                            },
                        )
                    }
                        .of(::odm::derive::Probe::<Vec<Ref<Task>>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Vec<Ref<Task>>>::FROM_NOTHING),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Person {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Person {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "people";
        const HASH: ::core::primitive::u64 = 6911893159086953230u64;
        const INVERSES: &'static [(&'static str, &'static str)] = &[("tasks", "owner")];
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Person",
                collection: "people",
                shape: <Person as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Person>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Person>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Person>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Person> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Person> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Person>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Person
    where
        Vec<Ref<Task>>: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Person {
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
    use ::odm::derive::Unknown as _;
    /// The fields of `Task`.
    pub struct TaskFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            ObjectId,
            ::odm::derive::FieldPath<P, Task, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `owner`.
        pub owner: ::odm::derive::Field<
            Option<Ref<Person>>,
            ::odm::derive::FieldPath<P, Task, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `author`.
        pub author: ::odm::derive::Field<
            Ref<Person>,
            ::odm::derive::FieldPath<P, Task, 2>,
            ::odm::derive::Unchecked,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for TaskFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            owner: ::odm::derive::Field::NEW,
            author: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Task {
        const NAMES: &'static [::odm::derive::StoredName] = &[
            ::odm::derive::StoredName {
                text: "_id",
                hash: 13334660529758004755u64,
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "owner",
                hash: 12002927925776846068u64,
                optional: ::odm::derive::Probe::<Option<Ref<Person>>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "author",
                hash: 7815024061042257814u64,
                optional: ::odm::derive::Probe::<Ref<Person>>::OPTIONAL,
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
        type Fields<P: ::odm::derive::Path> = TaskFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Task",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<ObjectId>::DESCRIBED,
                        false,
                    ),
                    {
                        ::odm::derive::delete_rule::<
                            Option<Ref<Person>>,
                        >(::odm::derive::OnDelete::Nullify, false);
                        ::odm::derive::reference::<
                            Option<Ref<Person>>,
                        >(
                            "owner",
                            ::odm::derive::DeclaredReference {
                                parent: true,
                                one: false,
                                unchecked: false,
                                on_delete: ::core::option::Option::Some(
                                    ::odm::derive::OnDelete::Nullify,
                                ),
                                inverse: ::core::option::Option::Some({
                                    let path = ::odm::derive::path_to::<
                                        Task,
                                        _,
                                        _,
                                        _,
                                    >(::odm::derive::target::<Option<Ref<Person>>>().tasks);
                                    ::core::assert!(
                                        ::odm::derive::points_back:: < Option < Ref < Person > > >
                                        ("tasks", "owner"),
                                        "`tasks` of `Person` is not declared as the inverse: add `inverse = \"owner\"` to it"
                                    );
                                    path
                                }),
                            },
                        )
                    }
                        .of(::odm::derive::Probe::<Option<Ref<Person>>>::DESCRIBED)
                        .required(
                            !::odm::derive::Probe::<Option<Ref<Person>>>::FROM_NOTHING,
                        ),
                    ::odm::derive::reference::<
                        Ref<Person>,
                    >(
                            "author",
                            ::odm::derive::DeclaredReference {
                                parent: false,
                                one: false,
                                unchecked: true,
                                on_delete: ::core::option::Option::None,
                                inverse: ::core::option::Option::None,
                            },
                        )
                        .of(::odm::derive::Probe::<Ref<Person>>::DESCRIBED)
                        .required(!::odm::derive::Probe::<Ref<Person>>::FROM_NOTHING),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Task {
        type Key = ObjectId;
        type StoredKey = ObjectId;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<
            ObjectId,
        >::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Task {
        type Id = ObjectId;
        type Itself = Self;
        const COLLECTION: &'static str = "tasks";
        const HASH: ::core::primitive::u64 = 565226122958520589u64;
        const INVERSES: &'static [(&'static str, &'static str)] = &[("owner", "tasks")];
        fn id(&self) -> &ObjectId {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Task",
                collection: "tasks",
                shape: <Task as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Task>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Task>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Task>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Task> for ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Task> for &ObjectId {
        type How = ::odm::derive::ById;
        fn into_id(self) -> ObjectId {
            ::odm::derive::clone_id::<Task>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Task
    where
        Option<Ref<Person>>: ::odm::derive::RefersWithin<D>,
        Ref<Person>: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as ::odm::derive::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::ChildOf<Person, ::odm::derive::Any, 0usize> for Task {
        const PATH: &'static str = "owner";
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Task {
        type Child = Task;
    }
};
