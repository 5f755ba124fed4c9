import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { previewMail } from '../../../../worker/cli/mail.ts';
import { Reports } from '../../../../worker/config/reports.ts';
import { FollowUpLists } from '../../../../worker/journey/follow-up-lists.ts';
import { erased } from '../../../../worker/journey/forget.ts';
import { type MailOptions, mailRound } from '../../../../worker/mails/mails.ts';
import { memoryLog, startLoop, until } from '../../../support/loop.ts';
import { mailServer } from '../../../support/mail-server.ts';
import { testSeal } from '../../../support/seal.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { redis, dir, beside } = useCommands();
const timeZone = 'Europe/Tallinn';
const today = Temporal.Now.plainDateISO(timeZone);
/** So many days after the Monday after this week, on the clock of the account. */
const monday = (time: string, days = 0) => {
  const date = today.add({ days: 8 - today.dayOfWeek + days });
  return new Date(date.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds);
};

/** A source with answers of this week, and rounds of mails at any time. */
async function withMails(settings: object, isBroken?: () => boolean) {
  await redis.handle.client.flushall();
  const { mails, email } = await mailServer(isBroken);
  const { server, from } = email();
  const recordUrl = (record: string) => `https://toy.example/records/${record}`;
  const vendor = Object.assign(new ToyVendor(), { account: 'support', recordUrl });
  const loop = await startLoop(redis, { source: 'support', vendor });
  for (const [id, grade, comment, store] of [
    ['a', 1, 'Broken & late', 'Tallinn'],
    ['b', 5, 'Kind and quick', 'Tartu'],
    ['c', 3, 'As always', 'Tallinn'],
  ] as const) {
    await loop.asked(id, { store });
    loop.feedback.standin.answer({ contact: `${id}@example.com`, grade, comment });
    await loop.journey(`${id}.1`, 'written');
  }
  const { log, told } = memoryLog();
  const contexts = [...loop.app.engine.pipelines.values()].map(({ context }) => context);
  const [first] = contexts;
  if (first === undefined) throw new Error('no source');
  const alerts: string[] = [];
  const alert: MailOptions['alert'] = async ({ why }) => void alerts.push(why);
  const reports = Reports.parse({ server, from, ...settings });
  const options = (now: Date): MailOptions => ({
    ...{ redis: redis.handle.client, seal: testSeal, log, reports, alert, now: () => now },
    reading: { sources: contexts, service: first.feedback, timeZone },
  });
  return { loop, mails, told, alerts, options, round: (now: Date) => mailRound(options(now)) };
}

const leads = { name: 'Leads', to: ['ann@example.com'] };
const idOf = (text: string) => /Message-ID:\s*(\S+)/.exec(text)?.[1];

test('a mail comes once for each week and receiver, whoever looks, and not to those who want none', async () => {
  const { mails, round } = await withMails({
    mails: [{ ...leads, to: ['ann@example.com', 'Ann@example.com', 'bob@example.com', 'Cat@example.com'] }],
    optOut: ['cat@example.com'],
  });
  await round(monday('09:00', -7));
  expect(mails).toEqual([]);
  await Promise.all([1, 2, 3].map(() => round(monday('07:59'))));
  expect(mails).toEqual([]);
  await Promise.all([1, 2, 3].map(() => round(monday('08:00'))));
  for (const day of [0, 1, 6]) await round(monday('12:00', day));
  expect(mails.flatMap(({ to }) => to).sort()).toEqual(['ann@example.com', 'bob@example.com']);
  expect(new Set(mails.map(({ text }) => idOf(text))).size).toBe(2);
  // After three weeks without a process: the last week alone.
  await round(monday('12:00', 28));
  await round(monday('13:00', 28));
  expect(mails).toHaveLength(4);
});

test('a mail says what the service counts and what customers wrote, in both parts', async () => {
  const { loop, mails, round } = await withMails({ mails: [{ ...leads, every: ['week', 'month'] }] });
  const followUp = { state: 'open', rule: 'unhappy', to: 'Maria', openedAt: new Date(), dueAt: new Date() } as const;
  await loop.store.update('a.1', (now) => ({ journey: { ...now, followUp }, trace: [] }));
  await new FollowUpLists(redis.handle.client, 'support').relist('a.1', loop.store);
  await round(monday('09:00', -7));
  await round(monday('09:00'));
  const [{ text, from } = { text: '', from: '' }] = mails;
  expect(from).toBe('closeloop@example.com');
  expect(text).toMatch(/^Subject: .*Leads.*CSAT/im);
  const [plain = '', html = ''] = text.split('<!doctype html>');
  for (const part of [plain, html]) {
    expect(part).toContain('3 of 3 answered, 100 %');
    expect(part).toContain('https://toy.example/records/a');
    expect(part).toContain('Kind and quick');
    expect(part).toContain('1 opened in this week, none of them done, 1 overdue. 1 is open now.');
    expect(part).toContain('for Maria');
    expect(part).not.toContain('As always');
  }
  expect(plain).toContain('> Broken & late');
  expect(html).toContain('Broken &amp; late');
  expect(text).not.toMatch(/\s[abc]@example\.com/);
});

test('a mail about one store has that store alone', async () => {
  const { mails, round } = await withMails({ mails: [{ ...leads, field: { Store: 'Tallinn' } }] });
  await round(monday('09:00', -7));
  await round(monday('09:00'));
  const text = mails[0]?.text ?? '';
  expect(text).toContain('Store: Tallinn');
  expect(text).toContain('2 of 2 answered');
  expect(text).toContain('Broken & late');
  expect(text).not.toContain('Kind and quick');
});

