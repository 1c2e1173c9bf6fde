-- What schema 2 of PostgreSQL adds to schema 1.

-- Banks that are searched in SQL, since they are too large for an index in memory. The tables named large_... have rows of
-- these banks alone, and may be emptied at any time, this one first: they are made again from the other tables.
CREATE TABLE large_bank (
  bank BIGINT PRIMARY KEY,
  filled BIGINT NOT NULL,                      -- facts up to this number have their rows
  ready BIGINT NOT NULL,                       -- 1 when all facts and the indexes of vectors are there: searches use them
  open_facts BIGINT NOT NULL,                  -- facts that are not closed
  open_length DOUBLE PRECISION NOT NULL        -- the sum of their lengths
);

-- What filters look at, one row per fact: columns, times and hashes as in stores/index/packing.py, hashes as signed numbers.
CREATE TABLE large_fact (
  bank BIGINT NOT NULL,
  no BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  type BIGINT NOT NULL,
  tier BIGINT NOT NULL,
  classification BIGINT NOT NULL,
  unsure BIGINT NOT NULL,
  recorded BIGINT NOT NULL,
  retired BIGINT NOT NULL,
  valid_from BIGINT NOT NULL,
  valid_to BIGINT NOT NULL,
  end_recorded BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  first BIGINT NOT NULL,
  last BIGINT NOT NULL,
  dated BIGINT NOT NULL,
  document BIGINT NOT NULL,
  topic BIGINT NOT NULL,
  subject BIGINT NOT NULL,
  relation BIGINT NOT NULL,
  object BIGINT NOT NULL,
  speaker BIGINT NOT NULL,
  ordinal BIGINT NOT NULL,
  length DOUBLE PRECISION NOT NULL,
  tags TEXT[] NOT NULL,
  pairs BIGINT[] NOT NULL,                     -- hashes of metadata pairs
  keys BIGINT[] NOT NULL,                      -- the keys of `large_posting` under which the fact stands
  signature BIGINT[] NOT NULL,                 -- four words, or none
  PRIMARY KEY (bank, no)
);
CREATE INDEX large_fact_id ON large_fact (bank, id);
CREATE INDEX large_fact_first ON large_fact (bank, first);
CREATE INDEX large_fact_dated ON large_fact (bank, dated, ordinal, no);
CREATE INDEX large_fact_document ON large_fact (bank, document);
CREATE INDEX large_fact_subject ON large_fact (bank, subject) WHERE subject <> 0;
CREATE INDEX large_fact_object ON large_fact (bank, object) WHERE object <> 0;

-- Which facts mention an entity, the best-connected first.
CREATE TABLE large_member (
  bank BIGINT NOT NULL,
  fact BIGINT NOT NULL,
  entity BIGINT NOT NULL,                      -- hash of the entity's id
  degree BIGINT NOT NULL,                      -- how many entities and links the fact has
  PRIMARY KEY (bank, fact, entity)
);
CREATE INDEX large_member_entity ON large_member (bank, entity, degree DESC, fact);

-- Terms: in how many facts that are not closed each is, and the highest frequency that it has had in one.
CREATE TABLE large_term (
  bank BIGINT NOT NULL,
  key BIGINT NOT NULL,                         -- CRC-32 of the term
  open_facts BIGINT NOT NULL,
  max_frequency DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (bank, key)
);

-- Plain words of facts, for the typo-tolerant channel.
CREATE TABLE large_word (
  bank BIGINT NOT NULL,
  no BIGINT NOT NULL,
  word TEXT COLLATE "C" NOT NULL,
  trigrams BIGINT NOT NULL,                    -- how many distinct ones it has
  PRIMARY KEY (bank, no)
);
CREATE UNIQUE INDEX large_word_word ON large_word (bank, word);

-- The trigrams of these words, three 21-bit code points each.
CREATE TABLE large_trigram (
  bank BIGINT NOT NULL,
  trigram BIGINT NOT NULL,
  word BIGINT NOT NULL,                        -- large_word.no
  PRIMARY KEY (bank, trigram, word)
);
CREATE INDEX large_trigram_word ON large_trigram (bank, word);

-- Postings of terms and words in blocks.
CREATE TABLE large_posting (
  bank BIGINT NOT NULL,
  key BIGINT NOT NULL,                         -- of a term its CRC-32, of a word minus its number
  block BIGINT NOT NULL,                       -- number of the first fact that the block was made with
  body BYTEA NOT NULL,                         -- per fact, by rising number: number (i64), frequency (f32), length (f32)
  PRIMARY KEY (bank, key, block)
);

-- Keys of encrypted content (stores/postgres/content.py). Deleting one makes unreadable what was encrypted with it.
CREATE TABLE content_key (
  bank BIGINT NOT NULL,
  no BIGINT NOT NULL,                          -- drawn at random
  scope TEXT COLLATE "C" NOT NULL,             -- hash of the document, fact or record; empty: the bank is encrypted
  key BYTEA NOT NULL,                          -- 256 bits, of AES-GCM
  PRIMARY KEY (bank, no)
);
CREATE UNIQUE INDEX content_key_scope ON content_key (bank, scope);

-- Whether what a transaction erased was encrypted and its keys are destroyed: 0 or 1.
ALTER TABLE erasure ADD COLUMN encrypted BIGINT NOT NULL DEFAULT 0;
