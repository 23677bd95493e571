use odm::prelude::*;

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop<M> {
    models: Repository<M>,
}

fn main() {}
