-- Inspect::get_run: one run with its payloads, and where its rows are.
-- Primary key of workflow, indexes timer_run_id and waiting_run_id; all of claim is read, which
-- holds a row for each batch that is being worked on. Any shard_key. Rows of another epoch do not
-- count. Only reads; safe at any time, on the lane for reads.
select
  w.run_id, w.epoch, w.recoveries,
  (extract(epoch from w.created_at) * 1000000)::bigint as created_us,
  (extract(epoch from w.completed_at) * 1000000)::bigint as completed_us,
  w.status, w.priority, w.shard_key, w.name, w.queue, w.workflow_id,
  octet_length(w.input)::bigint as input_bytes,
  w.input, w.output, w.error,
  (extract(epoch from t.due_at) * 1000000)::bigint as due_us,
  p.topic,
  h.worker_id
from workflow w
left join lateral (
  select t.due_at from timer t
  where t.run_id = w.run_id and t.epoch = w.epoch and w.status = 0
  limit 1
) t on true
left join lateral (
  select p.topic from waiting p
  where p.run_id = w.run_id and p.epoch = w.epoch and w.status = 0
  limit 1
) p on true
left join lateral (
  select c.worker_id
  from claim c
  cross join lateral unnest(c.run_ids, c.epochs) h (run_id, epoch)
  where c.run_ids @> array[w.run_id]
    and h.run_id = w.run_id
    and h.epoch = w.epoch
    and w.status = 0
  limit 1
) h on true
where w.run_id = $1::uuid
