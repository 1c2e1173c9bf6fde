-- From schema 3 to schema 4.
ALTER TABLE fact_features DROP COLUMN tokens;
ALTER TABLE staged DROP COLUMN tokens;
UPDATE schema_version SET version = 4;
