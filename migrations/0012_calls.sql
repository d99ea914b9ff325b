-- The account of calls: a row for every call of a tool. That of a call that writes comes with the intent of its event and
-- is closed with its seal; all others are written in batches a moment after the call.

create table garden.tool_calls (
    user_id      garden.user_id not null,
    call_id      uuid           not null,
    actor        text           not null,
    role         garden.label   not null,
    surface      garden.label   not null,
    tool         garden.label   not null,
    -- Shortened, and without secrets; nothing after an erasure.
    arguments    jsonb,
    status       text           not null check (status in ('pending', 'success', 'failed', 'refused')),
    started_at   timestamptz    not null,
    milliseconds double precision,
    code         garden.label,
    summary      text,
    tokens_in    integer        not null,
    tokens_out   integer,
    -- Of the request, and the caller's own.
    ids          jsonb,
    event_id     uuid,
    -- Many refusals of one actor share a row.
    calls        integer        not null check (calls > 0),
    -- The only index: closing a row then writes into none.
    primary key (user_id, call_id)
) with (fillfactor = 70);

comment on table garden.tool_calls is 'Every call of a tool, reads and refusals included: by whom, with what outcome';

alter table garden.tool_calls
    alter column arguments set statistics 0, alter column summary set statistics 0, alter column ids set statistics 0;

grant select on garden.tool_calls to garden_reader;
grant select, insert on garden.tool_calls to garden_service;
grant select, delete on garden.tool_calls to garden_maintainer;
grant update (status, milliseconds, code, summary, tokens_out, event_id, calls)
    on garden.tool_calls to garden_service, garden_maintainer;
grant update (arguments, ids) on garden.tool_calls to garden_maintainer;
-- Words of a call that began before an erasure are not recorded after it.
grant select (user_id, erasure_id, kind, path, reason, actor, role, created_at, finished_at, events, bytes, seal,
              seal_salt_version)
    on garden.erasures to garden_service;
alter policy own_rows_are_read on garden.erasures to garden_reader, garden_service;

alter table garden.tool_calls enable row level security, force row level security;

create policy own_rows_are_read on garden.tool_calls for select to garden_reader using (user_id = garden.acting_user());
create policy own_rows_are_kept on garden.tool_calls to garden_service using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.tool_calls for select to garden_maintainer using (true);
create policy named_users_rows_are_kept on garden.tool_calls to garden_maintainer using (user_id = garden.acting_user());

-- Of calls that began before an erasure no words are recorded, and nothing at all once all of the user was erased.
create function garden.without_erased_words(whose garden.user_id, sent json) returns json language sql as $$
    select coalesce(json_agg(
        case when began > words_gone then call else call - '{arguments,summary,ids}'::text[] end), '[]')
    from (select max(created_at) as words_gone, max(created_at) filter (where kind = 'user') as all_gone
          from garden.erasures where user_id = whose) as erased,
         jsonb_array_elements(sent::jsonb) as call, cast(call ->> 'started_at' as timestamptz) as began
    where all_gone is null or began > all_gone
$$;

-- Adds calls, or brings known ones up to date; none is ever opened again. They come as JSON by the names of the columns.
create function garden.put_calls(whose garden.user_id, sent json) returns void language plpgsql as $$
begin
    if exists (select from garden.erasures where user_id = whose) then
        sent := garden.without_erased_words(whose, sent);
    end if;
    insert into garden.tool_calls as known
    select * from json_populate_recordset(null::garden.tool_calls, sent) where user_id = whose
    on conflict (user_id, call_id) do update
    set status = excluded.status, milliseconds = excluded.milliseconds, code = excluded.code,
        summary = excluded.summary, tokens_out = excluded.tokens_out,
        event_id = coalesce(known.event_id, excluded.event_id), calls = greatest(known.calls, excluded.calls)
    where excluded.status <> 'pending';
end
$$;

-- Closes the call of an event with its outcome. That of a process that is gone is known by its event and its time only.
create function garden.end_call(whose garden.user_id, sent json) returns void language plpgsql as $$
begin
    update garden.tool_calls as known
    set status = ended.status, code = ended.code, milliseconds = ended.milliseconds
    from json_to_record(sent) as ended (
        first uuid, last uuid, event_id uuid, status text, code text, milliseconds double precision)
    where known.user_id = whose and known.call_id between ended.first and ended.last
      and known.event_id = ended.event_id and known.status = 'pending';
end
$$;

-- Each step of a change as before, with the call that it belongs to.

create procedure garden.add_event(
    event garden.event_v1, known_seal bytea, head_seal bytea, request garden.request_v1, lock bigint,
    passages garden.passage_changes_v1, calls json, inout begun boolean
) language plpgsql as $$
begin
    begun := known_seal is null or garden.take_lock(event, known_seal, request.key, lock);
    if begun then
        if calls is not null then
            perform garden.act_for(event.user_id, 'on'), garden.put_calls(event.user_id, calls);
        end if;
        -- The lock of a plan that was tried is held from here on.
        call garden.add_event(
            event, null, head_seal, request, case when known_seal is null then lock end, passages, begun);
    end if;
end
$$;

create procedure garden.finish_event(
    numbered_stream text, whose garden.user_id, moving uuid, expected text, written garden.event_state,
    ended garden.event_state, head_seal bytea, request_key text, answer jsonb, answered bytea, lock bigint,
    passages garden.passage_changes_v1, ended_call json
) language plpgsql as $$
begin
    perform garden.act_for(whose, 'on'), garden.end_call(whose, ended_call);
    call garden.finish_event(numbered_stream, whose, moving, expected, written, ended, head_seal, request_key, answer,
                             answered, lock, passages);
end
$$;

create procedure garden.add_annotation(
    annotation garden.annotation_v1, head_seal bytea, request garden.request_v1, lock bigint, calls json
) language plpgsql as $$
begin
    if calls is not null then
        perform garden.act_for(annotation.user_id, 'on'), garden.put_calls(annotation.user_id, calls);
    end if;
    call garden.add_annotation(annotation, head_seal, request, lock);
end
$$;
