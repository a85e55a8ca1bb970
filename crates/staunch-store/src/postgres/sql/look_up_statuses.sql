-- Store::cancel, for the runs that it did not end: what their status is.
-- Primary key of workflow, one lateral probe a run; any shard_key. A statement of its own, so that
-- its snapshot sees the end that the cancel waited for. Only reads; safe at any time.
select i.place, w.status
from unnest($1::uuid[]) with ordinality i (run_id, place)
cross join lateral (
  select w.status from workflow w where w.run_id = i.run_id limit 1
) w
