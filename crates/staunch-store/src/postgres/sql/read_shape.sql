-- The place of a shard: for migrate, and to say what is there when a statement found another one.
-- Primary key of cluster. Only reads; safe at any time.
select cluster_id, shard, shards, generation
from cluster
where shard_key = ''
