-- Puts each answer of this run in place of the one with the same id. BigQuery and PostgreSQL alike.
begin transaction;
delete from feedback.answers where id in (select id from feedback.answers_new);
insert into feedback.answers
select * from feedback.answers_new as one
where not exists (select 1 from feedback.answers_new as other where other.id = one.id and other.changedAt > one.changedAt);
commit transaction;
