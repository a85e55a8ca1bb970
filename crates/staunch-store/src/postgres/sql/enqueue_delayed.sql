-- Store::enqueue of a slice in which some runs have a delay ($10, microseconds, null for none).
-- Primary key of workflow, as in enqueue_again. ready and timer are fed from what was stored now; the
-- delays are found by a hashed look-up ("in (..) is true" is never turned into a join, whose
-- estimate for arrays of unknown length would be a nested loop over both).
-- Into workflow by run_id, as the rows are given, and into ready in the order asked ($12); no run
-- comes twice.
-- Due times are the server's now() plus the delay; $11 moves now() in tests, 0 otherwise.
-- Safe when run by many, and on every try: what an earlier try stored is left alone.
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
    $4::uuid[], $5::text[], $7::text[], $8::smallint[], $10::bigint[], $12::bigint[]
  ) i (run_id, shard_key, queue, priority, delay_us, place)
  where i.delay_us is null and (i.run_id in (select s.run_id from stored s)) is true
  order by i.place
),
timed as (
  insert into timer (due_at, run_id, epoch, shard_key)
  select
    now() + ($11::bigint + i.delay_us) * interval '1 microsecond',
    i.run_id, 0, i.shard_key
  from unnest($4::uuid[], $5::text[], $10::bigint[]) i (run_id, shard_key, delay_us)
  where i.delay_us is not null and (i.run_id in (select s.run_id from stored s)) is true
)
select shape_ok from state
