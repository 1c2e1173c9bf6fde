// The published TypeScript client of Hindsight, unmodified, against a running server.
// Environment: PERDURE_TEST_URL and PERDURE_TEST_KEY. Run with `node --test`.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { HindsightClient, HindsightError, createClient, createConfig, sdk } from "@vectorize-io/hindsight-client";

const baseUrl = process.env.PERDURE_TEST_URL;
const apiKey = process.env.PERDURE_TEST_KEY;
const client = new HindsightClient({ baseUrl, apiKey });
const low = createClient(createConfig({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } }));
const path = (extra) => ({ bank_id: "team", ...extra });

async function ended(bank, operationId) {
  for (let i = 0; i < 400; i++) {
    const { data } = await sdk.getOperationStatus({
      client: low,
      path: { bank_id: bank, operation_id: operationId },
    });
    if (!["pending", "processing"].includes(data.status)) return data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`operation ${operationId} did not end`);
}

before(async () => {
  const response = await client.retainBatch("team", [
    { content: "Alice Johnson works at Google as a software engineer.", documentId: "d1", document_id: "d1", tags: ["work"] },
    { content: "Bob Smith is a researcher at OpenAI.", context: "colleagues" },
    { content: "Eve Miller ran a marathon.", timestamp: "2024-10-15" },
  ]);
  assert.equal(response.success, true);
  assert.equal(response.items_count, 3);
});

test("version", async () => {
  assert.equal((await client.getVersion()).api_version, "0.9.1");
});

test("banks: create, profile, mission, config, list, delete", async () => {
  await client.createBank("b1", { name: "Test Agent", background: "I help with tests." });
  const profile = await client.getBankProfile("b1");
  assert.equal(profile.bank_id, "b1");
  assert.equal(profile.name, "Test Agent");
  assert.equal(profile.background, "I help with tests.");
  assert.equal((await client.setMission("b1", "Help more")).mission, "Help more");
  const config = await client.updateBankConfig("b1", { enableGraphRetrieval: false, dispositionEmpathy: 5 });
  assert.equal(config.overrides.disposition_empathy, 5);
  assert.equal((await client.getBankConfig("b1")).config.disposition_empathy, 5);
  assert.deepEqual((await client.resetBankConfig("b1")).overrides, {});
  const { data } = await sdk.listBanks({ client: low });
  assert.ok(data.banks.some((bank) => bank.bank_id === "b1"));
  await client.deleteBank("b1");
  assert.equal((await client.listMemories("b1")).total, 0);
});

test("retain: one, timeless, and in the background", async () => {
  const one = await client.retain("kept", "Carol Brown likes tea.", {
    timestamp: new Date("2024-01-15T10:30:00Z"),
    context: "kitchen",
    documentId: "tea",
    tags: ["drinks"],
    metadata: { via: "talk" },
  });
  assert.equal(one.success, true);
  assert.equal((await client.retain("kept", "Water boils.", { timestamp: "unset" })).success, true);
  const later = await client.retain("kept", "Dan Green likes coffee.", { async: true });
  assert.equal(later.async, true);
  assert.equal((await ended("kept", later.operation_id)).status, "completed");
  const { data } = await sdk.listOperations({ client: low, path: { bank_id: "kept" } });
  assert.equal(data.total, 1);
});

test("recall with every option", async () => {
  const response = await client.recall("team", "Where does Alice Johnson work?", {
    types: ["world", "experience"],
    maxTokens: 1000,
    budget: "high",
    trace: true,
    queryTimestamp: "2024-12-01T00:00:00Z",
    includeEntities: true,
    maxEntityTokens: 200,
    includeChunks: true,
    maxChunkTokens: 500,
    includeSourceFacts: true,
    tags: ["work"],
    tagsMatch: "any_strict",
    tagGroups: [{ not: { tags: ["nothing"] } }],
    minScores: { final: 0 },
    preferObservations: true,
  });
  assert.equal(response.results.length, 1);
  assert.match(response.results[0].text, /Google/);
  assert.equal(response.results[0].document_id, "d1");
  assert.ok(response.chunks[response.results[0].chunk_id]);
  assert.ok(Object.keys(response.entities).length > 0);
  assert.equal(response.trace.num_results, 1);
});

test("entities come by default and can be switched off", async () => {
  assert.ok((await client.recall("team", "Who is Alice Johnson?")).entities);
  assert.ok(!(await client.recall("team", "Who is Alice Johnson?", { includeEntities: false })).entities);
});

test("reflect", async () => {
  const answer = await client.reflect("team", "Where does Bob Smith work?", { budget: "low", includeFacts: true });
  assert.match(answer.text, /OpenAI/);
});

test("memories: list, get, update, clear", async () => {
  await client.retain("edited", "Frank Black owns a boat.", { documentId: "boat" });
  const listed = await client.listMemories("edited", { limit: 2, offset: 0 });
  assert.equal(listed.items.length, 1);
  const where = { bank_id: "edited", memory_id: listed.items[0].id };
  assert.equal((await sdk.getMemory({ client: low, path: where })).data.text, "Frank Black owns a boat.");
  const changed = await sdk.updateMemory({ client: low, path: where, body: { text: "Frank Black owns a plane." } });
  assert.equal(changed.data.text, "Frank Black owns a plane.");
  const cleared = await sdk.clearBankMemories({ client: low, path: { bank_id: "edited" } });
  assert.equal(cleared.data.success, true);
  assert.equal((await client.listMemories("edited")).total, 0);
});

test("entities, documents, tags, statistics", async () => {
  const { data: entities } = await sdk.listEntities({ client: low, path: path() });
  const alice = entities.items.find((item) => item.canonical_name === "Alice Johnson");
  const { data: entity } = await sdk.getEntity({ client: low, path: path({ entity_id: alice.id }) });
  assert.equal(entity.id, alice.id);
  assert.equal((await client.listDocuments("team")).total, 3);
  assert.match((await client.getDocument("team", "d1")).original_text, /Google/);
  await client.updateDocument("team", "d1", { tags: ["work", "people"] });
  const { data: tags } = await sdk.listTags({ client: low, path: path() });
  assert.deepEqual(tags.items.map((item) => item.tag).sort(), ["people", "work"]);
  const { data: stats } = await sdk.getAgentStats({ client: low, path: path() });
  assert.equal(stats.total_documents, 3);
  await client.retain("gone", "Heidi Blue repairs clocks.", { documentId: "clocks" });
  await client.deleteDocument("gone", "clocks");
  assert.equal(await client.getDocument("gone", "clocks"), null);
});

test("export", async () => {
  const archive = await client.exportDocuments("team", { pollIntervalMs: 50 });
  assert.equal(String.fromCharCode(archive[0], archive[1]), "PK");
});

test("errors carry the status and the detail", async () => {
  await assert.rejects(client.recall("team", "   "), (error) => {
    assert.ok(error instanceof HindsightError);
    assert.equal(error.statusCode, 422);
    return true;
  });
  assert.deepEqual((await client.listDirectives("team")).items, []);
  const stranger = new HindsightClient({ baseUrl, apiKey: "pdr_wrong_key" });
  await assert.rejects(stranger.recall("team", "Alice"), (error) => error.statusCode === 401);
});

test("what Perdure adds: fields go and come", async () => {
  const { data } = await sdk.recallMemories({
    client: low,
    path: path(),
    body: { query: "What is the boiling point of tin?", precision: "inject" },
  });
  assert.equal(data.abstained, true);
  assert.equal(data.evidence, "none");
  assert.deepEqual(data.results, []);
});
