-- Store::find: the run that has a workflow id within its shard_key.
-- Primary key of workflow_key, one probe. Only reads; safe at any time.
select k.run_id
from workflow_key k
where k.shard_key = $1::text and k.workflow_id = $2::text
