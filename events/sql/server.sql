-- Questions about the server itself.

-- name: facts
select current_setting('server_version_num')::integer,
       current_setting('server_version'),
       clock_timestamp(),
       array(select extname::text from pg_extension order by 1),
       array(select name::text from pg_available_extensions where installed_version is null order by 1);
