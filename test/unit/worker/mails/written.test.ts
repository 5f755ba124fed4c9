import { describe, expect, test } from 'vitest';
import type { MailFigures } from '../../../../worker/mails/figures.ts';
import { htmlOf } from '../../../../worker/mails/html.ts';
import { subjectOf, textOf } from '../../../../worker/mails/text.ts';
import { busyWeek, quietMonth } from '../../../support/worker/mails/example.ts';

const words = (figures: MailFigures) => htmlOf(figures).replace(/<style>[\s\S]*?<\/style>/, '');

describe('a mail', () => {
  test('says in its subject what it is about, and the first result', () => {
    expect(subjectOf(busyWeek)).toBe('Support leads, week of 16 – 22 Nov: CSAT 87.2 %');
    expect(subjectOf(quietMonth)).toBe('Board, month of October');
  });

  test.each([
    ['HTML', words(busyWeek)],
    ['plain text', textOf(busyWeek)],
  ])('as %s has results, answers, comments, and what is open', (_form, shown) => {
    for (const said of [
      ...['87.2 %', '2.1 points up from 85.1 %', '132 of 412 answered, 32 % (30 % in the week before)', '3.4 down'],
      ...['and 1 more campaign', 'Too late.', '2 of 5 · Phone team · Store: Tallinn', 'Thank you, Jaan!'],
      ...[
        '12 opened in this week, 9 of them done, 7 in time, the first action after 2 hours (median; 2 not taken up yet). 3 are open now, 1 overdue.',
      ],
      ...[
        'taken by Maria · due in 3 hours',
        '2 days overdue',
        'https://acme.example.com/tickets/41960',
        'reports.optOut',
      ],
    ])
      expect(shown).toContain(said);
  });

  test('marks a figure of few answers, also in its subject, and gives its change no colour', () => {
    const results = busyWeek.results.map(({ row, trend }) => ({
      row: { ...row, now: { ...row.now, answered: 3 } },
      trend,
    }));
    const few = { ...busyWeek, results };
    expect(subjectOf(few)).toBe('Support leads, week of 16 – 22 Nov: CSAT 87.2 % (few answers)');
    expect(textOf(few)).toContain('  CSAT 87.2 % (few answers), ▲ 2.1 points up from 85.1 %');
    expect(words(few)).toContain('CSAT · few answers</span>');
    expect(words(few)).not.toContain('class="up"');
    for (const shown of [subjectOf(busyWeek), textOf(busyWeek), words(busyWeek)])
      expect(shown).not.toContain('few answers');
    expect(words(busyWeek)).toContain('class="up"');
  });

  test('fetches nothing, runs nothing, and shows what customers write as text', () => {
    const all = htmlOf(busyWeek);
    expect(all).not.toMatch(/<(script|img|link|iframe|object|form)\b|url\(|@import|\son\w+=/i);
    expect(all).toContain('again &lt;b&gt;anything&lt;/b&gt;.');
    const [first] = busyWeek.unhappy;
    const evil = { ...first, comment: 'a\n-- \nb', values: { '"><i': '$&' }, url: 'javascript:alert(1)' };
    const shown = { ...busyWeek, name: '</title>$`', unhappy: [{ ...evil, grade: 1, noun: 'ticket' }] };
    expect(htmlOf(shown)).toContain('&quot;&gt;&lt;i: $&amp;');
    expect(htmlOf(shown)).toContain('<title>&lt;/title&gt;$`, week');
    expect(htmlOf(shown)).not.toContain('javascript:');
    expect(textOf(shown)).toContain('> a\n  > -- \n  > b');
  });

  test('keeps its styles, whatever it is called', () => {
    const shown = htmlOf({ ...busyWeek, name: 'LIFESTYLE' });
    expect(shown).toContain('<title>LIFESTYLE, week');
    expect(shown).toMatch(/<style>\n@media/);
  });

  test('cuts a long comment', () => {
    const long = {
      ...busyWeek,
      happy: [{ comment: '😀'.repeat(1_000), grade: 5, maxGrade: 5, values: {}, noun: 'order' }],
    };
    expect(textOf(long)).toContain(`> ${'😀'.repeat(399)}…\n`);
  });

  test('about nothing says so, and speaks of no follow-ups', () => {
    for (const shown of [words(quietMonth), textOf(quietMonth)]) {
      expect(shown).toContain('Nobody was asked in this month, nor in the one before.');
      expect(shown).not.toMatch(/Follow-ups|customers/);
    }
  });

  test('without an earlier result compares with nothing, and draws no chart of one bar', () => {
    const results = busyWeek.results.map(({ row, trend }) => ({
      row: { ...row, change: null },
      trend: trend.map((one, i) => ({ ...one, figure: i === trend.length - 1 ? one.figure : null })),
    }));
    expect(words({ ...busyWeek, results })).toContain('nothing to compare with the week before');
    expect(words({ ...busyWeek, results })).not.toContain('role="img"');
  });
});
