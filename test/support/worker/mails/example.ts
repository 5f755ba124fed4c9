import type { MailFigures, Result } from '../../../../worker/mails/figures.ts';
import type { GradeFigures, GradesRow } from '../../../../worker/reports/grades.ts';

const week = (since: string, until: string) => ({ since, until });
const weeks = [
  week('2026-10-12', '2026-10-18'),
  week('2026-10-19', '2026-10-25'),
  week('2026-10-26', '2026-11-01'),
  week('2026-11-02', '2026-11-08'),
  week('2026-11-09', '2026-11-15'),
  week('2026-11-16', '2026-11-22'),
];

function result(row: Partial<GradesRow>, figures: readonly (number | null)[], asked = 412): Result {
  const of = (figure: number | null): GradeFigures => ({
    ...{ asked, answered: Math.round(asked * 0.32), rate: 0.32, grades: null },
    ...{ average: figure, index: figure },
  });
  const [before = null, now = null] = figures.slice(-2);
  const change = now === null || before === null ? null : Math.round((now - before) * 100) / 100;
  return {
    row: {
      ...{
        campaign: 12,
        name: 'Phone team',
        channel: 'email',
        metric: 'csat',
        measure: 'csat',
        scale: [1, 2, 3, 4, 5],
        fields: [],
      },
      ...{ now: of(now), before: { ...of(before), rate: 0.3 }, change },
      ...row,
    },
    trend: weeks.map((period, i) => ({ period, figure: figures[i] ?? null })),
  };
}

/** What a weekly mail says of a busy week. */
export const busyWeek: MailFigures = {
  name: 'Support leads',
  every: 'week',
  period: week('2026-11-16', '2026-11-22'),
  scope: 'Store: Tallinn',
  results: [
    result({}, [81.2, 84.5, 83, null, 85.1, 87.24]),
    result(
      { campaign: 13, name: 'After chat', metric: 'nps', measure: 'nps', scale: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
      [45.5, 44, 46.2, 47, 45.5, 42.1],
      1_180,
    ),
  ],
  others: 1,
  unhappy: [
    {
      comment: 'The cup came broken, and nobody has answered me for a week.\nI will not order again <b>anything</b>.',
      ...{ grade: 1, maxGrade: 5, campaignName: 'Phone team', values: { Store: 'Tallinn', Agent: 'Ann Tamm' } },
      url: 'https://acme.example.com/tickets/41960',
      noun: 'ticket',
    },
    {
      comment: 'Too late.',
      grade: 2,
      maxGrade: 5,
      campaignName: 'Phone team',
      values: { Store: 'Tallinn' },
      noun: 'ticket',
    },
  ],
  happy: [
    {
      comment: 'Quick, kind and to the point. Thank you, Jaan!',
      ...{ grade: 10, maxGrade: 10, campaignName: 'After chat', values: { Agent: 'Jaan Kask' } },
      url: 'https://acme.example.com/tickets/41977',
      noun: 'ticket',
    },
  ],
  followUps: {
    ...{ opened: 12, done: 9, withinDue: 7, overdue: 1, untaken: 2 },
    ...{ firstActionMs: 7_200_000, gradedAgain: 4, recovered: 3 },
  },
  open: [
    {
      ...{ grade: '1 of 5', whose: 'the agent of the ticket', takenBy: undefined, due: '2 days overdue' },
      ...{ isOverdue: true, record: '41960', url: 'https://acme.example.com/tickets/41960' },
    },
    {
      ...{ grade: '2 of 5', whose: 'Maria', takenBy: 'Maria', due: 'due in 3 hours', isOverdue: false },
      ...{ record: '41961', url: 'https://acme.example.com/tickets/41961' },
    },
  ],
  openCount: 3,
  overdueCount: 1,
};

/** A quiet month: nobody was asked. */
export const quietMonth: MailFigures = {
  ...busyWeek,
  ...{ name: 'Board', every: 'month', period: week('2026-10-01', '2026-10-31'), scope: undefined },
  ...{ results: [], others: 0, unhappy: [], happy: [], open: [], openCount: 0 },
  followUps: {
    ...{ opened: 0, done: 0, withinDue: 0, overdue: 0, untaken: 0 },
    ...{ firstActionMs: null, gradedAgain: 0, recovered: 0 },
  },
};
