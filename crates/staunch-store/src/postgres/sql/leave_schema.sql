-- enqueue_in_tx: points the caller's transaction back ($1) at what it pointed at before.
-- Reads no table (and so no shard_key).
select set_config('search_path', $1::text, true) as search_path
