-- Inspect::stats: how much there is, each count cut off at $1, so that a large backlog costs no more.
-- Primary key of ready as a loose index scan for the oldest entry: the first of each group, at most
-- 1000 groups. Otherwise the tables as they come; every shard_key counts.
-- $2 moves now() in tests, 0 otherwise. Only reads; safe at any time, on the lane for reads.
with recursive heads as (
  (
    select r.queue, r.lane, r.priority, r.enqueued_at, 1 as number
    from ready r
    order by r.queue, r.lane, r.priority, r.seq
    limit 1
  )
  union all
  select n.queue, n.lane, n.priority, n.enqueued_at, g.number + 1
  from heads g
  cross join lateral (
    select r.queue, r.lane, r.priority, r.enqueued_at
    from ready r
    where (r.queue, r.lane, r.priority) > (g.queue, g.lane, g.priority)
    order by r.queue, r.lane, r.priority, r.seq
    limit 1
  ) n
  where g.number < 1000
)
select
  (select count(*) from (select from ready limit $1::bigint) r) as ready,
  (
    select greatest(
      (extract(epoch from now() - min(h.enqueued_at)) * 1000000)::bigint + $2::bigint, 0
    )
    from heads h
    having count(*) > 0
  ) as oldest_ready_us,
  (select count(*) from (select from claim limit $1::bigint) c) as claims,
  (select count(*) from (select from timer limit $1::bigint) t) as timers,
  (select count(*) from (select from waiting limit $1::bigint) p) as waiting
