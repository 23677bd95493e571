// The commands that Compass sends while its user looks around and edits, as it sends them: `node compass_client.js URI`.
const assert = require('assert');
const { MongoClient } = require('mongodb');

const client = new MongoClient(process.argv[2], { appName: 'MongoDB Compass', monitorCommands: true });
const admin = client.db('admin');
const shop = client.db('shop');
const utf8 = { enableUtf8Validation: false };
let commands = 0;
client.on('commandStarted', () => (commands += 1));

// What Compass has an answer for itself is refused with the code that tells it.
async function refused(running, code) {
  await assert.rejects(running, (error) => error.code === code);
}

async function connect() {
  await client.connect();
  await admin.command({ ping: 1 });
  const [status, host, build, parameter] = await Promise.all([
    admin.command({ connectionStatus: 1, showPrivileges: true }, utf8),
    admin.command({ hostInfo: 1 }, utf8),
    admin.command({ buildInfo: 1 }, utf8),
    admin.command({ getParameter: 1, featureCompatibilityVersion: 1 }, utf8),
    refused(admin.command({ atlasVersion: 1 }, utf8), 59),
    admin.collection('atlascli').countDocuments({ managedClusterType: 'atlasCliLocalDevCluster' }),
  ]);
  assert.deepEqual(status.authInfo.authenticatedUserPrivileges, []);
  assert.ok(host.system.numCores > 0 && host.os.name);
  assert.equal(build.version, '8.0.0');
  assert.equal(parameter.featureCompatibilityVersion.version, '8.0');
}

async function lists() {
  const { databases } = await admin.command({ listDatabases: 1 }, utf8);
  assert.ok(databases.some((database) => database.name === 'shop'));
  const stats = await shop.command({ dbStats: 1 }, utf8);
  assert.ok(stats.collections >= 7 && stats.indexes >= 7 && stats.objects > 0);
  const collections = await shop.listCollections({}, { nameOnly: true }).toArray();
  const parts = await shop.listCollections({ name: 'parts' }).toArray();
  assert.ok(collections.length >= 7 && parts[0].type === 'collection' && parts[0].info.readOnly === false);
  const group = {
    _id: null,
    capped: { $first: '$storageStats.capped' },
    count: { $sum: '$storageStats.count' },
    size: { $sum: { $toDouble: '$storageStats.size' } },
    storageSize: { $sum: { $toDouble: '$storageStats.storageSize' } },
    totalIndexSize: { $sum: { $toDouble: '$storageStats.totalIndexSize' } },
    freeStorageSize: { $sum: { $toDouble: '$storageStats.freeStorageSize' } },
    unscaledCollSize: {
      $sum: { $multiply: [{ $toDouble: '$storageStats.avgObjSize' }, { $toDouble: '$storageStats.count' }] },
    },
    nindexes: { $max: '$storageStats.nindexes' },
  };
  const average = { $divide: ['$unscaledCollSize', { $toDouble: '$count' }] };
  const avgObjSize = { $cond: { if: { $ne: ['$count', 0] }, then: average, else: 0 } };
  const stages = [{ $collStats: { storageStats: {} } }, { $group: group }, { $addFields: { avgObjSize } }];
  const [of] = await shop.collection('parts').aggregate(stages, utf8).toArray();
  const size = { $group: { _id: null, average: { $avg: { $bsonSize: '$$ROOT' } } } };
  const [{ average: bytes }] = await shop.collection('parts').aggregate([size], utf8).toArray();
  assert.deepEqual([of.count, of.nindexes, of.capped], [3, 2, false]);
  // With the keys of the documents.
  assert.ok(of.avgObjSize >= Math.floor(bytes) && of.avgObjSize < bytes + 30, `${of.avgObjSize}, ${bytes}`);
}

