-- What keeps erased words from staying in dead rows and in the write-ahead log.

-- name: tables
select tablename from pg_tables where schemaname = 'garden' order by 1;

-- name: checkpoint
checkpoint;

-- name: switch
select pg_switch_wal();
