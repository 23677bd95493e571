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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Project`.
    pub struct ProjectFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<i64, _odm::FieldPath<P, Project, 0>, _odm::Identity>,
        /// Stored as `tasks`.
        pub tasks: _odm::Field<u32, _odm::FieldPath<P, Project, 1>, _odm::Derived>,
        /// Stored as `open_tasks`.
        pub open_tasks: _odm::Field<i64, _odm::FieldPath<P, Project, 2>, _odm::Derived>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for ProjectFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            tasks: _odm::TypedField::TYPED,
            open_tasks: _odm::TypedField::TYPED,
        };
    }
    #[automatically_derived]
    impl _odm::Structure for Project {
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
                optional: false,
                defaulted: false,
            },
            _odm::StoredName {
                text: "open_tasks",
                hash: 475053930248715988u64,
                optional: false,
                defaulted: false,
            },
        ];
        type Fields<P: _odm::Path> = ProjectFields<P>;
        fn shape() -> &'static _odm::Shape {
            static ONE: _odm::Shape = _odm::Shape {
                name: "Project",
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
                        described: _odm::Probe::<u32>::DESCRIBED,
                        .._odm::count::<
                            u32,
                        >(
                            "tasks",
                            _odm::children::<
                                Task,
                            >(
                                _odm::parent_path::<Task, Project, _, _>(),
                                _odm::None,
                                false,
                            ),
                        )
                    },
                    _odm::FieldShape {
                        described: _odm::Probe::<i64>::DESCRIBED,
                        .._odm::count::<
                            i64,
                        >(
                            "open_tasks",
                            _odm::children::<
                                Task,
                            >(
                                _odm::path_to::<
                                    Project,
                                    _,
                                    _,
                                    _,
                                >(_odm::fields_of::<Task>().project),
                                _odm::Some(|| _odm::declared_filter::<Task>(open)),
                                false,
                            ),
                        )
                    },
                ],
            };
            &ONE
        }
    }
    #[automatically_derived]
    impl _odm::Referable for Project {
        type Key = i64;
        type StoredKey = i64;
        const KEY: _odm::Described = _odm::Probe::<i64>::DESCRIBED;
    }
    #[automatically_derived]
    impl _odm::Document for Project {
        type Id = i64;
        type Itself = Self;
        const NAME: &'static str = "Project";
        const COLLECTION: &'static str = "projects";
        const HASH: ::core::primitive::u64 = 7286335475966640663u64;
        fn id(&self) -> &i64 {
            &self.id
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Project> for i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            self
        }
    }
    #[automatically_derived]
    impl _odm::IntoId<Project> for &i64 {
        type How = _odm::ById;
        fn into_id(self) -> i64 {
            _odm::clone_id::<Project>(self)
        }
    }
    #[automatically_derived]
    impl<D> _odm::RefersWithin<D> for Project
    where
        _odm::Ref<Task>: _odm::RefersWithin<D>,
    {}
    #[automatically_derived]
    impl _odm::SubsetItem for Project {
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
    use ::odm::derive::{self as _odm, Unknown as _};
    /// The fields of `Task`.
    pub struct TaskFields<P> {
        /// Stored as `_id`.
        pub id: _odm::Field<ObjectId, _odm::FieldPath<P, Task, 0>, _odm::Identity>,
        /// Stored as `project`.
        pub project: _odm::Field<Ref<Project>, _odm::FieldPath<P, Task, 1>, _odm::Plain>,
        /// Stored as `done`.
        pub done: _odm::Field<bool, _odm::FieldPath<P, Task, 2>, _odm::Plain>,
    }
    #[automatically_derived]
    impl<P: _odm::Path> _odm::FieldSet for TaskFields<P> {
        const NEW: Self = Self {
            id: _odm::TypedField::TYPED,
            project: _odm::TypedField::TYPED,
            done: _odm::TypedField::TYPED,
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
                text: "project",
                hash: 12400238528678257790u64,
                optional: _odm::Probe::<Ref<Project>>::OPTIONAL,
                defaulted: false,
            },
            _odm::StoredName {
                text: "done",
                hash: 15875746582901911185u64,
                optional: false,
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
            const {
                &_odm::Shape {
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
                            name: "done",
                            kind: _odm::FieldKind::Plain,
                            described: _odm::Probe::<bool>::DESCRIBED,
                            public: _odm::Some("done"),
                            copied: _odm::None,
                            required: true,
                            rules: &[],
                        },
                    ],
                }
            }
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
        Ref<Project>: _odm::RefersWithin<D>,
    {}
    const _: () = {
        ::core::assert!(
            ! < ObjectId as _odm::Known > ::RELATED,
            "`id` holds references or embedded values: mark it with `#[embed]`, `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
        );
    };
    #[automatically_derived]
    impl _odm::ChildOf<Project, _odm::Any, 0usize> for Task {
        const PATH: &'static str = "project";
    }
    #[automatically_derived]
    impl _odm::SubsetItem for Task {
        type Child = Task;
    }
};
