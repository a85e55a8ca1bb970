-- Every connection, once, before it is used.
-- No index: one row of settings, and the cluster row if there is one.
-- One round trip, and always one row, so that a server without a cluster row is told from one that
-- does not answer. Only reads; safe at any time. The cluster table names shard_key.
select
  pg_is_in_recovery() as in_recovery,
  current_setting('server_encoding') as encoding,
  current_setting('default_transaction_isolation') as isolation,
  c.cluster_id,
  c.shard,
  c.shards,
  c.generation
from (select '' as shard_key) s
left join cluster c on c.shard_key = s.shard_key