test('a mail that the server did not take is tried again after a while, and no word of it is logged', async () => {
  let broken = true;
  const { mails, told, round } = await withMails({ mails: [leads] }, () => broken);
  await round(monday('09:00', -7));
  await round(monday('09:00'));
  expect(told).toMatchObject([{ level: 'warn', fields: { receiver: 'Leads', attempts: 1 } }]);
  broken = false;
  await round(monday('09:00'));
  expect(mails).toEqual([]);
  await round(monday('09:05'));
  await round(monday('09:10'));
  expect(mails).toHaveLength(1);
  await round(monday('09:00', 7));
  expect(new Set(mails.map(({ text }) => idOf(text))).size).toBe(2);
  expect(JSON.stringify(told)).not.toMatch(/ann@|late/);
});

test('a person is told of a mail that is not taken for half an hour', async () => {
  const { alerts, round } = await withMails({ mails: [leads] }, () => true);
  await round(monday('09:00', -7));
  for (const time of ['09:00', '09:02', '09:05', '09:10', '09:20']) await round(monday(time));
  expect(alerts).toEqual([]);
  await round(monday('09:40'));
  expect(alerts).toEqual([expect.stringMatching(/^the mail "Leads" is not taken: the mail server did not take it: /)]);
});

test('a process that is killed when the server has taken the mail leaves it to the next one, with the same Message-ID', async () => {
  const { mails, options, round } = await withMails({ mails: [leads] });
  await round(monday('09:00', -7));
  const { redis: client, ...rest } = options(monday('09:00'));
  const dying = new Proxy(client, {
    get(target, name) {
      if (name === 'multi') return () => expect.fail('killed');
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await expect(mailRound({ ...rest, redis: dying })).rejects.toThrow('killed');
  await round(monday('09:20'));
  await round(monday('09:40'));
  expect(mails).toHaveLength(2);
  expect(new Set(mails.map(({ text }) => idOf(text))).size).toBe(1);
});

test('whoever is erased between two attempts is in no mail, and nothing of it is stored meanwhile', async () => {
  let broken = true;
  const { loop, mails, round } = await withMails({ mails: [leads] }, () => broken);
  await round(monday('09:00', -7));
  await round(monday('09:00'));
  const keys = await redis.handle.client.keys('{cl}:reports:*');
  const stored = await Promise.all(
    keys.filter((key) => key.endsWith('messages')).map((key) => redis.handle.client.lrange(key, 0, -1)),
  );
  expect(stored.flat()).toHaveLength(1);
  expect(JSON.stringify([keys, stored])).not.toMatch(/ann|late|Kind/);
  await loop.store.update('a.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
  broken = false;
  await round(monday('10:00'));
  expect(mails[0]?.text).toContain('Kind and quick');
  expect(mails[0]?.text).not.toContain('late');
});

test('a clock that was a year ahead holds up no mail of the weeks that come', async () => {
  const { mails, round } = await withMails({ mails: [leads] });
  await round(monday('09:00', 364));
  await round(monday('09:00'));
  await round(monday('09:30'));
  expect(mails).toEqual([]);
  await round(monday('09:00', 7));
  expect(mails).toHaveLength(1);
});

/** Where it is day now: the furthest east of those. */
function zoneByDay(): string {
  const hours = Array.from({ length: 27 }, (_, i) => 14 - i);
  const offset = hours.find((one) => {
    const hour = (new Date().getUTCHours() + one + 48) % 24;
    return hour >= 8 && hour < 19;
  });
  return `Etc/GMT${(offset ?? 0) > 0 ? '-' : '+'}${Math.abs(offset ?? 0)}`;
}

test('a process that works sends what is due, and says on preview what it would send', async () => {
  await redis.handle.client.flushall();
  const { mails, email } = await mailServer();
  const { server, from } = email();
  const mail = { ...leads, at: '08:00', zone: zoneByDay() };
  const loop = await startLoop(redis, {
    source: 'support',
    general: `reports: ${JSON.stringify({ server, from, mails: [mail] })}`,
  });
  const mark = await until(async () => (await redis.handle.client.keys('{cl}:reports:*:last:week'))[0]);
  expect(mails).toEqual([]);
  await redis.handle.client.set(mark, '2020-01-05');
  await until(() => mails.length > 0);
  expect(mails[0]?.text).toContain('Nobody was asked in this week, nor in the one before.');

  const out = join(dir, 'mail.html');
  const { rows } = await printed(() => previewMail({ ...beside(loop), out }));
  expect(rows).toMatchObject([{ mail: 'Leads', every: 'week', to: ['ann@example.com'], file: out }]);
  expect(readFileSync(out, 'utf8')).toContain('Nobody was asked in this week');
  const plain = await printed(() => previewMail({ ...beside(loop), json: false, every: 'month', out }));
  expect(plain.out).toMatch(/^Subject: Leads, month of \w+\nTo: ann@example\.com\n\n/);
  await expect(previewMail({ ...beside(loop), name: 'Board', out })).rejects.toThrow(
    'There is no mail "Board"; there are: Leads.',
  );
  await expect(previewMail({ ...beside(loop), out: join(dir, 'no/mail.html') })).rejects.toThrow(
    "--out can't be written",
  );
  expect(mails).toHaveLength(1);
});
