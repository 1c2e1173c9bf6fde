-- Schema 3. Facts are numbered for the whole file and numbers are never used again, so that an index
-- finds what is new by "no > last seen". Rows that an index loads are kept apart from rows that are
-- read one by one, and bank leads the keys of all of them.

CREATE TABLE bank (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  mission TEXT NOT NULL,
  disposition TEXT NOT NULL,
  settings TEXT NOT NULL,
  model TEXT,
  dimensions INTEGER,
  created_at TEXT,
  updated_at TEXT,
  version INTEGER NOT NULL DEFAULT 0,       -- grows with every change an index must see
  vectors_since INTEGER NOT NULL DEFAULT 0, -- version at which all vectors were replaced
  changes_since INTEGER NOT NULL DEFAULT 0  -- rows of `change` up to this number were dropped
);

CREATE TABLE document (
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;

CREATE TABLE chunk (
  no INTEGER PRIMARY KEY,
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  text TEXT NOT NULL,
  spans TEXT,                               -- the turns in the text, JSON, null without
  UNIQUE (bank, id)
);
CREATE INDEX chunk_document ON chunk (bank, document_id, ordinal);

CREATE TABLE fact (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  document_id TEXT,
  chunk_id TEXT,
  open_key TEXT,                            -- dedupe_key while the fact is not closed
  text TEXT NOT NULL,
  body TEXT NOT NULL,                       -- the other fields, a JSON array
  recalls INTEGER NOT NULL DEFAULT 0,
  recall_times TEXT,                        -- the last of them, JSON
  UNIQUE (bank, id)
);
CREATE INDEX fact_document ON fact (bank, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX fact_open_key ON fact (bank, open_key) WHERE open_key IS NOT NULL;

CREATE TABLE detail (
  fact INTEGER PRIMARY KEY,
  dedupe_key TEXT NOT NULL,
  terms TEXT NOT NULL,
  words TEXT NOT NULL,
  passage TEXT NOT NULL,
  tokens BLOB NOT NULL
);

CREATE TABLE feature (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  id TEXT NOT NULL,
  columns BLOB NOT NULL,                    -- codec.COLUMNS
  terms BLOB NOT NULL,                      -- codec.TERM each
  entities BLOB NOT NULL,                   -- 64-bit hashes of entity ids
  metadata BLOB NOT NULL,                   -- 64-bit hashes of key and value
  tags TEXT,                                -- JSON, null without tags
  signature BLOB NOT NULL,
  links BLOB NOT NULL,                      -- codec.EDGE each: links with facts of lower number
  PRIMARY KEY (bank, fact)
) WITHOUT ROWID;

-- What an index loads of a range of facts, many rows in one: made of `feature` and `vector_original` (segments.py).
CREATE TABLE segment (
  no INTEGER PRIMARY KEY,
  bank INTEGER NOT NULL,
  part TEXT NOT NULL,                       -- facts, or codes of a view
  first INTEGER NOT NULL,                   -- lowest and highest number of a fact
  last INTEGER NOT NULL,
  change INTEGER NOT NULL,                  -- rows of `change` up to this number are in it
  body BLOB NOT NULL                        -- index/packed.py
);
CREATE UNIQUE INDEX segment_range ON segment (bank, part, last, first);

CREATE TABLE vector_original (
  bank INTEGER NOT NULL,
  view TEXT NOT NULL,
  fact INTEGER NOT NULL,
  value BLOB NOT NULL,                      -- float16
  PRIMARY KEY (bank, view, fact)
) WITHOUT ROWID;

CREATE TABLE staged (
  bank INTEGER NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  views BLOB NOT NULL,                      -- names and float16 vectors
  tokens BLOB NOT NULL,
  PRIMARY KEY (bank, model, dimensions, fact)
) WITHOUT ROWID;

CREATE TABLE proof (
  no INTEGER PRIMARY KEY,
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  document_id TEXT,
  chunk_id TEXT,
  seen_at TEXT
);
CREATE INDEX proof_fact ON proof (fact);
CREATE INDEX proof_document ON proof (bank, document_id);

CREATE TABLE derived (
  bank INTEGER NOT NULL,
  source_id TEXT NOT NULL,
  fact INTEGER NOT NULL,
  PRIMARY KEY (bank, source_id, fact)
) WITHOUT ROWID;
CREATE INDEX derived_fact ON derived (fact);

CREATE TABLE entity (
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  mentions INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;

CREATE TABLE entity_key (
  bank INTEGER NOT NULL,
  key TEXT NOT NULL,
  entity TEXT NOT NULL,
  PRIMARY KEY (bank, key, entity)
) WITHOUT ROWID;
CREATE INDEX entity_key_entity ON entity_key (bank, entity);

CREATE TABLE record (
  kind TEXT NOT NULL,
  bank TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (kind, bank, id)
) WITHOUT ROWID;

-- Holds a row while erased content may still be in unused parts of pages.
CREATE TABLE residue (
  erased INTEGER PRIMARY KEY
);

-- Facts whose indexed rows were changed, replaced or removed after they were written.
CREATE TABLE change (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  kind INTEGER NOT NULL
);
CREATE INDEX change_bank ON change (bank, seq);
