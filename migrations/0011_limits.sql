-- How many calls each limit has let pass, over all processes; and the policies of tokens.

-- The window of a limit is divided into 12 slots. A row counts the current slot, first, and the 12 before it, which
-- together are never shorter than the window. Slots have numbers of their own, which only rise: `clock` is the number by
-- the server's clock, and where that is set back, the counts stay.
create table garden.call_counts (
    user_id    garden.user_id not null,
    key        text           not null,
    seconds    integer        not null check (seconds % 12 = 0 and seconds > 0),
    slot       bigint         not null,
    clock      bigint         not null,
    counts     integer[]      not null check (cardinality(counts) = 13),
    counted_on date           not null,
    primary key (user_id, key, seconds)
) with (fillfactor = 50);

-- A day and not a time, so that most visits leave the index as it is.
create index call_counts_by_day on garden.call_counts (counted_on);

comment on table garden.call_counts is 'The calls that rate limits have counted, in slots of their windows';

grant select, insert, update (slot, clock, counts, counted_on) on garden.call_counts to garden_service;
grant select, delete on garden.call_counts to garden_maintainer;

alter table garden.call_counts enable row level security, force row level security;

create policy own_rows_are_kept on garden.call_counts to garden_service using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.call_counts to garden_maintainer using (true);

-- Count up to `wanted` calls against all of some limits, each with its key, its window and the most calls in it; or none,
-- if one has no room, and then say which, and when it has. `unused` calls that were counted before, in these slots, are
-- taken back first. A clock set back a little is waited for; one set back by a window counts on from where it is now.
create function garden.take_calls(
    whose text, keys text[], windows integer[], most integer[], wanted integer, unused integer, unused_slots bigint[])
returns jsonb language plpgsql as $$
declare
    moment numeric;
    answer jsonb;
begin
    perform garden.act_for(whose, 'off'), pg_advisory_xact_lock(1717921125, hashtext(whose));
    -- Read under the lock: a call must not be counted in a slot that ended while it waited.
    moment := extract(epoch from clock_timestamp());
    insert into garden.call_counts (user_id, key, seconds, slot, clock, counts, counted_on)
    select whose, a.key, a.seconds, 0, 0, array_fill(0, array[13]), current_date from unnest(keys, windows) as a (key, seconds)
    on conflict (user_id, key, seconds) do nothing;
    with asked as (
        select a.*, c.slot, c.clock, c.counts, floor(moment * 12 / a.seconds)::bigint as clock_now
        from unnest(keys, windows, most, unused_slots) with ordinality as a (key, seconds, most, unused_slot, number)
        join garden.call_counts as c on c.user_id = whose and c.key = a.key and c.seconds = a.seconds
    ), moved as (
        select key, seconds, a.most, unused_slot, number, slot + passed as slot,
               case when clock_now < clock - 12 then clock_now else greatest(clock, clock_now) end as clock,
               (array_fill(0, array[least(passed, 13)::integer]) || counts)[1:13] as counts
        from asked as a, greatest(0, clock_now - clock) as passed
    ), given_back as (
        select key, seconds, m.most, number, slot, clock, array(
            select case when slot - place + 1 = unused_slot then greatest(0, calls - unused) else calls end
            from unnest(counts) with ordinality as c (calls, place) order by place) as counts
        from moved as m
    ), judged as (
        select g.*, (clock + 1) * seconds / 12 - moment as lasts, (
            select min(slots) from generate_series(0, 13) as slots
            where (select coalesce(sum(calls), 0) from unnest(counts[1:13 - slots]) as calls) < g.most) as waits,
            g.most - (select sum(calls) from unnest(counts) as calls) as room
        from given_back as g
    ), granted as (
        select greatest(0, least(wanted, min(room)))::integer as taken from judged
    ), kept as (
        update garden.call_counts as c
        set slot = j.slot, clock = j.clock, counted_on = current_date,
            counts = array[j.counts[1] + taken] || j.counts[2:]
        from judged as j, granted
        where c.user_id = whose and c.key = j.key and c.seconds = j.seconds and (taken > 0 or unused > 0)
    )
    select jsonb_build_object(
        'taken', (select taken from granted), 'slots', jsonb_agg(slot order by number),
        'lasts_ms', floor(min(lasts) * 1000), 'retry_ms', ceil(max(lasts + (waits - 1) * seconds / 12) * 1000),
        'exhausted', (array_agg(number order by lasts + (waits - 1) * seconds / 12 desc) filter (where waits > 0))[1])
    into answer from judged;
    return answer;
end
$$;

-- What a token's calls may do, where that is less than others of its actor may; nothing for a token without limits.
alter table garden.tokens add column policy jsonb;
grant select (policy), insert (policy) on garden.tokens to garden_maintainer;

drop trigger tokens_keep_their_words on garden.tokens;
create trigger tokens_keep_their_words before update of
        user_id, token_id, role, actor, secret_hash, created_at, expires_at, seal, seal_salt_version, policy
    on garden.tokens for each row execute function garden.refuse_another_token();
