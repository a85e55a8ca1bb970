-- Store::enqueue after an unknown outcome, no delays.
-- Primary key of workflow: rows that an earlier try stored are left alone, and ready is fed only
-- from those stored now, because the others may have been claimed, or have ended, meanwhile.
-- Costs about a third more than a plain insert, hence not the first try.
-- Safe when run by many: of two tries at once one waits for the other and then stores nothing.
with state as materialized (
  select exists (
    select from cluster c
    where c.shard_key = ''
      and c.cluster_id = $1::uuid
      and c.shard = $2::bigint
      and c.generation = $3::bigint
  ) as shape_ok
),
stored as (
  insert into workflow (run_id, epoch, priority, shard_key, name, queue, input)
  select i.run_id, 0, i.priority, i.shard_key, i.name, i.queue, i.input
  from unnest(
    $4::uuid[], $5::text[], $6::text[], $7::text[], $8::smallint[], $9::bytea[]
  ) i (run_id, shard_key, name, queue, priority, input)
  where (select shape_ok from state)
  on conflict (run_id) do nothing
  returning run_id, priority, shard_key, queue
),
queued as (
  insert into ready (run_id, epoch, lane, priority, queue, shard_key)
  select s.run_id, 0, 1, s.priority, s.queue, s.shard_key
  from stored s
)
select shape_ok from state
