//! A database with derived fields of more kinds than those of the shop.

use odm::{Embedded, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tools", new = "NewTool")]
pub(crate) struct Tool {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    pub(crate) name: String,
    /// Of long uses.
    #[sum(of = "Use.minutes", filter = long)]
    pub(crate) total: i64,
    #[max(of = "Use.minutes")]
    pub(crate) most: Option<i64>,
}

fn long() -> Filter<Use> {
    Use::fields().minutes.gte(10)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "uses")]
pub(crate) struct Use {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    #[reference(parent)]
    pub(crate) tool: Ref<Tool>,
    pub(crate) minutes: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub(crate) struct Slot {
    #[reference(child)]
    pub(crate) tool: Ref<Tool>,
    #[denormalize(from = "Tool.name")]
    pub(crate) tool_name: String,
    pub(crate) place: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "chests", new = "NewChest")]
pub(crate) struct Chest {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    #[embed]
    pub(crate) slots: Vec<Slot>,
    #[computed(slots.iter().map(|slot| slot.place).sum::<i64>())]
    pub(crate) size: i64,
}

#[derive(Debug, Database)]
#[database(name = "chests", version = 1)]
pub(crate) struct Chests {
    pub(crate) tools: Repository<Tool>,
    pub(crate) uses: Repository<Use>,
    pub(crate) chests: Repository<Chest>,
}

pub(crate) async fn filled() -> odm::Result<Chests> {
    let chests = Chests::open(Embedded::memory().await?).await?;
    let tool = |id, name: &str| NewTool {
        id,
        name: name.to_owned(),
    };
    chests
        .tools
        .insert_many([tool(1, "axe"), tool(2, "saw")])
        .await?;
    let used = |id, minutes| Use {
        id,
        tool: Ref::new(2),
        minutes,
    };
    chests.uses.insert_many([used(1, 30), used(2, 5)]).await?;
    let slot = |tool| Slot {
        tool: Ref::new(tool),
        tool_name: String::new(),
        place: tool,
    };
    let chest = NewChest {
        id: 1,
        slots: vec![slot(1), slot(2)],
    };
    chests.chests.insert(chest).await?;
    Ok(chests)
}
