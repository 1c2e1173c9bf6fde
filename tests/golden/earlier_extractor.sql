BEGIN TRANSACTION;
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
INSERT INTO "bank" VALUES(1,'b','','',3,3,3,0.5,'{}',NULL,NULL,'2026-11-20T01:36:21.653078+00:00','2026-11-20T01:36:21.653078+00:00',5,0,0,2,0);
CREATE TABLE change (
  bank INTEGER NOT NULL,
  no INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  kind INTEGER NOT NULL,                       -- 0 columns, 1 replaced, 2 gone, 3 links
  PRIMARY KEY (bank, no)
) WITHOUT ROWID;
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
INSERT INTO "chunk" VALUES(1,'c5e65cd9-b145-7cf5-6678-c93b44c4773c','chat',0,'user: hi! I''m Ann, 41, and I live in Porto. My sister Lena is allergic to walnuts.
assistant: Nice to meet you, Ann! I added the allergy to your notes.
user: They offered me the job at Lumen last week and I said yes. Which bus goes to the harbour?','9341997f-dd82-a88b-baa7-808c63ebc5c8',4083134768);
INSERT INTO "chunk" VALUES(1,'651082cc-3ba5-8708-9975-c06a7a808fc7','plain',0,'Ann works at Lumen.','b39e5c6b-ad98-3eed-ab07-7a9b9a0fd09b',2893818491);
INSERT INTO "chunk" VALUES(1,'01b45df2-979b-d5f6-be20-84ef0f628d3c','filler',0,'Ann: ok thanks','d5ce9852-6e4f-1a6a-b999-05324140f334',1862275969);
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
INSERT INTO "chunk_turn" VALUES(1,'01b45df2-979b-d5f6-be20-84ef0f628d3c',0,5,14,'Ann',0,'2026-03-06T09:00:00+00:00');
INSERT INTO "chunk_turn" VALUES(1,'651082cc-3ba5-8708-9975-c06a7a808fc7',0,0,19,'',0,'2026-03-05T09:00:00+00:00');
INSERT INTO "chunk_turn" VALUES(1,'c5e65cd9-b145-7cf5-6678-c93b44c4773c',0,6,82,'user',0,'2026-03-02T09:00:00+00:00');
INSERT INTO "chunk_turn" VALUES(1,'c5e65cd9-b145-7cf5-6678-c93b44c4773c',1,94,151,'assistant',1,'2026-03-02T09:00:00+00:00');
INSERT INTO "chunk_turn" VALUES(1,'c5e65cd9-b145-7cf5-6678-c93b44c4773c',2,158,247,'user',0,'2026-03-02T09:00:00+00:00');
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
INSERT INTO "document" VALUES(1,'chat','','','{}','dbb39b41-ed5b-8a17-c21d-7beb4ecfea09',247,'2026-11-20T01:35:54.672722+00:00','2026-11-20T01:35:54.672722+00:00',1408870070);
INSERT INTO "document" VALUES(1,'filler','','','{}','a7b61fbc-3d1d-9091-83f5-ad17a140853b',14,'2026-11-20T01:36:21.886547+00:00','2026-11-20T01:36:21.886547+00:00',426921273);
INSERT INTO "document" VALUES(1,'plain','','','{}','373d1940-ea73-9c4d-d05e-2db679075e48',19,'2026-11-20T01:36:21.738328+00:00','2026-11-20T01:36:21.738328+00:00',2719710442);
CREATE TABLE document_tag (
  bank INTEGER NOT NULL,
  document_id TEXT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (bank, document_id, tag)
) WITHOUT ROWID;
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
INSERT INTO "entity" VALUES(1,'18102886-3233-9a7f-4389-a133470d06d1','Lumen','place','[]',2,'2026-03-02T09:00:00+00:00','2026-03-05T09:00:00+00:00');
INSERT INTO "entity" VALUES(1,'292b16c0-0bf1-75d7-41a2-3cc040751512','Porto','place','[]',1,'2026-03-02T09:00:00+00:00','2026-03-02T09:00:00+00:00');
INSERT INTO "entity" VALUES(1,'3585b8b0-31e4-3a21-cd84-d0aad61ff3ff','Ann','person','[]',2,'2026-03-02T09:00:00+00:00','2026-03-05T09:00:00+00:00');
INSERT INTO "entity" VALUES(1,'9dd78a3a-7da5-a5d7-f728-2e1151991795','Lena','concept','[]',1,'2026-03-02T09:00:00+00:00','2026-03-02T09:00:00+00:00');
INSERT INTO "entity" VALUES(1,'e433435f-1ffe-d262-079f-72f68a22b695','The user''s sister','person','[]',1,'2026-03-02T09:00:00+00:00','2026-03-02T09:00:00+00:00');
CREATE TABLE entity_key (
  bank INTEGER NOT NULL,
  key TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  PRIMARY KEY (bank, key, entity_id)
) WITHOUT ROWID;
INSERT INTO "entity_key" VALUES(1,'lumen','18102886-3233-9a7f-4389-a133470d06d1');
INSERT INTO "entity_key" VALUES(1,'porto','292b16c0-0bf1-75d7-41a2-3cc040751512');
INSERT INTO "entity_key" VALUES(1,'ann','3585b8b0-31e4-3a21-cd84-d0aad61ff3ff');
INSERT INTO "entity_key" VALUES(1,'lena','9dd78a3a-7da5-a5d7-f728-2e1151991795');
INSERT INTO "entity_key" VALUES(1,'sister','e433435f-1ffe-d262-079f-72f68a22b695');
INSERT INTO "entity_key" VALUES(1,'us','e433435f-1ffe-d262-079f-72f68a22b695');
INSERT INTO "entity_key" VALUES(1,'user','e433435f-1ffe-d262-079f-72f68a22b695');
INSERT INTO "entity_key" VALUES(1,'user sister','e433435f-1ffe-d262-079f-72f68a22b695');
CREATE TABLE erasure (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  erased_at TEXT NOT NULL
);
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
  context TEXT NOT NULL,
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
INSERT INTO "fact" VALUES(1,1,'01a1f698-8b30-7000-8002-97b34347c374','The user is Ann, 41, and the user live in Porto.','world','chat','c5e65cd9-b145-7cf5-6678-c93b44c4773c',0,'I''m Ann, 41, and I live in Porto.','user','',NULL,NULL,'2026-03-02T09:00:00+00:00','2026-03-02T09:00:00+00:00',NULL,'2026-11-20T01:35:54.672722+00:00',NULL,NULL,NULL,NULL,NULL,'the user','lives_in','Porto','{}',NULL,'general',0,2,3,0.0,0.0,'[]',NULL,NULL,'en',NULL,'[]',1,0,NULL,'[]',1382143781);
INSERT INTO "fact" VALUES(1,2,'01a1f698-8b30-7000-8004-cbd6ccfc98db','The user''s sister Lena is allergic to walnuts.','world','chat','c5e65cd9-b145-7cf5-6678-c93b44c4773c',1,'My sister Lena is allergic to walnuts.','user','',NULL,NULL,'2026-03-02T09:00:00+00:00','2026-03-02T09:00:00+00:00',NULL,'2026-11-20T01:35:54.672722+00:00',NULL,NULL,NULL,NULL,NULL,'Lena','allergic_to','walnuts','{}','family','general',0,2,3,0.0,-1.48,'[]',NULL,NULL,'en',NULL,'[]',1,0,NULL,'[]',834096023);
INSERT INTO "fact" VALUES(1,3,'01a1f698-8b30-7000-8008-91c2c30e7d28','I added the allergy to your notes.','experience','chat','c5e65cd9-b145-7cf5-6678-c93b44c4773c',2,'I added the allergy to your notes.','assistant','',NULL,NULL,'2026-03-02T09:00:00+00:00','2026-03-02T09:00:00+00:00',NULL,'2026-11-20T01:35:54.672722+00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{}','health','general',0,2,3,0.0,0.0,'[]',NULL,NULL,'en',NULL,'[]',1,0,NULL,'[]',2241797629);
INSERT INTO "fact" VALUES(1,4,'01a1f698-8b30-7000-800f-895b7a1ae878','They offered the user the job at Lumen last week and the user said yes. The user asked: "Which bus goes to the harbour?"','world','chat','c5e65cd9-b145-7cf5-6678-c93b44c4773c',3,'They offered me the job at Lumen last week and I said yes. Which bus goes to the harbour?','user','','2026-02-23T00:00:00+00:00','2026-03-02T00:00:00+00:00','2026-03-02T09:00:00+00:00','2026-02-23T00:00:00+00:00',NULL,'2026-11-20T01:35:54.672722+00:00',NULL,NULL,NULL,NULL,NULL,'the user','marital_status','married','{}','work','general',0,2,3,0.0,2.01,'[]',NULL,NULL,'en',NULL,'[]',1,0,NULL,'[]',1145625346);
INSERT INTO "fact" VALUES(1,5,'01a1f698-f4ea-7000-8001-b01540879635','Ann works at Lumen.','world','plain','651082cc-3ba5-8708-9975-c06a7a808fc7',0,'Ann works at Lumen.','','',NULL,NULL,'2026-03-05T09:00:00+00:00','2026-03-05T09:00:00+00:00',NULL,'2026-11-20T01:36:21.738328+00:00',NULL,NULL,NULL,NULL,NULL,'Ann','works_at','Lumen','{}','work','general',0,2,3,0.0,0.0,'[]',NULL,NULL,'en',NULL,'[]',1,0,NULL,'[]',1115582377);
CREATE TABLE fact_entity (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  entity_id TEXT,
  name TEXT,
  PRIMARY KEY (bank, fact, ordinal)
) WITHOUT ROWID;
INSERT INTO "fact_entity" VALUES(1,1,0,'3585b8b0-31e4-3a21-cd84-d0aad61ff3ff','Ann');
INSERT INTO "fact_entity" VALUES(1,1,1,'292b16c0-0bf1-75d7-41a2-3cc040751512','Porto');
INSERT INTO "fact_entity" VALUES(1,2,0,'e433435f-1ffe-d262-079f-72f68a22b695','The user''s sister');
INSERT INTO "fact_entity" VALUES(1,2,1,'9dd78a3a-7da5-a5d7-f728-2e1151991795','Lena');
INSERT INTO "fact_entity" VALUES(1,4,0,'18102886-3233-9a7f-4389-a133470d06d1','Lumen');
INSERT INTO "fact_entity" VALUES(1,5,0,'3585b8b0-31e4-3a21-cd84-d0aad61ff3ff','Ann');
INSERT INTO "fact_entity" VALUES(1,5,1,'18102886-3233-9a7f-4389-a133470d06d1','Lumen');
CREATE TABLE fact_features (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  dedupe_key TEXT NOT NULL,                    -- facts that state the same share it; empty: never merged
  words TEXT NOT NULL,                         -- JSON list of strings
  signature BLOB NOT NULL,                     -- 256 bits, or empty
  terms TEXT NOT NULL,                         -- JSON object, term: weight
  passage TEXT NOT NULL,                       -- empty where it is the fact's text
  passage_in_context TEXT NOT NULL,            -- empty where it is the passage
  tokens BLOB NOT NULL,                        -- packed token vectors
  PRIMARY KEY (bank, fact)
);
INSERT INTO "fact_features" VALUES(1,1,'213c8686440803704682adbc40eecc6b','["user","ann","41","live","porto","march","2026"]',X'0ACFB010DBFBBD6A23041D7398249B71C653CE388F220A51332D0771C2049BD5','{"user":2.5,"ann":1.5,"41":1.0,"live":1.5,"porto":1.0,"2":1.0,"march":1.0,"2026":1.0,"hi":1.0,"sister":1.0,"lena":1.0,"allerg":1.0,"walnut":1.0,"assist":0.5,"nice":0.5,"meet":0.5,"add":0.5,"allergi":0.5,"note":0.5,"offer":0.5,"job":0.5,"lumen":0.5,"last":0.5,"week":0.5,"said":0.5,"yes":0.5,"bus":0.5,"goe":0.5,"harbour":0.5}','The user is Ann, 41, and the user live in Porto. (2 March 2026)','user: hi! I''m Ann, 41, and I live in Porto. My sister Lena is allergic to walnuts. (2 March 2026)',X'');
INSERT INTO "fact_features" VALUES(1,2,'f84a4f36745fd327375923cf606a9520','["user","sister","lena","allergic","walnuts","march","2026"]',X'F1843428D0B95D4C010E102BA8069933AFB32190BE5A48517158827880830ADD','{"user":1.5,"sister":1.0,"lena":1.0,"allerg":1.5,"walnut":1.0,"2":1.0,"march":1.0,"2026":1.0,"hi":1.0,"ann":1.5,"41":1.0,"live":1.0,"porto":1.0,"assist":0.5,"nice":0.5,"meet":0.5,"add":0.5,"allergi":0.5,"note":0.5,"offer":0.5,"job":0.5,"lumen":0.5,"last":0.5,"week":0.5,"said":0.5,"yes":0.5,"bus":0.5,"goe":0.5,"harbour":0.5}','The user''s sister Lena is allergic to walnuts. (2 March 2026)','user: hi! I''m Ann, 41, and I live in Porto. My sister Lena is allergic to walnuts. (2 March 2026)',X'');
INSERT INTO "fact_features" VALUES(1,3,'30896fe2b96b34dad1d2b6a791cef122','["added","allergy","notes","march","2026"]',X'4B450F01831B511AD34CE29CFF84A842ED24015ADC6EA12339C16D514807F079','{"add":1.0,"allergi":1.0,"note":1.0,"2":1.0,"march":1.0,"2026":1.0,"assist":1.0,"nice":1.0,"meet":1.0,"ann":1.5,"user":1.0,"hi":0.5,"41":0.5,"live":0.5,"porto":0.5,"sister":0.5,"lena":0.5,"allerg":0.5,"walnut":0.5,"offer":0.5,"job":0.5,"lumen":0.5,"last":0.5,"week":0.5,"said":0.5,"yes":0.5,"bus":0.5,"goe":0.5,"harbour":0.5}','I added the allergy to your notes. (2 March 2026)','user: hi! I''m Ann, 41, and I live in Porto. My sister Lena is allergic to walnuts.
assistant: Nice to meet you, Ann! I added the allergy to your notes. (2 March 2026)',X'');
INSERT INTO "fact_features" VALUES(1,4,'f7bfdad378b13503cdbb65d22e992677','["offered","user","job","lumen","last","week","23","february","2026","said","yes","asked","bus","goes","harbour","march"]',X'977B7516D2B894CB072495D19A90B676C1D39D3046B28D81B121427AC14062D4','{"offer":1.0,"user":3.5,"job":1.0,"lumen":1.0,"last":1.0,"week":2.0,"23":1.0,"februari":1.0,"2026":2.0,"said":1.0,"yes":1.0,"ask":1.0,"bus":1.0,"goe":1.0,"harbour":1.0,"2":1.0,"march":1.0,"hi":0.5,"ann":1.0,"41":0.5,"live":0.5,"porto":0.5,"sister":0.5,"lena":0.5,"allerg":0.5,"walnut":0.5,"assist":0.5,"nice":0.5,"meet":0.5,"add":0.5,"allergi":0.5,"note":0.5,"marit":0.5,"status":0.5}','They offered the user the job at Lumen last week [the week of 23 February 2026] and the user said yes. The user asked: "Which bus goes to the harbour?" (2 March 2026)','assistant: Nice to meet you, Ann! I added the allergy to your notes.
user: They offered me the job at Lumen last week and I said yes. Which bus goes to the harbour? (2 March 2026)',X'');
INSERT INTO "fact_features" VALUES(1,5,'7a54b678063f8384bcb8ac424b1fc3c1','["ann","works","lumen","march","2026"]',X'62E901918DB93FF30D555EC0CBB01258A693C93C0DA71B8BB5275C11D2002690','{"ann":1.0,"work":1.5,"lumen":1.0,"5":1.0,"march":1.0,"2026":1.0}','Ann works at Lumen. (5 March 2026)','',X'');
CREATE TABLE fact_source (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  source_id TEXT NOT NULL,                     -- id of a fact
  PRIMARY KEY (bank, fact, ordinal)
) WITHOUT ROWID;
CREATE TABLE fact_tag (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (bank, fact, tag)
) WITHOUT ROWID;
CREATE TABLE index_cache (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  id TEXT NOT NULL,                            -- fact.id
  body BLOB NOT NULL,                          -- stores/index/packing.py
  PRIMARY KEY (bank, fact)
);
INSERT INTO "index_cache" VALUES(1,1,'01a1f698-8b30-7000-8002-97b34347c374',X'030001000000000052B6DF43AB600600FFFFFFFFFFFFFF7F0084CBCF064C0600FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F0084CBCF064C06000084CBCF064C06000084CBCF064C0600F4B9072F0EAEB42C000000000000000039F16F42291EC50B48793B3C80A2E26F36422F585F807A2FAFDF5C9A7BD48D63000000000000000000000000008037400000000000000000020000001D00000000000000BA86622E6E73E61C345E482C8E1AF96F3D5771CD49D6938D00002040737220E70000C03F32E12DAB0000803FAF2C0F530000C03F828C9E9D0000803F0DBED51A0000803FB7B9D67E0000803F4ECBC77D0000803FAC2A93D80000803FFC8BA5240000803F8B8963DF0000803FEF499BDF0000803F20542E350000803F8E87EEA10000003F3002B3CE0000003FCED3F6E90000003FE7731AFD0000003FD15206D60000003F14FABDCF0000003F3E87D6290000003FF8E0D8FB0000003F31B68E340000003FA0A9DB4A0000003FC0695A5B0000003FD6043BEF0000003FA935E7750000003F696B562F0000003F08E6646D0000003F9A9C685B0000003F');
INSERT INTO "index_cache" VALUES(1,2,'01a1f698-8b30-7000-8004-cbd6ccfc98db',X'030001000000000052B6DF43AB600600FFFFFFFFFFFFFF7F0084CBCF064C0600FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F0084CBCF064C06000084CBCF064C06000084CBCF064C0600F4B9072F0EAEB42C2F945317C3B0D59E3E2C9183901F40B10DC867B702567A575EB8DB6B606220AFAFDF5C9A7BD48D63010000000000000000000000008036400000000000000000020000001D000000010000005F61729A24295622F0FA89098CD35CA59A3ACEA849D6938D0000C03FFC8BA5240000803F8B8963DF0000803FEF499BDF0000C03F20542E350000803F0DBED51A0000803FB7B9D67E0000803F4ECBC77D0000803FAC2A93D80000803F737220E70000C03F32E12DAB0000803FAF2C0F530000803F828C9E9D0000803F8E87EEA10000003F3002B3CE0000003FCED3F6E90000003FE7731AFD0000003FD15206D60000003F14FABDCF0000003F3E87D6290000003FF8E0D8FB0000003F31B68E340000003FA0A9DB4A0000003FC0695A5B0000003FD6043BEF0000003FA935E7750000003F696B562F0000003F08E6646D0000003F9A9C685B0000003F01000000000000000000803F00000000');
INSERT INTO "index_cache" VALUES(1,3,'01a1f698-8b30-7000-8008-91c2c30e7d28',X'030101000000000052B6DF43AB600600FFFFFFFFFFFFFF7F0084CBCF064C0600FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F0084CBCF064C06000084CBCF064C06000084CBCF064C0600F4B9072F0EAEB42C688A00B7666D652F00000000000000000000000000000000000000000000000086F406172ABE09D7020000000000000000000000008034400000000000000000000000001D00000002000000B83E0684E7731AFD0000803FD15206D60000803F14FABDCF0000803F0DBED51A0000803FB7B9D67E0000803F4ECBC77D0000803F8E87EEA10000803F3002B3CE0000803FCED3F6E90000803F737220E70000C03F49D6938D0000803FAC2A93D80000003F32E12DAB0000003FAF2C0F530000003F828C9E9D0000003FFC8BA5240000003F8B8963DF0000003FEF499BDF0000003F20542E350000003F3E87D6290000003FF8E0D8FB0000003F31B68E340000003FA0A9DB4A0000003FC0695A5B0000003FD6043BEF0000003FA935E7750000003F696B562F0000003F08E6646D0000003F9A9C685B0000003F01000000000000000000803F0000000002000000000000000000803F00000000');
INSERT INTO "index_cache" VALUES(1,4,'01a1f698-8b30-7000-800f-895b7a1ae878',X'030001000000000052B6DF43AB600600FFFFFFFFFFFFFF7F0020B773724B0600FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F0020B773724B060000C09A44FF4B06000020B773724B0600F4B9072F0EAEB42CB4C496750066F45539F16F42291EC50BD65FF127BD79F8297C369C1E8539E6ADAFDF5C9A7BD48D6303000000000000000000000000803E400000000000000000010000002200000000000000B1F7DEBD6026EA375FAA5CA83E87D6290000803F49D6938D00006040F8E0D8FB0000803F31B68E340000803FA0A9DB4A0000803FC0695A5B00000040982779130000803FD83B95500000803F4ECBC77D00000040D6043BEF0000803FA935E7750000803FE0EA26680000803F696B562F0000803F08E6646D0000803F9A9C685B0000803F0DBED51A0000803FB7B9D67E0000803FAC2A93D80000003F737220E70000803F32E12DAB0000003FAF2C0F530000003F828C9E9D0000003FFC8BA5240000003F8B8963DF0000003FEF499BDF0000003F20542E350000003F8E87EEA10000003F3002B3CE0000003FCED3F6E90000003FE7731AFD0000003FD15206D60000003F14FABDCF0000003F720D38900000003F1C65007B0000003F');
INSERT INTO "index_cache" VALUES(1,5,'01a1f698-f4ea-7000-8001-b01540879635',X'030001000000000058B37C45AB600600FFFFFFFFFFFFFF7F00A45129434C0600FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F00A45129434C060000A45129434C060000A45129434C06000DB28B934CD2EAD5B4C496750066F4558D3ADF6ABF23F3A50C989EB152EEBF5DD20F39B19745FFD3E4A6A0577479B2B400000000000000000000000000001A400000000000000000020000000600000000000000162182766E73E61C345E482C6026EA375FAA5CA8737220E70000803F80684E530000C03F31B68E340000803FAE2BB1840000803FB7B9D67E0000803F4ECBC77D0000803F');
CREATE TABLE link (
  bank INTEGER NOT NULL,
  source INTEGER NOT NULL,
  target INTEGER NOT NULL,
  kind TEXT NOT NULL,                          -- temporal, semantic, causal
  weight REAL NOT NULL,
  PRIMARY KEY (bank, source, target, kind)
) WITHOUT ROWID;
INSERT INTO "link" VALUES(1,1,2,'temporal',1.0);
INSERT INTO "link" VALUES(1,1,3,'temporal',1.0);
INSERT INTO "link" VALUES(1,2,3,'temporal',1.0);
CREATE TABLE proof (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  document_id TEXT,
  chunk_id TEXT,
  seen_at TEXT,
  PRIMARY KEY (bank, fact, ordinal)
) WITHOUT ROWID;
CREATE TABLE record (
  bank INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,                          -- JSON object
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (bank, kind, id)
);
INSERT INTO "record" VALUES(1,'speaker','user','{"role":"user"}','2026-11-20T01:36:21.653078+00:00','2026-11-20T01:36:21.653078+00:00');
INSERT INTO "record" VALUES(1,'speaker','Ann','{"role":""}','2026-11-20T01:36:29.381250+00:00','2026-11-20T01:36:29.381250+00:00');
CREATE TABLE shared_record (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,                          -- JSON object
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE TABLE staged (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  tokens BLOB NOT NULL,
  PRIMARY KEY (bank, fact, model, dimensions)
);
CREATE TABLE staged_vector (
  bank INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  view TEXT NOT NULL,
  value BLOB NOT NULL,                         -- float16, little-endian
  PRIMARY KEY (bank, fact, model, dimensions, view)
) WITHOUT ROWID;
CREATE TABLE vector (
  bank INTEGER NOT NULL,
  view TEXT NOT NULL,
  fact INTEGER NOT NULL,
  value BLOB NOT NULL,                         -- float16, little-endian
  PRIMARY KEY (bank, view, fact)
) WITHOUT ROWID;
CREATE INDEX chunk_document ON chunk (bank, document_id, ordinal);
CREATE INDEX fact_document ON fact (bank, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX fact_chunk ON fact (bank, chunk_id) WHERE chunk_id IS NOT NULL;
CREATE INDEX fact_superseded_by ON fact (bank, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX fact_entity_entity ON fact_entity (bank, entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX fact_source_source ON fact_source (bank, source_id);
CREATE INDEX proof_document ON proof (bank, document_id);
CREATE INDEX proof_chunk ON proof (bank, chunk_id);
CREATE INDEX link_target ON link (bank, target, weight);
CREATE INDEX fact_features_dedupe_key ON fact_features (bank, dedupe_key) WHERE dedupe_key <> '';
CREATE INDEX entity_key_entity ON entity_key (bank, entity_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('bank',1);
COMMIT;
PRAGMA application_id=1346720324;
PRAGMA user_version=6;
