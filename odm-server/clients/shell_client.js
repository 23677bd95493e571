// Lines for mongosh on a served shop: `mongosh URI --file shell_client.js`.
const assert = require('assert');

assert.equal(db.products.countDocuments({ name: 'lamp' }), 1);
assert.deepEqual(show_names(), ['carts', 'manuals', 'orders', 'parts', 'products', 'reviews', 'warranties']);
db.reviews.insertOne({ _id: NumberLong('800'), product: NumberLong('3'), stars: 2, text: 'of a shell', published: new Date() });
assert.equal(Number(db.products.findOne({ _id: 3 }).review_count), 1);
let refusal = '';
try {
  db.products.updateOne({ _id: 3 }, { $inc: { review_count: 1 } });
} catch (error) {
  refusal = error.message;
}
assert.match(refusal, /derived field/);
db.notes.createIndex({ text: 1 }, { unique: true });
db.notes.insertMany([{ text: 'a' }, { text: 'b' }]);
assert.equal(db.notes.find({ text: 'b' }).explain().queryPlanner.winningPlan.inputStage.stage, 'IXSCAN');
const session = db.getMongo().startSession();
session.startTransaction();
session.getDatabase('shop').notes.deleteMany({});
session.abortTransaction();
assert.equal(db.notes.countDocuments(), 2);
db.notes.drop();
db.reviews.deleteOne({ _id: 800 });
assert.equal(Number(db.products.findOne({ _id: 3 }).review_count), 0);
print('mongosh: all as expected');

function show_names() {
  return db.getCollectionNames().filter((name) => !name.startsWith('_odm')).sort();
}
