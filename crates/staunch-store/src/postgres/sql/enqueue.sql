-- Store::enqueue, first try, no delays: one row in workflow and one in ready for each run.
-- Primary keys of workflow and ready only take the rows: into workflow by run_id, as they are given,
-- into ready in the order asked ($10). The arrays are unnested twice because that
-- is as fast as sharing one expanded copy, and needs no tuple store.
-- Safe when run by many: ids are the clients' own; a repeated id fails the whole statement, which is
-- what a first try must do. Another shape (one-time filter) writes nothing and is reported.
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
),
queued as (
  insert into ready (run_id, epoch, lane, priority, queue, shard_key)
  select i.run_id, 0, 1, i.priority, i.queue, i.shard_key
  from unnest(
    $4::uuid[], $5::text[], $7::text[], $8::smallint[], $10::bigint[]
  ) i (run_id, shard_key, queue, priority, place)
  where (select shape_ok from state)
  order by i.place
)
select shape_ok from state