async function documents() {
  const parts = shop.collection('parts');
  const session = client.startSession();
  assert.equal(await parts.estimatedDocumentCount({ maxTimeMS: 500, session }), 3);
  assert.equal(await parts.countDocuments({}, { session, maxTimeMS: 5000, hint: undefined }), 3);
  const options = { sort: [['_id', -1]], skip: 0, limit: 20, maxTimeMS: 60000, promoteValues: false, bsonRegExp: true, session };
  const found = await parts.find({}, options).toArray();
  assert.equal(Number(found[0]._id), 3);
  await session.endSession();
  const notes = shop.collection('compass_notes');
  const { insertedId } = await notes.insertOne({ text: 'new' }, { checkKeys: false });
  const changed = await notes.findOneAndUpdate(
    { _id: insertedId, text: 'new' },
    { $set: { text: 'other' } },
    { returnDocument: 'after', promoteValues: false },
  );
  assert.equal(String(changed.text), 'other');
  await notes.findOneAndReplace({ _id: insertedId }, { text: 'whole' }, { returnDocument: 'after' });
  await notes.insertMany([{ n: 1 }, { n: 2 }], { ordered: false });
  const inserts = [{ insertOne: { document: { n: 3 } } }, { insertOne: { document: { n: 4 } } }];
  await notes.bulkWrite(inserts, { ordered: false, retryWrites: false, checkKeys: false }); // an import

  // The preview of an update is a transaction that is rolled back.
  await client.withSession((preview) => preview.withTransaction(async () => {
    const [first] = await notes.find({ n: 1 }, { session: preview, maxTimeMS: 1000, promoteValues: false }).sort({ _id: 1 }).limit(10).toArray();
    await notes.updateMany({ _id: { $in: [first._id] } }, { $set: { n: 10 } }, { session: preview, maxTimeMS: 1000 });
    const [after] = await notes.find({ _id: { $in: [first._id] } }, { session: preview }).sort({ _id: 1 }).toArray();
    assert.equal(after.n, 10);
    await preview.abortTransaction();
  }));
  assert.equal(await notes.countDocuments({ n: 1 }), 1);
  assert.equal((await notes.updateMany({ n: { $gt: 1 } }, { $inc: { n: 1 } })).modifiedCount, 3);
  assert.equal((await notes.deleteMany({ n: { $exists: true } })).deletedCount, 4);
  await notes.deleteOne({ _id: insertedId });
  const cursor = notes.find({}, { batchSize: 1 });
  assert.equal(await cursor.next(), null);
}

async function schema() {
  const parts = shop.collection('parts');
  const sample = [{ $match: { qty: { $gt: 0 } } }, { $sample: { size: 1000 } }, { $project: { name: 1 } }];
  const options = { allowDiskUse: true, promoteValues: false, readPreference: 'secondaryPreferred', maxTimeMS: 60000 };
  assert.equal((await parts.aggregate(sample, options).toArray()).length, 3);
  // The pipeline builder shows some documents behind each stage.
  const preview = [{ $match: {} }, { $limit: 100000 }, { $group: { _id: '$tags', n: { $sum: 1 } } }, { $limit: 10 }];
  assert.ok((await parts.aggregate(preview, { ...options, batchSize: 10 }).toArray()).length > 0);
}

