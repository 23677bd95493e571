// The lines that a person types into mongosh, on a served shop: `mongosh URI --file shell_lines.js`. Each says what it shows, or that it is
// refused, with which code and why.
const assert = require('assert');

let lines = 0;

// A line, and what it shows: a value, or a function that accepts it.
function line(typed, expected) {
  lines += 1;
  let shown;
  try {
    shown = typed();
  } catch (error) {
    throw new Error(`${typed}: ${error.message} (${error.code})`);
  }
  if (typeof expected === 'function') {
    assert.ok(expected(shown), `${typed}: ${expected}`);
  } else {
    assert.deepEqual(EJSON.serialize(shown), EJSON.serialize(expected), String(typed));
  }
}

// A line that is refused: by the server with a code, or by the shell itself with a text.
function refused(typed, code, why) {
  lines += 1;
  let error;
  try {
    typed();
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error, `${typed} is not refused`);
  assert.equal(error.code, code, `${typed}: ${error.message}`);
  assert.match(error.message, why, String(typed));
}

const isOk = (reply) => reply.ok === 1;
const names = (documents) => documents.map((document) => document.name);

// Databases and collections.
line(() => show('dbs').value.map((one) => one.name), (shown) => ['admin', 'config', 'local', 'shop'].every((name) => shown.includes(name)));
line(() => names(show('collections').value), ['carts', 'manuals', 'orders', 'parts', 'products', 'reviews', 'warranties']);
line(() => use('shop'), 'already on db shop');
line(() => db.getName(), 'shop');
line(() => db.getMongo().getDBNames().includes('shop'), true);
line(() => db.getSiblingDB('other').getCollectionNames(), []);
line(() => db.stats(), (stats) => stats.db === 'shop' && stats.collections === 7 && stats.objects > 10);
line(() => db.stats(1024).scaleFactor, 1024);
line(() => db.parts.stats(), (stats) => stats.ns === 'shop.parts' && stats.count === 3 && stats.nindexes === 2 && !stats.capped);
line(() => db.parts.totalSize(), (size) => Number(size) > 0);
line(() => db.parts.isCapped(), false);
line(() => db.getCollectionNames().length, 7);
line(() => db.getCollectionInfos({ name: 'parts' }), (infos) => infos.length === 1 && infos[0].type === 'collection');
line(() => db.parts.exists().name, 'parts');
line(() => db.parts.getFullName(), 'shop.parts');
line(() => db.createCollection('lines'), { ok: 1 });
refused(() => db.createCollection('lines'), 48, /already exists/);
refused(() => db.createCollection('capped', { capped: true, size: 1000 }), 238, /create.capped/); // no document goes by itself
line(() => db.createView('nuts', 'parts', [{ $match: { name: 'nut' } }]), { ok: 1 });
line(() => db.nuts.countDocuments(), 1);
refused(() => db.nuts.insertOne({}), 166, /is a view, not a collection/);
line(() => db.nuts.drop(), true);

// Writes.
line(() => db.lines.insertOne({ _id: 1, a: 1 }).insertedId, 1);
line(() => db.lines.insertMany([{ _id: 2, a: 2 }, { _id: 3, a: 3 }]).insertedIds, { 0: 2, 1: 3 });
refused(() => db.lines.insertOne({ _id: 1 }), 11000, /E11000 duplicate key error collection: shop.lines/);
line(() => db.lines.updateOne({ _id: 1 }, { $inc: { a: 1 }, $push: { list: { $each: [3, 1], $sort: 1 } } }).modifiedCount, 1);
line(() => db.lines.updateMany({}, [{ $set: { b: { $add: ['$a', 1] } } }]).modifiedCount, 3);
line(() => db.lines.updateOne({ _id: 9 }, { $set: { a: 9 } }, { upsert: true }).insertedId, 9);
line(() => db.lines.replaceOne({ _id: 3 }, { a: 30 }).modifiedCount, 1);
line(() => db.lines.findOneAndUpdate({ _id: 1 }, { $set: { c: 1 } }, { returnDocument: 'after' }).c, 1);
line(() => db.lines.findOneAndReplace({ _id: 9 }, { a: 10 }).a, 9);
line(() => db.lines.findAndModify({ query: { _id: 2 }, update: { $unset: { b: 1 } }, new: true }), { _id: 2, a: 2 });
line(() => db.lines.deleteOne({ _id: 9 }).deletedCount, 1);
line(() => db.lines.findOneAndDelete({ _id: 3 }), { _id: 3, a: 30 });
line(
  () => db.lines.bulkWrite([
    { insertOne: { document: { _id: 20 } } },
    { updateOne: { filter: { _id: 20 }, update: { $set: { a: 1 } } } },
    { replaceOne: { filter: { _id: 20 }, replacement: { a: 2 } } },
    { deleteMany: { filter: { _id: 20 } } },
  ]),
  (done) => done.insertedCount === 1 && done.modifiedCount === 2 && done.deletedCount === 1,
);
line(() => db.lines.insert({ _id: 30 }).acknowledged, true);
line(() => db.lines.update({ _id: 30 }, { $set: { a: 1 } }).modifiedCount, 1);
line(() => db.lines.remove({ _id: 30 }).deletedCount, 1);
refused(() => db.parts.insertOne({ _id: 1 }), 121, /`name` is missing/); // the schema of the model
refused(() => db.products.updateOne({ _id: 1 }, { $set: { review_count: 1 } }), 2, /derived field/);

