-- How often recall is used, and what it gives as context; never what was asked.

-- Nothing of it waits for the disk. It is written a moment after a call, so a user who was erased meanwhile, and has no
-- document any more, gets no row.
-- name: act
select garden.act_for(%(user_id)s, 'off');

-- name: add
insert into garden.recall_usage as known (user_id, day, tool, calls, empty, milliseconds)
select user_id, %(day)s, %(tool)s, %(calls)s, %(empty)s, %(milliseconds)s
from garden.documents where user_id = %(user_id)s and has_file limit 1
on conflict (user_id, day, tool) do update
set calls = known.calls + excluded.calls, empty = known.empty + excluded.empty,
    milliseconds = known.milliseconds + excluded.milliseconds;

-- name: note_given
insert into garden.recall_given (user_id, given_id, actor, given_at, passages)
select user_id, %(given_id)s, %(actor)s, %(given_at)s, %(passages)s
from garden.documents where user_id = %(user_id)s and has_file limit 1;

-- name: by_day
select user_id, day, tool, calls, empty, milliseconds / calls as mean_ms,
       (select count(*) from garden.recall_given as given
        where given.user_id = used.user_id and given_at >= day and given_at < day + 1
          and tool = 'memory.context') as given
from garden.recall_usage as used
where user_id = %(user_id)s
order by day desc, tool;

-- What was given, newest first, from this id on; of each the first passages.
-- name: given
select given_id, actor, given_at, cardinality(passages) as count, passages[1:%(shown)s] as passages
from garden.recall_given
where user_id = %(user_id)s and given_id <= %(first)s
order by given_id desc
limit %(limit)s;
