-- enqueue_in_tx: points the caller's transaction at the schema, says where it pointed before, and
-- leaves a mark that in_transaction finds.
-- Reads no table (and so no shard_key). Local to the transaction: a roll-back undoes it as well.
with before as materialized (
  select current_setting('search_path') as path
)
select
  b.path,
  set_config('search_path', $1::text, true) as now,
  set_config('staunch.in_transaction', 'yes', true) as mark
from before b
