-- Store::load_steps: the recorded steps of runs that start again.
-- Primary key of step, one range a run; the caller sorts. Only reads; safe at any time.
select
  s.run_id, s.seq, s.ordinal, s.epoch, s.attempts,
  (extract(epoch from s.started_at) * 1000000)::bigint as started_us,
  s.shard_key, s.name, s.output, s.error
from unnest($1::uuid[]) i (run_id)
join step s on s.run_id = i.run_id
