//! The models of the golden files, which compile.

#[path = "../../golden/adjacent.rs"]
mod adjacent;
#[path = "../../golden/count.rs"]
mod count;
#[path = "../../golden/database.rs"]
mod database;
#[path = "../../golden/deferred.rs"]
mod deferred;
#[path = "../../golden/denormalize.rs"]
mod denormalize;
#[path = "../../golden/embed.rs"]
mod embed;
#[path = "../../golden/indexes.rs"]
mod indexes;
#[path = "../../golden/link.rs"]
mod link;
#[path = "../../golden/new.rs"]
mod new;
#[path = "../../golden/patch.rs"]
mod patch;
#[path = "../../golden/projection.rs"]
mod projection;
#[path = "../../golden/references.rs"]
mod references;
#[path = "../../golden/scalars.rs"]
mod scalars;
#[path = "../../golden/split.rs"]
mod split;
#[path = "../../golden/subset.rs"]
mod subset;
#[path = "../../golden/variants.rs"]
mod variants;