// Reads.
line(() => db.parts.find().pretty().toArray().length, 3);
line(() => db.parts.find({}, { _id: 0, name: 1 }).sort({ name: -1 }).skip(1).limit(1).toArray(), [{ name: 'nut' }]);
line(() => db.parts.findOne({ name: 'nut' }).tags, ['steel']);
line(() => db.parts.find().map((part) => part.name).toArray(), ['bolt', 'nut', 'washer']);
line(() => db.parts.find().itcount(), 3);
line(() => db.parts.find({ qty: { $gt: 10 } }).count(), 2);
line(() => db.parts.count(), 3);
line(() => db.parts.countDocuments({ name: /^b/ }), 1);
line(() => db.parts.estimatedDocumentCount(), 3);
line(() => db.parts.distinct('name', { qty: { $lt: 100 } }), ['bolt', 'nut']);
line(() => db.parts.aggregate([{ $group: { _id: null, n: { $sum: '$qty' } } }]).toArray(), [{ _id: null, n: 395 }]);
line(() => db.aggregate([{ $documents: [{ a: 1 }, { a: 2 }] }, { $match: { a: 2 } }]).toArray(), [{ a: 2 }]);
line(() => db.parts.find({ name: 'nut' }).explain('executionStats'), (plan) => plan.executionStats.totalKeysExamined === 1);
line(() => db.parts.explain().find({ name: 'nut' }).finish().queryPlanner.winningPlan.inputStage.stage, 'IXSCAN');
line(() => db.parts.aggregate([{ $match: { name: 'nut' } }]).explain().queryPlanner.winningPlan.stage, 'FETCH');
line(() => db.parts.explain().count().queryPlanner.winningPlan.stage, 'COUNT');
line(() => db.parts.explain().distinct('name').queryPlanner.winningPlan.stage, 'COLLSCAN');
line(() => db.parts.explain().update({ name: 'nut' }, { $set: { qty: 1 } }).queryPlanner.winningPlan.stage, 'UPDATE');
refused(() => db.parts.find({ $where: 'true' }).toArray(), 238, /\$where/); // there is no JavaScript in it
refused(() => db.parts.find().hint({ name: 1 }).toArray(), 238, /hint/); // the planner chooses
refused(() => db.parts.mapReduce(() => {}, () => {}, { out: 'x' }), 59, /mapReduce/); // the same
refused(() => db.parts.aggregate([{ $out: 'copy' }]).toArray(), 40324, /\$out/); // pipelines only read

// Indexes.
line(() => db.lines.createIndex({ a: 1 }), 'a_1');
line(() => db.lines.createIndexes([{ b: 1 }, { c: -1 }], { sparse: true }), ['b_1', 'c_-1']);
line(() => names(db.lines.getIndexes()), ['_id_', 'a_1', 'b_1', 'c_-1']);
line(() => db.lines.getIndexKeys()[1], { a: 1 });
line(() => names(db.lines.aggregate([{ $indexStats: {} }]).toArray()).length, 4);
line(() => db.lines.dropIndex('a_1').nIndexesWas, 4);
line(() => db.lines.dropIndexes().nIndexesWas, 3);
refused(() => db.parts.dropIndex('name_1'), 2, /belongs to the models/);
refused(() => db.lines.createIndex({ a: 'text' }), 238, /'text'/);
refused(() => db.lines.createIndex({ a: 1 }, { expireAfterSeconds: 1 }), 238, /expireAfterSeconds/); // as capped collections
refused(() => db.lines.getSearchIndexes(), 40324, /\$listSearchIndexes/); // of Atlas
refused(() => db.lines.reIndex(), 59, /reIndex/); // an index is never damaged alone
refused(() => db.lines.getPlanCache().clear(), 59, /planCacheClear/); // there is none
refused(() => db.lines.latencyStats().toArray(), 238, /latencyStats/); // not measured by collection

