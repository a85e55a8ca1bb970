-- Inspect::list_steps: the recorded steps of a run, by number.
-- Primary key of step, one range; any shard_key. Only reads; safe at any time.
select
  s.run_id, s.seq, s.ordinal, s.epoch, s.attempts,
  (extract(epoch from s.started_at) * 1000000)::bigint as started_us,
  (extract(epoch from s.completed_at) * 1000000)::bigint as completed_us,
  s.shard_key, s.name, s.output, s.error
from step s
where s.run_id = $1::uuid
order by s.seq
