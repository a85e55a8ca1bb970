-- Store::find: the run that has a workflow id within its shard_key.
-- Primary key of workflow_key, one probe. Always one row, so that another shape and a free id differ.
-- Only reads; safe at any time.
select
  exists (
    select from cluster c
    where c.shard_key = ''
      and c.cluster_id = $1::uuid
      and c.shard = $2::bigint
      and c.generation = $3::bigint
  ) as shape_ok,
  (
    select k.run_id
    from workflow_key k
    where k.shard_key = $4::text and k.workflow_id = $5::text
  ) as run_id
