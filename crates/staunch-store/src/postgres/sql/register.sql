-- Store::register: a worker's session begins; the one that the process had before ends uncharged.
-- Primary keys of worker and setting, shard-wide (shard_key is always ''). $10 moves now() in tests, 0 otherwise.
-- former: the process lives, so what the reaper finds of its old session is handed back uncharged.
-- Its row may be gone already; then the claims were handed back already.
-- Safe when run by many: session ids are the workers' own, and a repeated one fails the statement.
with state as materialized (
  select
    now() + $10::bigint * interval '1 microsecond' as at,
    exists (
      select from cluster c
      where c.shard_key = ''
        and c.cluster_id = $1::uuid
        and c.shard = $2::bigint
        and c.generation = $3::bigint
    ) as shape_ok
),
former as (
  update worker w
  set lapsed_at = coalesce(w.lapsed_at, s.at), charge = false
  from state s
  where w.worker_id = $5::uuid and s.shape_ok
),
stored as (
  insert into worker (worker_id, started_at, expires_at, lease_us, pid, host, version)
  select
    $4::uuid, s.at, s.at + $6::bigint * interval '1 microsecond', $6::bigint,
    $7::bigint, $8::text, $9::text
  from state s
  where s.shape_ok
)
select
  s.shape_ok,
  (select t.value from setting t where t.name = 'dequeue_locks') as dequeue_locks,
  coalesce(pg_sequence_last_value('ready_seq'::regclass), 0) as ready_seq
from state s
