-- migrate: gives the shard its place in the cluster, once; a row that is there stays as it is.
-- Primary key of cluster; shard_key is always ''. Runs under the migration lock.
insert into cluster (cluster_id, shard, shards, generation)
values ($1::uuid, $2::bigint, $4::bigint, $3::bigint)
on conflict (shard_key) do nothing
