-- All that the account holds, each table as its number of rows and one hash over them.

-- name: events
select count(*), md5(string_agg(row::text, '' order by row::text)) from garden.events as row;

-- name: documents
select count(*), md5(string_agg(row::text, '' order by row::text)) from garden.documents as row;

-- name: idempotency_records
select count(*), md5(string_agg(row::text, '' order by row::text)) from garden.idempotency_records as row;

-- name: event_annotations
select count(*), md5(string_agg(row::text, '' order by row::text)) from garden.event_annotations as row;
