-- Store::enqueue_keyed and enqueue_in_tx: runs with a workflow id, sorted by (shard_key, workflow_id).
-- Primary key of workflow_key decides who has an id; workflow, ready and timer are fed from the ids
-- won here (hashed look-up, see enqueue_delayed). $12 digests, $11 delays in microseconds, null for
-- none; $13 moves now() in tests, 0 otherwise.
-- A refused id is not read here: this statement's snapshot may be older than the winner, so
-- find_keyed reads it in a second statement.
-- Safe when run by many: all take ids in the same order, so they wait but never deadlock; the wait
-- for an open transaction ends with lock_timeout.
with state as materialized (
  select exists (
    select from cluster c
    where c.shard_key = ''
      and c.cluster_id = $1::uuid
      and c.shard = $2::bigint
      and c.generation = $3::bigint
  ) as shape_ok
),
taken as (
  insert into workflow_key (run_id, shard_key, workflow_id, name, digest)
  select i.run_id, i.shard_key, i.workflow_id, i.name, i.digest
  from unnest(
    $4::uuid[], $5::text[], $6::text[], $7::text[], $12::bytea[]
  ) i (run_id, shard_key, workflow_id, name, digest)
  where (select shape_ok from state)
  on conflict (shard_key, workflow_id) do nothing
  returning run_id
),
stored as (
  insert into workflow (run_id, epoch, priority, shard_key, name, queue, workflow_id, input)
  select i.run_id, 0, i.priority, i.shard_key, i.name, i.queue, i.workflow_id, i.input
  from unnest(
    $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::smallint[], $10::bytea[]
  ) i (run_id, shard_key, workflow_id, name, queue, priority, input)
  where (i.run_id in (select t.run_id from taken t)) is true
),
queued as (
  insert into ready (run_id, epoch, lane, priority, queue, shard_key)
  select i.run_id, 0, 1, i.priority, i.queue, i.shard_key
  from unnest(
    $4::uuid[], $5::text[], $8::text[], $9::smallint[], $11::bigint[]
  ) i (run_id, shard_key, queue, priority, delay_us)
  where i.delay_us is null and (i.run_id in (select t.run_id from taken t)) is true
),
timed as (
  insert into timer (due_at, run_id, epoch, shard_key)
  select
    now() + ($13::bigint + i.delay_us) * interval '1 microsecond',
    i.run_id, 0, i.shard_key
  from unnest($4::uuid[], $5::text[], $11::bigint[]) i (run_id, shard_key, delay_us)
  where i.delay_us is not null and (i.run_id in (select t.run_id from taken t)) is true
)
select s.shape_ok, array(select t.run_id from taken t) as created
from state s
