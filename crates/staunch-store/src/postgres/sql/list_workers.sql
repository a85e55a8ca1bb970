-- Inspect::list_workers: the worker sessions, with the runs in their claims.
-- All of worker, and the range of each in the primary key of claim, shard-wide (shard_key is always
-- ''). $1 moves now() in tests, 0 otherwise. Only reads; safe at any time.
select
  w.worker_id, w.host, w.pid, w.version,
  w.lapsed_at is null and w.expires_at > now() + $1::bigint * interval '1 microsecond' as live,
  (extract(epoch from w.started_at) * 1000000)::bigint as started_us,
  (
    select coalesce(sum(cardinality(c.run_ids)), 0)::bigint
    from claim c
    where c.worker_id = w.worker_id
  ) as held_runs
from worker w
order by w.worker_id
