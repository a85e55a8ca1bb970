-- Store::write after an unknown outcome, after a step that was refused, or with a step of a later
-- epoch: the same as write.sql, but what is there already is left alone, and the steps that were
-- recorded now are returned, so that look_up_steps reads only the others.
-- Primary keys: workflow (completions in the order given, by run_id; parks), step, claim, worker.
-- started, held: only while the writer's lease is live with a margin; one claim row for those stored
-- now. An earlier try stored all or none of them; its claim still counts when the lease has ended.
-- ended: only for the epoch that owns the run; a final status never changes.
-- parked: only runs that are open at the writer's epoch.
-- dropped: claims of which every run was committed before this statement.
-- No run may be changed twice in one batch: the parts share one snapshot, and the second change
-- would be lost. $5 moves now() in tests, 0 otherwise.
-- Safe when run by many: each part comes sorted by its key, and is guarded by epoch or key.
with state as materialized (
  select
    exists (
      select from cluster c
      where c.shard_key = ''
        and c.cluster_id = $1::uuid
        and c.shard = $2::bigint
        and c.generation = $3::bigint
    ) as shape_ok,
    exists (
      select from worker w
      where w.worker_id = $4::uuid
        and w.lapsed_at is null
        and w.expires_at > now() + $5::bigint * interval '1 microsecond' + interval '200 ms'
    ) as lease_ok
),
started as (
  insert into workflow (run_id, epoch, priority, shard_key, name, queue, input)
  select i.run_id, 0, i.priority, i.shard_key, i.name, i.queue, i.input
  from unnest(
    $7::uuid[], $8::text[], $9::text[], $10::text[], $11::smallint[], $12::bytea[]
  ) i (run_id, shard_key, name, queue, priority, input)
  where (select shape_ok and lease_ok from state)
  on conflict (run_id) do nothing
  returning run_id
),
held as (
  insert into claim (worker_id, claim_id, claimed_at, run_ids, epochs)
  select
    $4::uuid, $6::uuid, now() + $5::bigint * interval '1 microsecond',
    array_agg(s.run_id), array_agg(0::bigint)
  from started s
  having count(*) > 0
),
recorded as (
  insert into step (
    run_id, seq, ordinal, epoch, attempts, started_at, shard_key, name, output, error
  )
  select
    i.run_id, i.seq, i.ordinal, i.epoch, i.attempts,
    'epoch'::timestamptz + i.started_us * interval '1 microsecond',
    i.shard_key, i.name, i.output, i.error
  from unnest(
    $13::uuid[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[],
    $18::text[], $19::text[], $20::bytea[], $21::bytea[], $32::bigint[]
  ) i (run_id, seq, epoch, attempts, started_us, shard_key, name, output, error, ordinal)
  where (select shape_ok from state)
  on conflict (run_id, seq) do nothing
  returning run_id, seq
),
ended as (
  update workflow w
  set
    completed_at = now() + $5::bigint * interval '1 microsecond',
    status = i.status,
    output = i.output,
    error = i.error
  from unnest(
    $22::uuid[], $23::bigint[], $24::smallint[], $25::bytea[], $26::bytea[]
  ) i (run_id, epoch, status, output, error)
  where w.run_id = i.run_id
    and w.epoch = i.epoch
    and w.status = 0
    and (select shape_ok from state)
  returning 1
),
parked as (
  insert into waiting (run_id, epoch, topic, shard_key)
  select i.run_id, i.epoch, i.topic, i.shard_key
  from unnest(
    $27::uuid[], $28::bigint[], $29::text[], $30::text[]
  ) i (run_id, epoch, shard_key, topic)
  join workflow w on w.run_id = i.run_id and w.epoch = i.epoch and w.status = 0
  where (select shape_ok from state)
  on conflict (topic, run_id) do update
  set epoch = greatest(waiting.epoch, excluded.epoch)
  returning run_id
),
dropped as (
  delete from claim c
  using unnest($31::uuid[]) i (claim_id)
  where c.worker_id = $4::uuid
    and c.claim_id = i.claim_id
    and (select shape_ok from state)
)
select
  s.shape_ok,
  s.lease_ok or exists (
    select from claim c
    where c.worker_id = $4::uuid and c.claim_id = $6::uuid
  ) as lease_ok,
  (select count(*) from ended) as ended,
  array(select p.run_id from parked p) as parked,
  array(select r.run_id from recorded r) as recorded_runs,
  array(select r.seq from recorded r) as recorded_seqs
from state s
