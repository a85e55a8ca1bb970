-- Store::enqueue after an unknown outcome, no delays.
-- Primary key of workflow: rows that an earlier try stored are left alone, and ready is fed only
-- from those stored now, because the others may have been claimed, or have ended, meanwhile.
-- Into workflow by run_id, as the rows are given, and into ready in the order asked ($10); what was
-- stored now is found by a hashed look-up, see enqueue_delayed. No run comes twice.
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
  returning run_id
),
queued as (
  insert into ready (run_id, epoch, lane, priority, queue, shard_key)
  select i.run_id, 0, 1, i.priority, i.queue, i.shard_key
  from unnest(
    $4::uuid[], $5::text[], $7::text[], $8::smallint[], $10::bigint[]
  ) i (run_id, shard_key, queue, priority, place)
  where (i.run_id in (select s.run_id from stored s)) is true
  order by i.place
)
select shape_ok from state
