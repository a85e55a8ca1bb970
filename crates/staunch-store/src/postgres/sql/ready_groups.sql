-- Store::ready_groups: which groups of the given queues hold rows.
-- Primary keys of ready and position, as loose index scans: a few probes per group, however many
-- rows it holds. At most 1000 groups, those that go first, so that a shard with very many priorities
-- still answers.
-- lanes: lane by lane, since the end of a range over two columns does not end a scan.
-- known: groups that have a position, from the last to the first, since the newest position of a
--   group is always live and deleted ones lie before it. None when $2 is null.
-- from_position: known groups, looked at from the newest position on that is at least $2
--   microseconds old. Deleted entries before it stay in the index while any old snapshot is open.
-- gaps: the priorities between two neighbours of the known groups, before the first and behind the
--   last. A scan of one begins and ends beside the neighbours' entries.
-- others: groups in the gaps, each looked at from its beginning.
-- $3 moves now() in tests, 0 otherwise. Only reads; safe at any time. Rows of every shard_key count.
with recursive lanes as (
  select q.queue, l.lane
  from unnest($1::text[]) q (queue)
  cross join unnest('{0,1,2}'::smallint[]) l (lane)
),
known as (
  select l.queue, l.lane, f.priority
  from lanes l
  cross join lateral (
    select p.priority
    from position p
    where p.queue = l.queue and p.lane = l.lane
    order by p.queue desc, p.lane desc, p.priority desc
    limit 1
  ) f
  where $2::bigint is not null
  union all
  select k.queue, k.lane, n.priority
  from known k
  cross join lateral (
    select p.priority
    from position p
    where p.queue = k.queue and p.lane = k.lane and p.priority < k.priority
    order by p.queue desc, p.lane desc, p.priority desc
    limit 1
  ) n
),
marked as materialized (
  select k.queue, k.lane, k.priority
  from known k
  limit 1000
),
from_position as (
  select m.queue, m.lane, m.priority
  from marked m
  cross join lateral (
    select coalesce(
      (
        select p.seq
        from position p
        where p.queue = m.queue
          and p.lane = m.lane
          and p.priority = m.priority
          and p.written_at <= now() + ($3::bigint - $2::bigint) * interval '1 microsecond'
        order by p.written_at desc
        limit 1
      ),
      0
    ) as seq
    offset 0
  ) start
  cross join lateral (
    select 1
    from ready r
    where r.queue = m.queue
      and r.lane = m.lane
      and r.priority = m.priority
      and r.seq >= start.seq
    order by r.queue, r.lane, r.priority, r.seq
    limit 1
  ) f
),
gaps as (
  select
    b.queue, b.lane, b.priority as behind,
    lead(b.priority, 1, 32768) over (partition by b.queue, b.lane order by b.priority) as before
  from (
    select m.queue, m.lane, m.priority::integer from marked m
    union all
    select l.queue, l.lane, -32769 from lanes l
  ) b
),
others as (
  select g.queue, g.lane, f.priority, g.before
  from gaps g
  cross join lateral (
    select r.priority
    from ready r
    where r.queue = g.queue
      and r.lane = g.lane
      and r.priority > g.behind
      and r.priority < g.before
    order by r.queue, r.lane, r.priority
    limit 1
  ) f
  union all
  select o.queue, o.lane, n.priority, o.before
  from others o
  cross join lateral (
    select r.priority
    from ready r
    where r.queue = o.queue
      and r.lane = o.lane
      and r.priority > o.priority
      and r.priority < o.before
    order by r.queue, r.lane, r.priority
    limit 1
  ) n
)
select f.queue, f.lane, f.priority
from (
  select p.queue, p.lane, p.priority from from_position p
  union all
  (select o.queue, o.lane, o.priority from others o limit 1000)
) f
order by f.lane, f.priority, f.queue
limit 1000
