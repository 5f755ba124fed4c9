-- Answers and the average grade, by agent and month.
select substr(cast(answeredAt as text), 1, 7) as month, Agent, count(grade) as answers, avg(grade) as average
from feedback.answers
group by 1, 2
order by 1, 2;

-- Follow-ups by the month in which they were opened: how many are done, and how many were done in time.
select
  substr(cast(followUpOpenedAt as text), 1, 7) as month,
  count(*) as opened,
  sum(case when followUpState = 'done' then 1 else 0 end) as done,
  sum(case when followUpDoneAt <= followUpDueAt then 1 else 0 end) as in_time
from feedback.answers
where followUpState is not null
group by 1
order by 1;
