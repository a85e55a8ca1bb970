-- Store::results: how runs stand, for those who wait for their end.
-- Primary key of workflow, one probe a run; any shard_key. A run that is not there has no status.
-- Only reads; safe at any time.
select i.place, w.status, w.output, w.error
from unnest($1::uuid[]) with ordinality i (run_id, place)
left join workflow w on w.run_id = i.run_id
order by i.place
