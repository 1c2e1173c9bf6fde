-- From schema 2 to schema 3.
ALTER TABLE fact ADD COLUMN listener TEXT NOT NULL DEFAULT '', ADD COLUMN asked TEXT NOT NULL DEFAULT '',
  ADD COLUMN dates TEXT NOT NULL DEFAULT '[]';
ALTER TABLE large_fact ADD COLUMN question BIGINT NOT NULL DEFAULT 0;
UPDATE schema_version SET version = 3;
