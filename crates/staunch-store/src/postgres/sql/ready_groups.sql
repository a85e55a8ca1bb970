-- Store::ready_groups: which groups of the given queues hold rows.
-- Primary key of ready, as a loose index scan: one probe per group, however many rows it holds.
-- At most 1000 groups, so that a shard with very many priorities still answers.
-- Only reads; safe at any time. Rows of every shard_key count.
with recursive groups as (
  select q.queue, f.lane, f.priority
  from unnest($1::text[]) q (queue)
  cross join lateral (
    select r.lane, r.priority
    from ready r
    where r.queue = q.queue
    order by r.queue, r.lane, r.priority
    limit 1
  ) f
  union all
  select g.queue, n.lane, n.priority
  from groups g
  cross join lateral (
    select r.lane, r.priority
    from ready r
    where r.queue = g.queue and (r.lane, r.priority) > (g.lane, g.priority)
    order by r.queue, r.lane, r.priority
    limit 1
  ) n
)
select queue, lane, priority
from groups
limit 1000
