-- Schema 8. In every table `bank` is a bank's number and `fact` a fact's number in that bank. Times are ISO 8601 text.

-- One row per bank. Numbers of facts and changes are allotted here, under the write lock, and never used twice.
CREATE TABLE bank (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  mission TEXT NOT NULL,
  skepticism INTEGER NOT NULL,
  literalism INTEGER NOT NULL,
  empathy INTEGER NOT NULL,
  bias_strength REAL NOT NULL,
  settings TEXT NOT NULL,                      -- JSON object
  model TEXT,                                  -- the embedding model of its vectors
  dimensions INTEGER,
  created_at TEXT,
  updated_at TEXT,
  last_fact INTEGER NOT NULL DEFAULT 0,        -- the highest number given to a fact
  last_change INTEGER NOT NULL DEFAULT 0,      -- the highest number given to a row of `change`
  changes_dropped INTEGER NOT NULL DEFAULT 0,  -- rows of `change` up to this number were deleted
  version INTEGER NOT NULL DEFAULT 0,          -- grows with every transaction that a search index must see
  vectors_version INTEGER NOT NULL DEFAULT 0   -- the version at which all vectors were replaced
);

-- Texts as they were given: what is known about them; the text itself is in `chunk`.
CREATE TABLE document (
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  context TEXT NOT NULL,
  metadata TEXT NOT NULL,                      -- JSON object of strings
  content_hash TEXT NOT NULL,
  characters INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  checksum INTEGER NOT NULL,                   -- CRC-32 of its content: stores/sql/checksums.py
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;

-- The tags of documents.
CREATE TABLE document_tag (
  bank INTEGER NOT NULL,
  document_id TEXT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (bank, document_id, tag)
) WITHOUT ROWID;

-- Verbatim parts of documents.
CREATE TABLE chunk (
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  text TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  checksum INTEGER NOT NULL,                   -- CRC-32 of its content: stores/sql/checksums.py
  PRIMARY KEY (bank, id)
);
CREATE INDEX chunk_document ON chunk (bank, document_id, ordinal);

-- The turns of a conversation in a chunk's text; start and end count characters.
CREATE TABLE chunk_turn (
  bank INTEGER NOT NULL,
  chunk_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  speaker TEXT NOT NULL,
  is_agent INTEGER NOT NULL,                   -- 0 or 1
  said_at TEXT,
  PRIMARY KEY (bank, chunk_id, ordinal)
) WITHOUT ROWID;

-- One row per fact; `no` is its place in the order of recording.
CREATE TABLE fact (
  bank INTEGER NOT NULL,
  no INTEGER NOT NULL,
  id TEXT NOT NULL,
  text TEXT NOT NULL,
  type TEXT NOT NULL,                          -- world, experience, opinion, observation
  document_id TEXT,
  chunk_id TEXT,
  ordinal INTEGER NOT NULL,
  source_text TEXT NOT NULL,
  speaker TEXT NOT NULL,
  listener TEXT NOT NULL DEFAULT '',           -- to whom it was said
  asked TEXT NOT NULL DEFAULT '',              -- the question that a short answer needs
  context TEXT NOT NULL,
  dates TEXT NOT NULL DEFAULT '[]',            -- JSON list of [words, date that they mean]
  occurred_start TEXT,
  occurred_end TEXT,
  mentioned_at TEXT,
  valid_from TEXT,
  valid_to TEXT,
  recorded_at TEXT,
  retired_at TEXT,                             -- since when it is not believed
  end_recorded_at TEXT,                        -- when valid_to became known by another fact
  superseded_by TEXT,                          -- id of a fact
  invalidated_at TEXT,
  invalid_reason TEXT,
  subject TEXT,
  relation TEXT,
  object TEXT,
  metadata TEXT NOT NULL,                      -- JSON object of strings
  topic TEXT,
  tier TEXT NOT NULL,                          -- core, general
  classification INTEGER NOT NULL,
  trust INTEGER NOT NULL,
  credibility INTEGER NOT NULL,
  relevance REAL NOT NULL,
  emotion REAL NOT NULL,
  emotion_tags TEXT NOT NULL,                  -- JSON list of strings
  confidence REAL,
  expires_at TEXT,
  language TEXT NOT NULL,
  original_text TEXT,
  flags TEXT NOT NULL,                         -- JSON list of strings
  proof_count INTEGER NOT NULL,
  recall_count INTEGER NOT NULL,
  last_recalled_at TEXT,
  recall_times TEXT NOT NULL,                  -- JSON list of the last 20 times
  checksum INTEGER NOT NULL,                   -- CRC-32 of its content: stores/sql/checksums.py
  UNIQUE (bank, no),
  UNIQUE (bank, id)
);
CREATE INDEX fact_document ON fact (bank, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX fact_chunk ON fact (bank, chunk_id) WHERE chunk_id IS NOT NULL;
CREATE INDEX fact_superseded_by ON fact (bank, superseded_by) WHERE superseded_by IS NOT NULL;

-- Which entities a fact mentions, and by what name. Either may be missing.
CREATE TABLE fact_entity (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  entity_id TEXT,
  name TEXT,
  PRIMARY KEY (bank, fact, ordinal)
) WITHOUT ROWID;
CREATE INDEX fact_entity_entity ON fact_entity (bank, entity_id) WHERE entity_id IS NOT NULL;

-- The tags of facts.
CREATE TABLE fact_tag (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (bank, fact, tag)
) WITHOUT ROWID;

-- The facts from which a fact was synthesised.
CREATE TABLE fact_source (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  source_id TEXT NOT NULL,                     -- id of a fact
  PRIMARY KEY (bank, fact, ordinal)
) WITHOUT ROWID;
CREATE INDEX fact_source_source ON fact_source (bank, source_id);

-- What stated a fact again after its first source, oldest first.
CREATE TABLE proof (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  document_id TEXT,
  chunk_id TEXT,
  seen_at TEXT,
  PRIMARY KEY (bank, fact, ordinal)
) WITHOUT ROWID;
CREATE INDEX proof_document ON proof (bank, document_id);
CREATE INDEX proof_chunk ON proof (bank, chunk_id);

-- Weighted links between facts, by number; causal ones lead from cause to effect.
CREATE TABLE link (
  bank INTEGER NOT NULL,
  source INTEGER NOT NULL,
  target INTEGER NOT NULL,
  kind TEXT NOT NULL,                          -- temporal, semantic, causal
  weight REAL NOT NULL,
  PRIMARY KEY (bank, source, target, kind)
) WITHOUT ROWID;
CREATE INDEX link_target ON link (bank, target, weight);

-- What a fact is found by and what a reranker reads of it.
CREATE TABLE fact_features (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  dedupe_key TEXT NOT NULL,                    -- facts that state the same share it; empty: never merged
  words TEXT NOT NULL,                         -- JSON list of strings
  signature BLOB NOT NULL,                     -- 256 bits, or empty
  terms TEXT NOT NULL,                         -- JSON object, term: weight
  passage TEXT NOT NULL,                       -- empty where it is the fact's text
  passage_in_context TEXT NOT NULL,            -- empty where it is the passage
  PRIMARY KEY (bank, fact)
);
CREATE INDEX fact_features_dedupe_key ON fact_features (bank, dedupe_key) WHERE dedupe_key <> '';

-- Embeddings, one row per fact and view.
CREATE TABLE vector (
  bank INTEGER NOT NULL,
  view TEXT NOT NULL,
  fact INTEGER NOT NULL,
  value BLOB NOT NULL,                         -- float16, little-endian
  PRIMARY KEY (bank, view, fact)
) WITHOUT ROWID;

-- Facts for which vectors of another model are kept aside until the bank switches over.
CREATE TABLE staged (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  PRIMARY KEY (bank, fact, model, dimensions)
);

-- The embeddings of that model.
CREATE TABLE staged_vector (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  view TEXT NOT NULL,
  value BLOB NOT NULL,                         -- float16, little-endian
  PRIMARY KEY (bank, fact, model, dimensions, view)
) WITHOUT ROWID;

-- Persons, places, organisations, things and concepts.
CREATE TABLE entity (
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  aliases TEXT NOT NULL,                       -- JSON list of strings
  mentions INTEGER NOT NULL,
  first_seen TEXT,
  last_seen TEXT,
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;

-- The keys under which entities are looked up.
CREATE TABLE entity_key (
  bank INTEGER NOT NULL,
  key TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  PRIMARY KEY (bank, key, entity_id)
) WITHOUT ROWID;
CREATE INDEX entity_key_entity ON entity_key (bank, entity_id);

-- What surfaces and background work keep in a bank.
CREATE TABLE record (
  bank INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,                          -- JSON object
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (bank, kind, id)
);

-- The same for what belongs to no bank, such as API keys.
CREATE TABLE shared_record (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,                          -- JSON object
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (kind, id)
);

-- Facts that changed after a search index may have read them.
CREATE TABLE change (
  bank INTEGER NOT NULL,
  no INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  kind INTEGER NOT NULL,                       -- 0 columns, 1 replaced, 2 gone, 3 links
  PRIMARY KEY (bank, no)
) WITHOUT ROWID;

-- Facts as a search index loads them. May be emptied at any time: it is made again from the other tables.
CREATE TABLE index_cache (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  id TEXT NOT NULL,                            -- fact.id
  body BLOB NOT NULL,                          -- stores/index/packing.py
  PRIMARY KEY (bank, fact)
);

-- A row per transaction that erased content whose traces may still be in unused parts of the file.
CREATE TABLE erasure (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  erased_at TEXT NOT NULL
);
