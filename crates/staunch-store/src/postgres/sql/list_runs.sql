-- Inspect::list_runs: a page of runs, newest first, without payloads.
-- Primary key of workflow, backwards, at most $7 rows however few of them match; indexes
-- timer_run_id and waiting_run_id; all of claim is read once. Any shard_key, unless $4 names one.
-- seen: what is walked over; its last row is where the next page goes on when it was cut short.
-- place: 0 for enqueued, 1 scheduled, 2 running, 3 waiting; ended runs have their status ($5 is the
-- state asked for: the place of open runs, the status plus 10 of ended ones).
-- wanted: what is left but for the state; where no state is asked for, that is the page already.
-- held: only tested for, by hash, while walking; who holds a run is looked up for the page alone.
-- The size of a payload is read without the payload. Only reads; safe at any time.
with seen as materialized (
  select
    w.run_id, w.epoch, w.recoveries, w.created_at, w.completed_at, w.status, w.priority,
    w.shard_key, w.name, w.queue, w.workflow_id, octet_length(w.input)::bigint as input_bytes
  from workflow w
  where w.run_id < $1::uuid
  order by w.run_id desc
  limit $7::bigint
),
wanted as materialized (
  select s.*
  from seen s
  where ($2::text is null or s.name = $2::text)
    and ($3::text is null or s.queue = $3::text)
    and ($4::text is null or s.shard_key = $4::text)
    and ($5::smallint is null or ($5::smallint >= 10) = (s.status <> 0))
  order by s.run_id desc
  limit case when $5::smallint is null then $6::bigint else $7::bigint end
),
held as materialized (
  select h.run_id, h.epoch, c.worker_id
  from claim c
  cross join lateral unnest(c.run_ids, c.epochs) h (run_id, epoch)
  where exists (select from wanted s where s.run_id = h.run_id and s.status = 0)
),
placed as (
  select
    s.*, t.due_at, p.topic,
    case
      when s.status <> 0 then s.status + 10
      when t.due_at is not null then 1
      when p.topic is not null then 3
      when (s.run_id, s.epoch) in (select h.run_id, h.epoch from held h) then 2
      else 0
    end as place
  from wanted s
  left join lateral (
    select t.due_at from timer t
    where t.run_id = s.run_id and t.epoch = s.epoch and s.status = 0
    limit 1
  ) t on true
  left join lateral (
    select p.topic from waiting p
    where p.run_id = s.run_id and p.epoch = s.epoch and s.status = 0
    limit 1
  ) p on true
),
page as materialized (
  select f.*
  from placed f
  where $5::smallint is null or f.place = $5::smallint
  order by f.run_id desc
  limit $6::bigint
),
walk as (
  select count(*) as rows, (array_agg(s.run_id order by s.run_id))[1] as last from seen s
)
select
  k.rows as seen_rows, k.last as seen_last,
  f.run_id, f.epoch, f.recoveries,
  (extract(epoch from f.created_at) * 1000000)::bigint as created_us,
  (extract(epoch from f.completed_at) * 1000000)::bigint as completed_us,
  f.status, f.priority, f.shard_key, f.name, f.queue, f.workflow_id, f.input_bytes,
  (extract(epoch from f.due_at) * 1000000)::bigint as due_us,
  f.topic,
  h.worker_id
from walk k
left join page f on true
left join lateral (
  select h.worker_id
  from held h
  where h.run_id = f.run_id and h.epoch = f.epoch and f.place = 2
  limit 1
) h on true
order by f.run_id desc