async function indexes() {
  const parts = shop.collection('parts');
  const listed = await parts.indexes({ full: true });
  assert.deepEqual(listed.map((index) => index.name), ['_id_', 'name_1']);
  const sizes = [
    { $collStats: { storageStats: {} } },
    { $project: { indexSizes: { $objectToArray: '$storageStats.indexSizes' } } },
    { $unwind: '$indexSizes' },
    { $group: { _id: '$indexSizes.k', size: { $sum: { $toDouble: '$indexSizes.v' } } } },
  ];
  const bytes = await parts.aggregate([...sizes, { $sort: { _id: 1 } }]).toArray();
  // Documents are in the order of `_id`, which so takes nothing.
  assert.deepEqual(bytes.map((index) => [index._id, index.size > 0]), [['_id_', false], ['name_1', true]]);
  const usage = { name: 1, usageHost: '$host', usageCount: '$accesses.ops', usageSince: '$accesses.since', building: 1 };
  assert.equal((await parts.aggregate([{ $indexStats: {} }, { $project: usage }]).toArray()).length, 2);
  const isRunning = { $and: [{ $eq: [{ $type: '$progress' }, 'object'] }, { $gt: ['$progress.total', 0] }] };
  const share = { $divide: ['$progress.done', '$progress.total'] };
  const progress = [
    { $currentOp: { allUsers: true, localOps: false } },
    { $match: { ns: 'shop.parts', active: true, 'command.createIndexes': { $exists: true } } },
    { $sort: { 'command.indexes.name': 1, secs_running: -1 } },
    { $unwind: '$command.indexes' },
    {
      $group: {
        _id: '$command.indexes.name',
        active: { $max: '$active' },
        secsRunning: { $max: '$secs_running' },
        msg: { $first: '$msg' },
        progress: { $first: { $cond: { if: isRunning, then: share, else: '$$REMOVE' } } },
      },
    },
  ];
  assert.deepEqual(await admin.aggregate(progress).toArray(), []);
  const shardKey = client.db('config').collection('collections');
  const filter = { _id: 'shop.parts', unsplittable: { $ne: true } };
  assert.deepEqual(await shardKey.find(filter, { projection: { key: 1, _id: 0 } }).toArray(), []);
  await refused(parts.listSearchIndexes().toArray(), 40324);
  const notes = shop.collection('compass_notes');
  assert.equal(await notes.createIndex({ n: 1 }, { name: 'by_n', unique: true }), 'by_n');
  await refused(shop.command({ collMod: 'compass_notes', index: { name: 'by_n', hidden: true } }), 238);
  await notes.dropIndex('by_n');
}

async function explain() {
  const parts = shop.collection('parts');
  const found = await parts.find({ name: 'nut' }, { sort: [['qty', 1]] }).explain({ verbosity: 'executionStats', maxTimeMS: 5000 });
  assert.equal(found.executionStats.nReturned, 1);
  const stages = [{ $match: { name: 'nut' } }, { $project: { name: 1 } }];
  const piped = await parts.aggregate(stages).explain({ verbosity: 'executionStats', maxTimeMS: 5000 });
  assert.equal(piped.queryPlanner.namespace, 'shop.parts');
  await parts.find({}).explain({ verbosity: 'queryPlanner' });
}

async function performance() {
  const status = await admin.command({ serverStatus: 1 }, utf8);
  for (const field of ['localTime', 'opcounters', 'network', 'connections', 'mem', 'globalLock']) {
    assert.ok(field in status, field);
  }
  assert.equal(typeof status.globalLock.activeClients.readers, 'number');
  assert.ok('totals' in (await admin.command({ top: 1 }, utf8)));
  const running = [{ $currentOp: { allUsers: true, idleConnections: false, truncateOps: false } }];
  const [own] = await admin.aggregate(running).toArray();
  assert.equal(own.ns, 'admin.$cmd');
  await refused(admin.command({ killOp: 1, id: own.opid }, utf8), 40414); // it is `op`, of which Compass says `id`
  await admin.command({ killOp: 1, op: own.opid }, utf8);
}

async function manage() {
  await shop.createCollection('compass_made', {});
  await shop.renameCollection('compass_made', 'compass_renamed');
  assert.equal(await shop.collection('compass_renamed').drop(), true);
  assert.equal(await shop.collection('compass_notes').drop(), true);
  const view = await shop.createCollection('compass_view', { viewOn: 'parts', pipeline: [{ $limit: 1 }] });
  assert.equal((await view.find().toArray()).length, 1);
  assert.equal(await view.drop(), true);
  await refused(shop.dropDatabase(), 2); // the models need it
  await admin.command({ killSessions: [] });
}

async function main() {
  for (const part of [connect, lists, documents, schema, indexes, explain, performance, manage]) {
    await part();
  }
  await client.close();
  console.log(`Compass: ${commands} commands as expected`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
