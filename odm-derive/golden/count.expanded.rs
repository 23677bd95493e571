// `Document` of `Project`

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
    /// The fields of `Project`.
    pub struct ProjectFields<P> {
        /// Stored as `_id`.
        pub id: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Project, 0>,
            ::odm::derive::Identity,
        >,
        /// Stored as `tasks`.
        pub tasks: ::odm::derive::Field<
            u32,
            ::odm::derive::FieldPath<P, Project, 1>,
            ::odm::derive::Derived,
        >,
        /// Stored as `open_tasks`.
        pub open_tasks: ::odm::derive::Field<
            i64,
            ::odm::derive::FieldPath<P, Project, 2>,
            ::odm::derive::Derived,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for ProjectFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            tasks: ::odm::derive::Field::NEW,
            open_tasks: ::odm::derive::Field::NEW,
        };
        const STATIC: &'static Self = &Self::NEW;
    }
    #[automatically_derived]
    impl ::odm::derive::Structure for Project {
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
                optional: false,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "open_tasks",
                hash: 475053930248715988u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: ::odm::derive::Path> = ProjectFields<P>;
        fn shape() -> &'static ::odm::derive::Shape {
            static ONE: ::odm::derive::Shape = ::odm::derive::Shape {
                name: "Project",
                fields: &[
                    ::odm::derive::known(
                        "_id",
                        ::odm::derive::Probe::<i64>::DESCRIBED,
                        false,
                    ),
                    ::odm::derive::count::<
                        u32,
                    >(
                            "tasks",
                            ::odm::derive::children::<
                                Task,
                            >(
                                ::odm::derive::parent_path::<Task, Project, _, _>(),
                                ::core::option::Option::None,
                                false,
                            ),
                        )
                        .of(::odm::derive::Probe::<u32>::DESCRIBED),
                    ::odm::derive::count::<
                        i64,
                    >(
                            "open_tasks",
                            ::odm::derive::children::<
                                Task,
                            >(
                                ::odm::derive::path_to::<
                                    Project,
                                    _,
                                    _,
                                    _,
                                >(::odm::derive::fields_of::<Task>().project),
                                ::core::option::Option::Some(|| ::odm::derive::declared_filter::<
                                    Task,
                                >(open)),
                                false,
                            ),
                        )
                        .of(::odm::derive::Probe::<i64>::DESCRIBED),
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::Referable for Project {
        type Key = i64;
        type StoredKey = i64;
        const KEY: ::odm::derive::Described = ::odm::derive::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl ::odm::derive::Document for Project {
        type Id = i64;
        type Itself = Self;
        const COLLECTION: &'static str = "projects";
        const HASH: ::core::primitive::u64 = 7286335475966640663u64;
        fn id(&self) -> &i64 {
            &self.id
        }
        fn model() -> &'static ::odm::derive::Model {
            static ONE: ::odm::derive::Model = ::odm::derive::Model {
                name: "Project",
                collection: "projects",
                shape: <Project as ::odm::derive::Structure>::shape,
                indexes: &[],
                expires: ::core::option::Option::None,
                id_of_number: ::core::option::Option::None,
                version: ::core::option::Option::None,
                created_at: ::core::option::Option::None,
                updated_at: ::core::option::Option::None,
                schema: ::odm::derive::schema_of::<Project>,
                validation: ::odm::derive::Validation {
                    level: ::odm::derive::ValidationLevel::Strict,
                    action: ::odm::derive::ValidationAction::Error,
                    schema: ::core::option::Option::None,
                    check: ::odm::derive::Probe::<Project>::CHECK,
                },
                renamed: &[],
                readable: ::odm::derive::Probe::<Project>::READABLE,
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Project> for i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl ::odm::derive::IntoId<Project> for &i64 {
        type How = ::odm::derive::ById;
        fn into_id(self) -> i64 {
            ::odm::derive::clone_id::<Project>(self)
        }
    }
    #[automatically_derived]
    impl<D> ::odm::derive::RefersWithin<D> for Project
    where
        ::odm::derive::Ref<Task>: ::odm::derive::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Project {
        type Child = Project;
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
        /// Stored as `project`.
        pub project: ::odm::derive::Field<
            Ref<Project>,
            ::odm::derive::FieldPath<P, Task, 1>,
            ::odm::derive::Plain,
        >,
        /// Stored as `done`.
        pub done: ::odm::derive::Field<
            bool,
            ::odm::derive::FieldPath<P, Task, 2>,
            ::odm::derive::Plain,
        >,
    }
    #[automatically_derived]
    impl<P: ::odm::derive::Path> ::odm::derive::FieldSet for TaskFields<P> {
        const NEW: Self = Self {
            id: ::odm::derive::Field::NEW,
            project: ::odm::derive::Field::NEW,
            done: ::odm::derive::Field::NEW,
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
                text: "project",
                hash: 12400238528678257790u64,
                optional: ::odm::derive::Probe::<Ref<Project>>::OPTIONAL,
                defaulted: false,
            },
            ::odm::derive::StoredName {
                text: "done",
                hash: 15875746582901911185u64,
                optional: false,
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
                    ::odm::derive::known(
                        "done",
                        ::odm::derive::Probe::<bool>::DESCRIBED,
                        true,
                    ),
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
        Ref<Project>: ::odm::derive::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as ::odm::derive::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl ::odm::derive::ChildOf<Project, ::odm::derive::Any, 0usize> for Task {
        const PATH: &'static str = "project";
    }
    #[automatically_derived]
    impl ::odm::derive::SubsetItem for Task {
        type Child = Task;
    }
};
