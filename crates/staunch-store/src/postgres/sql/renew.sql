-- Store::renew: a lease goes on, only while it has not ended; what the worker holds comes back.
-- Primary keys: worker, claim (all of one worker), workflow (one probe for each run to be checked),
-- setting (one probe).
-- renewed: an end farther away than two leases last is not believed; only a clock that stepped back
-- makes one, and it would keep a dead worker's runs for as long. The second one is slack, since
-- now() may be older than what is compared with it.
-- lost: the probes are lateral, so that no plan reads the whole table for them.
-- workers: all of worker, which holds a row for each process.
-- ready_seq: read without a scan; the difference of two renewals tells what arrived between them.
-- Shard-wide (shard_key is always ''). $5 moves now() in tests, 0 otherwise.
-- Safe when run by many: it changes the worker's own row; a row that the reaper has marked is not
-- renewed any more, also when that mark was committed while this statement waited for it.
with state as materialized (
  select
    now() + $5::bigint * interval '1 microsecond' as at,
    clock_timestamp() + $5::bigint * interval '1 microsecond' as latest,
    exists (
      select from cluster c
      where c.shard_key = ''
        and c.cluster_id = $1::uuid
        and c.shard = $2::bigint
        and c.generation = $3::bigint
    ) as shape_ok
),
renewed as (
  update worker w
  set expires_at = s.at + w.lease_us * interval '1 microsecond'
  from state s
  where w.worker_id = $4::uuid
    and w.lapsed_at is null
    and w.expires_at > s.at
    and w.expires_at <= s.latest + 2 * w.lease_us * interval '1 microsecond'
    and s.shape_ok
  returning 1
)
select
  s.shape_ok,
  exists (select from renewed) as live,
  array(
    select c.claim_id from claim c where c.worker_id = $4::uuid order by c.claim_id
  ) as claims,
  array(
    select (extract(epoch from s.at - c.claimed_at) * 1000000)::bigint
    from claim c
    where c.worker_id = $4::uuid
    order by c.claim_id
  ) as ages_us,
  array(
    select i.run_id
    from unnest($6::uuid[], $7::bigint[]) i (run_id, epoch)
    left join lateral (
      select true as held
      from workflow w
      where w.run_id = i.run_id and w.epoch = i.epoch and w.status = 0
      limit 1
    ) o on true
    where o.held is null
  ) as lost,
  (
    select count(*)
    from (select w.lapsed_at, w.expires_at from worker w order by w.worker_id) w
    where w.lapsed_at is null and w.expires_at > s.at
  ) as workers,
  (select t.value from setting t where t.name = 'dequeue_locks') as dequeue_locks,
  coalesce(pg_sequence_last_value('ready_seq'::regclass), 0) as ready_seq
from state s
