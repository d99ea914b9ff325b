-- Held for the kept texts.
select 1;
