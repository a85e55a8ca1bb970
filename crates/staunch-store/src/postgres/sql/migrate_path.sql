-- migrate: back to our schema after a migration's own statements, until the transaction ends.
-- Reads no table (and so no shard_key). Safe when run by many: touches only its own transaction.
select set_config('search_path', $1::text, true) as search_path
