// Carries out writes that come as lines of extended JSON with the driver for Node, and prints the outcome of each:
// `node history_client.js URI`.
const assert = require('assert');
const readline = require('readline');
const { BSON, MongoClient, MongoServerError } = require('mongodb');

async function write(client, { database, collection: name, do: what, id, with: document }) {
  const collection = client.db(database).collection(name);
  const named = { _id: id };
  switch (what) {
    case 'insert':
      await collection.insertOne(document);
      return true;
    case 'replace':
      return (await collection.replaceOne(named, document)).matchedCount === 1;
    case 'upsert':
      await collection.replaceOne(named, document, { upsert: true });
      return true;
    case 'update':
      return (await collection.updateOne(named, document)).matchedCount === 1;
    default:
      assert.equal(what, 'delete');
      return (await collection.deleteOne(named)).deletedCount === 1;
  }
}

async function main() {
  const client = await new MongoClient(process.argv[2]).connect();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    try {
      // Numbers keep their types.
      console.log(await write(client, BSON.EJSON.parse(line, { relaxed: false })) ? 'done' : 'missing');
    } catch (error) {
      if (!(error instanceof MongoServerError)) throw error;
      console.log(`${error.code} ${error.errorResponse?.errmsg ?? error.message}`);
    }
  }
  await client.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
