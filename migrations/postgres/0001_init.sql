-- Tables of one shard, in the schema that search_path names.
-- Every table has shard_key, '' where a row belongs to the shard and not to a key.
-- No index is on a column that changes; each index says which query pays for it.
-- The tables of the hot path have no checks: each is parsed by every statement and evaluated for every
-- row, a sixth of the server's time for a batch of 30. The client's types keep the limits.

-- The cluster's shape: one row, compared by every hot statement.
create table cluster (
  shard_key text collate "C" not null default '' check (shard_key = ''),
  cluster_id uuid not null,
  shard bigint not null check (shard >= 0 and shard < shards),
  shards bigint not null,
  generation bigint not null,
  created_at timestamptz not null default now(),
  primary key (shard_key)
);

-- One row a run. fillfactor 50: all rows of a page get their one update at about the same time,
-- and only a page with room for all new versions keeps those updates heap-only.
-- Primary key: claim, completion, results. Partitioned by the time in run_id, for retention.
create table workflow (
  run_id uuid not null,
  epoch bigint not null,
  recoveries bigint not null default 0,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  status smallint not null default 0,
  priority smallint not null,
  shard_key text collate "C" not null,
  name text collate "C" not null,
  queue text collate "C" not null,
  workflow_id text collate "C",
  input bytea not null,
  output bytea,
  error bytea,
  primary key (run_id)
) partition by range (run_id);

-- What the shard is told to do, the same for every worker. A row that is not there stands for the
-- default. version: changed by compare-and-set, from 1 on. Primary key: renewal and changes.
create table setting (
  changed_at timestamptz not null default now(),
  version bigint not null check (version > 0),
  value bigint not null,
  name text collate "C" not null check (octet_length(name) between 1 and 255),
  shard_key text collate "C" not null default '' check (shard_key = ''),
  primary key (name),
  constraint setting_dequeue_locks check (name <> 'dequeue_locks' or value between 1 and 1000)
);

-- Callers' own ids. Primary key: the start that asks whether an id is taken, and look-ups by id.
create table workflow_key (
  run_id uuid not null,
  created_at timestamptz not null default now(),
  shard_key text collate "C" not null,
  workflow_id text collate "C" not null,
  name text collate "C" not null,
  digest bytea,
  primary key (shard_key, workflow_id)
);

-- Queue entries: inserted at enqueue, deleted at claim, never updated.
-- Primary key: the claim, which walks one group (queue, lane, priority) in order of seq.
create sequence ready_seq as bigint;
create table ready (
  seq bigint not null default nextval('ready_seq'),
  run_id uuid not null,
  epoch bigint not null,
  enqueued_at timestamptz not null default now(),
  lane smallint not null,
  priority smallint not null,
  queue text collate "C" not null,
  shard_key text collate "C" not null,
  primary key (queue, lane, priority, seq)
);

-- One row a claimed batch. Primary key: renewal reads a worker's claims, finishing deletes by both.
-- toast_tuple_target: the arrays of 300 runs stay in the row, uncompressed; it lives for moments.
create table claim (
  worker_id uuid not null,
  claim_id uuid not null,
  claimed_at timestamptz not null default now(),
  alone boolean not null default false,
  run_ids uuid[] not null,
  epochs bigint[] not null,
  shard_key text collate "C" not null default '',
  primary key (worker_id, claim_id)
) with (toast_tuple_target = 8160);

-- Where the live part of each group began, at a time; append-only, pruned by maintenance.
-- Primary key: the claim's start. written_at is clock_timestamp() of the claim that wrote it.
create table position (
  written_at timestamptz not null default clock_timestamp(),
  seq bigint not null,
  lane smallint not null,
  priority smallint not null,
  queue text collate "C" not null,
  shard_key text collate "C" not null default '',
  worker_id uuid not null,
  primary key (queue, lane, priority, written_at, worker_id)
);

-- One lease row a worker session. Updated every third of a lease, heap-only.
-- lease_us: how long a renewal lasts; an end farther away than that is not believed.
-- lapsed_at: when the reaper found the lease ended; charge: whether its runs are charged a death.
create table worker (
  worker_id uuid not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null,
  lapsed_at timestamptz,
  lease_us bigint not null check (lease_us > 0),
  charge boolean not null default true,
  pid bigint not null,
  host text not null,
  version text not null,
  shard_key text collate "C" not null default '',
  primary key (worker_id)
) with (fillfactor = 50);

-- Recorded steps. ordinal: the place in the order in which results were given to the code.
-- Primary key: the first record wins, and replay reads a run's steps in order.
create table step (
  run_id uuid not null,
  seq bigint not null,
  ordinal bigint not null,
  epoch bigint not null,
  attempts bigint not null,
  started_at timestamptz not null,
  completed_at timestamptz not null default now(),
  shard_key text collate "C" not null,
  name text collate "C" not null,
  output bytea,
  error bytea,
  primary key (run_id, seq)
) partition by range (run_id);

-- Delayed runs. Primary key: the promotion, which walks what is due.
create table timer (
  due_at timestamptz not null,
  run_id uuid not null,
  epoch bigint not null,
  shard_key text collate "C" not null,
  primary key (due_at, run_id)
);

-- Parked runs. Primary key: waking a topic.
create table waiting (
  run_id uuid not null,
  epoch bigint not null,
  since timestamptz not null default now(),
  topic text collate "C" not null,
  shard_key text collate "C" not null,
  primary key (topic, run_id)
);

-- Look-ups of one run's state by people and by the orphan audit.
create index timer_run_id on timer (run_id);
create index waiting_run_id on waiting (run_id);
