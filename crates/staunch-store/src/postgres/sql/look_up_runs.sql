-- Store::write, when fewer completions or parks took effect than were sent: how those runs stand.
-- Primary key of workflow; index waiting_run_id for the parks. A statement of its own, so that its
-- snapshot sees what got in the way. Only reads; safe at any time. Any shard_key.
select
  i.place, w.epoch, w.status, w.output, w.error,
  w.epoch = i.epoch and w.status = 0 and exists (
    select from waiting p
    where p.run_id = i.run_id and p.epoch = i.epoch
  ) as parked
from unnest($1::uuid[], $2::bigint[]) with ordinality i (run_id, epoch, place)
join workflow w on w.run_id = i.run_id
