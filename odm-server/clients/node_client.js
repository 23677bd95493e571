// Writes to a served shop with the driver for Node: `node node_client.js URI`.
const assert = require('assert');
const { MongoClient } = require('mongodb');

async function main() {
  const client = await new MongoClient(process.argv[2]).connect();
  const shop = client.db('shop');
  const parts = shop.collection('parts');
  const before = await parts.countDocuments();
  const part = { _id: 700, name: 'of node', qty: 1, price: 1.5, tags: [] };
  await client.withSession((session) => session.withTransaction(async () => {
    await parts.insertOne(part, { session });
    assert.equal(await parts.countDocuments({}, { session }), before + 1);
  }));
  assert.equal(await parts.countDocuments(), before + 1);

  const note = { $concat: ['so many: ', { $toString: '$qty' }] };
  await parts.updateMany({ _id: 700 }, [{ $set: { note } }]);
  assert.equal((await parts.findOne({ _id: 700 })).note, 'so many: 1');

  const changes = parts.watch([], { fullDocument: 'whenAvailable' });
  await changes.tryNext(); // the stream begins
  await parts.updateOne({ _id: 700 }, { $inc: { qty: 1 } });
  const change = await changes.next();
  assert.equal(change.operationType, 'update');
  assert.equal(change.fullDocument.qty, 2);
  await changes.close();

  const lie = shop.collection('products').updateMany({}, { $set: { review_count: 5 } });
  await assert.rejects(lie, /derived field/);

  const ids = await parts.aggregate([{ $facet: { ids: [{ $sort: { _id: -1 } }, { $limit: 1 }] } }]).toArray();
  assert.equal(ids[0].ids[0]._id, 700);
  assert.equal((await parts.deleteOne({ _id: 700 })).deletedCount, 1);
  await client.close();
  console.log('node: all as expected');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
