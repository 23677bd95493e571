use std::net::IpAddr;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "hosts")]
struct Host {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(with = "odm::native")]
    address: IpAddr,
}

async fn run(hosts: Repository<Host>) -> odm::Result<()> {
    let found = hosts.all().sort(Host::fields().address.asc()).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = hosts.all().sort(Host::fields().address.asc()).await?;
// + let found = hosts.all().sort(Host::fields().id.asc()).await?;
