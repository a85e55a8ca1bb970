-- Store::write, for steps that were refused: the record that counts, and whether the writer (at epoch
-- $3) still owns the run.
-- Primary keys of step and workflow. A statement of its own, so that its snapshot sees the winner
-- that the insert waited for. Only reads; safe at any time.
select
  i.place, s.run_id, s.seq, s.ordinal, s.epoch, s.attempts,
  (extract(epoch from s.started_at) * 1000000)::bigint as started_us,
  s.shard_key, s.name, s.output, s.error,
  exists (
    select from workflow w
    where w.run_id = i.run_id and w.epoch = i.epoch and w.status = 0
  ) as owned
from unnest($1::uuid[], $2::bigint[], $3::bigint[]) with ordinality i (run_id, seq, epoch, place)
join step s on s.run_id = i.run_id and s.seq = i.seq
