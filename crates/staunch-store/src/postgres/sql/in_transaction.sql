-- enqueue_in_tx: whether the mark of enter_schema lasted; outside a transaction it ended with its
-- own statement, and nothing may be written.
-- Reads no table (and so no shard_key).
select coalesce(current_setting('staunch.in_transaction', true), '') = 'yes' as inside