// Sessions, transactions and changes.
const session = db.getMongo().startSession();
const inSession = session.getDatabase('shop');
line(() => session.startTransaction(), undefined);
line(() => inSession.lines.insertOne({ _id: 40 }).insertedId, 40);
line(() => inSession.createCollection('drafts'), { ok: 1 });
line(() => inSession.drafts.createIndex({ a: 1 }), 'a_1');
line(() => db.lines.countDocuments({ _id: 40 }), 0);
line(() => session.commitTransaction(), undefined);
line(() => db.drafts.getIndexes().length, 2);
line(() => session.startTransaction(), undefined);
line(() => inSession.lines.deleteMany({}).deletedCount, 3);
line(() => session.abortTransaction(), undefined);
line(() => db.lines.countDocuments(), 3);
line(() => session.endSession(), undefined);
const snapshot = db.getMongo().startSession({ snapshot: true });
line(() => snapshot.getDatabase('shop').lines.countDocuments({}), 3);
db.lines.insertOne({ _id: 41 });
line(() => snapshot.getDatabase('shop').lines.countDocuments({}), 3);
line(() => db.aggregate([{ $listLocalSessions: {} }]).toArray().length > 0, true);
const changes = db.lines.watch();
line(() => changes.tryNext(), null);
db.lines.deleteOne({ _id: 41 });
line(() => changes.tryNext().operationType, 'delete');
line(() => changes.close(), undefined);

// The server.
line(() => db.runCommand({ ping: 1 }), isOk);
line(() => db.adminCommand({ listDatabases: 1, nameOnly: true }), isOk);
refused(() => db.runCommand({ nope: 1 }), 59, /no such command: 'nope'/);
line(() => db.version(), '8.0.0');
line(() => db.hello().isWritablePrimary, true);
line(() => db.serverStatus().process, 'odm-server');
line(() => db.serverBuildInfo().version, '8.0.0');
line(() => db.hostInfo().system.numCores > 0, true);
line(() => db.serverCmdLineOpts().argv, []);
line(() => 'find' in db.listCommands().value, true);
line(() => db.currentOp().inprog.length > 0, true);
line(() => db.currentOp({ op: 'query' }).inprog, []);
line(() => db.killOp(1234567), isOk);
refused(() => db.runCommand({ currentOp: 1 }), 13, /admin database/);
line(() => db.getProfilingStatus().was, 0);
refused(() => db.setProfilingLevel(2), 238, /profiling/); // the program has the events
line(() => db.adminCommand({ getParameter: 1, featureCompatibilityVersion: 1 }).featureCompatibilityVersion.version, '8.0');
refused(() => db.adminCommand({ setParameter: 1, logLevel: 1 }), 59, /setParameter/); // the program has the settings
line(() => show('logs').value, ['global', 'startupWarnings']);
line(() => rs.status().members[0].stateStr, 'PRIMARY');
line(() => rs.conf()._id, 'odm');
line(() => db.parts.validate(), (result) => result.valid && result.nrecords === 3);
line(() => db.adminCommand({ fsync: 1 }), isOk);
refused(() => db.fsyncLock(), 238, /fsync.lock/); // nobody keeps others from writing
refused(() => db.shutdownServer(), 59, /shutdown/); // the program ends it

// Users, of which this server requires none. Only the program changes them.
line(() => db.getUsers().users, []);
line(() => show('users').value, []);
line(() => show('roles').value.map((role) => role.role), ['read', 'readWrite']);
for (const change of [
  () => db.createUser({ user: 'eve', pwd: 'x', roles: [] }),
  () => db.updateUser('eve', { pwd: 'y' }),
  () => db.changeUserPassword('eve', 'y'),
  () => db.grantRolesToUser('eve', ['read']),
  () => db.revokeRolesFromUser('eve', ['read']),
  () => db.dropUser('eve'),
]) {
  refused(change, 13, /the program that serves this database changes its users/);
}
refused(() => db.createRole({ role: 'r', privileges: [], roles: [] }), 59, /createRole/); // the roles are the two above

// The end.
line(() => db.lines.renameCollection('old_lines'), isOk);
line(() => db.old_lines.drop(), true);
line(() => db.drafts.drop(), true);
line(() => db.nope.drop(), true);
refused(() => db.nope.getIndexes(), 26, /ns does not exist/);
refused(() => db.parts.drop(), 2, /belongs to the models/);
refused(() => db.dropDatabase(), 2, /models need/);
print(`mongosh: ${lines} lines as expected`);
