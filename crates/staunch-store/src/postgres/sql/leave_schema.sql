-- enqueue_in_tx: points the caller's transaction back ($1) at what it pointed at before. $2 is what
-- enter_schema set; outside a transaction that is gone already, which the caller is told.
-- Reads no table (and so no shard_key).
with before as materialized (
  select current_setting('search_path') as path
)
select b.path = $2::text as inside, set_config('search_path', $1::text, true) as now
from before b
