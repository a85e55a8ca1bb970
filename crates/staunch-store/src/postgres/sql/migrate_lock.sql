-- migrate: waits for its turn, and names the schema for migrate_begin; both last until the transaction
-- ends. Reads no table (and so no shard_key). Safe when run by many: one at a time goes on.
select
  pg_advisory_xact_lock($1::bigint)::text as locked,
  set_config('staunch.schema', $2::text, true) as schema
