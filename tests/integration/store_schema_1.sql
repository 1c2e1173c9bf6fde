BEGIN TRANSACTION;
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
INSERT INTO "bank" VALUES(1,'home','Home','to remember','{"skepticism":3,"literalism":3,"empathy":3,"bias_strength":0.5}','{}','tiny',8,'2024-05-01T12:00:00+00:00','2024-05-01T12:00:00+00:00',2,0,0);
CREATE TABLE change (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  kind INTEGER NOT NULL
);
INSERT INTO "change" VALUES(1,1,1,0);
INSERT INTO "change" VALUES(2,1,3,0);
CREATE TABLE chunk (
  no INTEGER PRIMARY KEY,
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (bank, id)
);
INSERT INTO "chunk" VALUES(1,1,'c1','d1',0,'h1','Ann: I live in Oslo.
Bob: I like tea.');
INSERT INTO "chunk" VALUES(2,1,'c2','d2',0,'h2','Bob likes tea.');
CREATE TABLE derived (
  bank INTEGER NOT NULL,
  source_id TEXT NOT NULL,
  fact INTEGER NOT NULL,
  PRIMARY KEY (bank, source_id, fact)
) WITHOUT ROWID;
CREATE TABLE detail (
  fact INTEGER PRIMARY KEY,
  dedupe_key TEXT NOT NULL,
  terms TEXT NOT NULL,
  words TEXT NOT NULL,
  passage TEXT NOT NULL,
  tokens BLOB NOT NULL
);
INSERT INTO "detail" VALUES(1,'ann lives in oslo','{"ann":1.0,"lives":1.0,"in":1.0,"oslo":1.0}','["ann","lives","in","oslo"]','',X'746F6B');
INSERT INTO "detail" VALUES(2,'ann lives in rome','{"ann":1.0,"lives":1.0,"in":1.0,"rome":1.0}','["ann","lives","in","rome"]','',X'746F6B');
INSERT INTO "detail" VALUES(3,'bob likes tea','{"bob":1.0,"likes":1.0,"tea":1.0}','["bob","likes","tea"]','Bob: I like tea',X'746F6B');
CREATE TABLE document (
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;
INSERT INTO "document" VALUES(1,'d1',1714564800000000,'["Talk","at lunch",[],{},"",31,"2024-05-01T12:00:00+00:00","2024-05-01T12:00:00+00:00"]');
INSERT INTO "document" VALUES(1,'d2',1714564800000000,'["Note","",[],{},"",0,"2024-05-01T12:00:00+00:00","2024-05-01T12:00:00+00:00"]');
CREATE TABLE entity (
  bank INTEGER NOT NULL,
  id TEXT NOT NULL,
  mentions INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;
INSERT INTO "entity" VALUES(1,'ann',2,'["Ann","person",[],"2024-05-01T12:00:00+00:00","2024-05-01T12:00:00+00:00"]');
INSERT INTO "entity" VALUES(1,'bob',1,'["Bob","person",[],null,null]');
CREATE TABLE entity_key (
  bank INTEGER NOT NULL,
  key TEXT NOT NULL,
  entity TEXT NOT NULL,
  PRIMARY KEY (bank, key, entity)
) WITHOUT ROWID;
INSERT INTO "entity_key" VALUES(1,'ann','ann');
INSERT INTO "entity_key" VALUES(1,'bob','bob');
INSERT INTO "entity_key" VALUES(1,'robert','bob');
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
INSERT INTO "fact" VALUES(1,1,'f1','d1','c1',NULL,'Ann lives in Oslo','[null,null,"2024-05-01T12:00:00+00:00",null,null,"2024-05-01T12:00:00+00:00","2024-05-01T13:00:00+00:00",null,["Ann"],["ann"],[],[],[],["place"],"world","general","d1","c1",0,"I live in Oslo.","Ann","","f2","Ann","lives in","Oslo",{},null,0,2,3,0.0,0.0,null,"en",null,1]',0,NULL);
INSERT INTO "fact" VALUES(2,1,'f2','d1','c1','ann lives in rome','Ann lives in Rome','[null,null,"2024-05-01T12:00:00+00:00","2024-05-01T12:00:00+00:00",null,"2024-05-01T12:00:00+00:00",null,null,["Ann"],["ann"],[],[],[],[],"world","general","d1","c1",0,"","","",null,null,null,null,{"turn":"2"},null,0,2,3,0.0,0.0,null,"en",null,1]',0,NULL);
INSERT INTO "fact" VALUES(3,1,'f3','d1','c1','bob likes tea','Bob likes tea','["2024-04-28T12:00:00+00:00","2024-04-29T12:00:00+00:00","2024-05-01T12:00:00+00:00",null,null,"2024-05-01T12:00:00+00:00",null,null,["Bob"],["bob"],[],[],[],[],"experience","general","d1","c1",0,"","","",null,null,null,null,{},null,0,2,3,0.0,0.0,null,"en",null,2]',1,'["2024-05-01T12:00:00+00:00"]');
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
INSERT INTO "feature" VALUES(1,1,'f1',X'0030D9396317060000D46C10641706000000000000000080FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F0030D939631706000030D939631706000030D93963170600FCD38EB77616F22700000000000000008D3ADF6ABF23F3A5C36C9E0E1E491730E364775DD3AA1E708D3ADF6ABF23F3A5000000000000104000010001040000000100000000000000',X'737220E70000803F5E7E345D0000803F4E8EEC5F0000803F22B6F3000000803F',X'8D3ADF6ABF23F3A5',X'','["place"]',X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',X'');
INSERT INTO "feature" VALUES(1,2,'f2',X'0030D93963170600FFFFFFFFFFFFFF7F0030D93963170600FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F0030D939631706000030D939631706000030D93963170600FCD38EB77616F2270000000000000000000000000000000000000000000000000000000000000000E4A6A0577479B2B4000000000000104000010000040000000100000001000000',X'737220E70000803F5E7E345D0000803F4E8EEC5F0000803F2BBB724E0000803F',X'8D3ADF6ABF23F3A5',X'0F21D008A3B53541',NULL,X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',X'010000000000000001000000403F');
INSERT INTO "feature" VALUES(1,3,'f3',X'0030D93963170600FFFFFFFFFFFFFF7F0000000000000080FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F001053E02617060000702AFE3A170600001053E026170600FCD38EB77616F2270000000000000000000000000000000000000000000000000000000000000000E4A6A0577479B2B4000000000000084001010000030000000100000000000000',X'40B1CBF50000803F7D4ECA490000803FB2D7868E0000803F',X'74F32B2BB966A492',X'',NULL,X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',X'020000000000000000010000003F');
CREATE TABLE proof (
  no INTEGER PRIMARY KEY,
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  document_id TEXT,
  chunk_id TEXT,
  seen_at TEXT
);
INSERT INTO "proof" VALUES(1,1,3,'d2','c2','2024-05-01T12:00:00+00:00');
CREATE TABLE record (
  kind TEXT NOT NULL,
  bank TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (kind, bank, id)
) WITHOUT ROWID;
INSERT INTO "record" VALUES('operation','home','o1',1714564800000000,'[{"state":"done"},"2024-05-01T12:00:00+00:00","2024-05-01T12:00:00+00:00"]');
CREATE TABLE residue (
  erased INTEGER PRIMARY KEY
);
CREATE TABLE staged (
  bank INTEGER NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  views BLOB NOT NULL,                      -- names and float16 vectors
  tokens BLOB NOT NULL,
  PRIMARY KEY (bank, model, dimensions, fact)
) WITHOUT ROWID;
CREATE TABLE vector_code (
  bank INTEGER NOT NULL,
  view TEXT NOT NULL,
  fact INTEGER NOT NULL,
  code BLOB NOT NULL,                       -- float32 scale, then int8 values
  PRIMARY KEY (bank, view, fact)
) WITHOUT ROWID;
INSERT INTO "vector_code" VALUES(1,'fact',1,X'0402013C007F000000000000');
INSERT INTO "vector_code" VALUES(1,'fact',2,X'0402013C00007F0000000000');
INSERT INTO "vector_code" VALUES(1,'fact',3,X'0402013C0000007F00000000');
CREATE TABLE vector_original (
  bank INTEGER NOT NULL,
  view TEXT NOT NULL,
  fact INTEGER NOT NULL,
  value BLOB NOT NULL,                      -- float16
  PRIMARY KEY (bank, view, fact)
) WITHOUT ROWID;
INSERT INTO "vector_original" VALUES(1,'fact',1,X'0000003C000000000000000000000000');
INSERT INTO "vector_original" VALUES(1,'fact',2,X'00000000003C00000000000000000000');
INSERT INTO "vector_original" VALUES(1,'fact',3,X'000000000000003C0000000000000000');
CREATE INDEX chunk_document ON chunk (bank, document_id, ordinal);
CREATE INDEX fact_document ON fact (bank, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX fact_open_key ON fact (bank, open_key) WHERE open_key IS NOT NULL;
CREATE INDEX proof_fact ON proof (fact);
CREATE INDEX proof_document ON proof (bank, document_id);
CREATE INDEX derived_fact ON derived (fact);
CREATE INDEX entity_key_entity ON entity_key (bank, entity);
CREATE INDEX change_bank ON change (bank, seq);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('bank',1);
INSERT INTO "sqlite_sequence" VALUES('fact',3);
INSERT INTO "sqlite_sequence" VALUES('change',2);
COMMIT;
