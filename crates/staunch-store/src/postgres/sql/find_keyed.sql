-- Store::enqueue_keyed, for the ids that enqueue_keyed refused: who has them.
-- Primary key of workflow_key, one probe an id. A statement of its own, so that its snapshot sees
-- the winner that the insert waited for. An id that is missing was given up meanwhile.
-- Only reads; safe at any time.
select i.place, k.run_id, k.name, k.digest
from unnest($1::text[], $2::text[]) with ordinality i (shard_key, workflow_id, place)
join workflow_key k on k.shard_key = i.shard_key and k.workflow_id = i.workflow_id
