import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../../../standins/kit/server.ts';
import { type AlertSettings, Alerts } from '../../../../worker/operations/alerts.ts';
import { memoryLog } from '../../../support/loop.ts';
import { mailServer } from '../../../support/mail-server.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

const alert = {
  kind: 'parked',
  source: 'support',
  why: 'a field of 41960 is <required> & *empty*: <!channel> [here](https://x.example)',
  remedy: 'put it there',
  journeys: ['support/41960.1', 'support/41961.1'],
} as const;

/** A chat's webhook: keeps what it is sent, and answers with these statuses first. */
async function chat(answers: { status: number; headers?: Record<string, string> }[] = []) {
  const sent: { type: string | undefined; body: unknown }[] = [];
  const server = await serve(({ headers, raw }) => {
    sent.push({ type: headers['content-type'], body: JSON.parse(raw.toString()) });
    return answers.shift() ?? { status: 202 };
  });
  onTestFinished(() => server.close());
  return { sent, url: `${server.url}/services/T0/B0/secret` };
}

async function fresh(settings: Partial<AlertSettings>, now = () => new Date()) {
  await redis.handle.client.flushall();
  const { log, told: lines } = memoryLog();
  const all = { again: 86_400_000, digest: false as const, ...settings };
  const make = () => new Alerts(redis.handle.client, all, { fetch, now }, log);
  return { alerts: make(), another: make, lines };
}

test('Slack is sent blocks whose text is no markup, with the journeys', async () => {
  const { sent, url } = await chat();
  const { alerts } = await fresh({ slack: url });
  await alerts.raise(alert);
  await alerts.raise({ ...alert, source: 'deals', kind: 'paused', journeys: [] });
  await alerts.send();
  const plain = (text: unknown) => ({ type: 'plain_text', emoji: false, text });
  const section = (text: unknown) => ({ type: 'section', text: plain(text) });
  const title = expect.stringMatching(/^closeloop: .*, and 1 more$/);
  const parked = `support: waits for a person\n${alert.why}\n→ put it there\njourneys: support/41960.1, support/41961.1`;
  const paused = `deals: stopped\n${alert.why}\n→ put it there`;
  expect(sent).toHaveLength(1);
  expect(sent[0]?.type).toBe('application/json');
  expect(sent[0]?.body).toMatchObject({
    text: title,
    blocks: [{ type: 'header', text: plain(title) }, {}, {}, {}, {}],
  });
  expect(sent[0]?.body).toMatchObject({ blocks: expect.arrayContaining([section(parked), section(paused)]) });
});

test('Teams is sent an Adaptive Card whose text is no Markdown', async () => {
  const { sent, url } = await chat();
  const { alerts } = await fresh({ teams: url });
  await alerts.raise(alert);
  await alerts.send();
  const [{ body } = { body: undefined }] = sent;
  expect(body).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: { type: 'AdaptiveCard', version: '1.4', body: expect.any(Array) },
      },
    ],
  });
  const text = JSON.stringify(body);
  expect(text).not.toContain('TextBlock","text');
  expect(text).toContain(JSON.stringify({ type: 'TextRun', text: alert.why }));
  expect(text).toContain('journeys: support/41960.1, support/41961.1');
});

test('no message is larger than a chat takes, however many alerts there are', async () => {
  const slack = await chat();
  const teams = await chat();
  const { alerts } = await fresh({ slack: slack.url, teams: teams.url });
  const letters = 'abcdefghijklmno';
  const long = { why: 'ü'.repeat(2_000), remedy: '→'.repeat(2_000) };
  for (const letter of letters)
    await alerts.raise({ ...alert, why: `${letter.repeat(5)} ${long.why}`, remedy: long.remedy });
  for (let i = 0; i < 3; i++) await alerts.send();
  expect([slack.sent.length, teams.sent.length]).toEqual([2, 2]);
  for (const { body } of teams.sent) expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(28 * 1024);
  for (const { body } of slack.sent) expect(JSON.stringify(body).length).toBeLessThan(10_000);
});

test('a mail goes to everybody, as text, from whom the settings say', async () => {
  const { mails, email } = await mailServer();
  const { alerts } = await fresh({ email: email() });
  await alerts.raise(alert);
  await alerts.send();
  expect(mails).toMatchObject([{ from: 'closeloop@example.com', to: ['ops@example.com', 'night@example.com'] }]);
  const text = mails[0]?.text ?? '';
  expect(text).toMatch(/^Subject: closeloop: support: waits for a person\r$/m);
  expect(text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(text).toMatch(/^Message-ID: <alert_[\w-]+@example\.com>\r$/m);
  expect(text).toContain('support/41960.1, support/41961.1');
});

test('alerts link to the page where it has a public address, and a subject names closeloop once', async () => {
  const page = 'https://closeloop.example.com';
  const [slack, teams, own] = [await chat(), await chat(), await chat()];
  const { mails, email } = await mailServer();
  const secrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`];
  const to = { slack: slack.url, teams: teams.url, url: own.url, secrets, email: email() };
  const { alerts } = await fresh({ ...to, page });
  await alerts.raise({ ...alert, kind: 'to-do', source: 'closeloop', journeys: [] });
  await alerts.send();
  expect(mails[0]?.text).toMatch(/^Subject: closeloop: to do\r$/m);
  expect(mails[0]?.text).toMatch(/^ {2}https:\/\/closeloop\.example\.com\/\r$/m);
  await alerts.raise(alert);
  await alerts.raise({ ...alert, source: 'deals', journeys: ['deals/a b.1'] });
  await alerts.send();
  const links = [`${page}/journeys?source=support`, `${page}/journeys/deals/a%20b.1`];
  for (const link of links) {
    expect(mails[1]?.text).toContain(`  ${link}\r\n`);
    expect(JSON.stringify(slack.sent[1]?.body)).toContain(`<${link}|On the page>`);
    expect(JSON.stringify(teams.sent[1]?.body)).toContain(`{"type":"Action.OpenUrl","url":"${link}"}`);
    expect(JSON.stringify(own.sent[1]?.body)).toContain(`"link":"${link}"`);
  }
  const without = await fresh(to);
  await without.alerts.raise(alert);
  await without.alerts.send();
  for (const { body } of [slack.sent[2], own.sent[2]].flatMap((one) => one ?? [])) {
    expect(JSON.stringify(body)).not.toMatch(/On the page|"link"/);
  }
});

test('a mail server that fails is tried again with the same message, and its password is in no log', async () => {
  let isBroken = true;
  let now = new Date('2026-11-21T10:00:00Z');
  const { mails, email } = await mailServer(() => isBroken);
  const { alerts, lines } = await fresh({ email: email() }, () => now);
  await alerts.raise(alert);
  await alerts.send();
  isBroken = false;
  now = new Date('2026-11-21T10:02:00Z');
  await alerts.send();
  await alerts.send();
  expect(mails).toHaveLength(1);
  expect(JSON.stringify(lines)).toContain('Check alerts.email');
  expect(JSON.stringify(lines)).not.toMatch(/pass.word|ops@/);
});

test('a receiver that fails holds up no other, and comes to know everything later', async () => {
  const slack = await chat([{ status: 429, headers: { 'retry-after': '7200' } }, { status: 404 }]);
  const teams = await chat();
  let now = new Date('2026-11-21T10:00:00Z');
  const { alerts, lines } = await fresh({ slack: slack.url, teams: teams.url }, () => now);
  await alerts.raise(alert);
  await alerts.send();
  now = new Date('2026-11-21T10:14:00Z');
  await alerts.raise({ ...alert, source: 'deals' });
  await alerts.send();
  expect([slack.sent.length, teams.sent.length]).toEqual([1, 2]);
  for (const hours of [1, 5, 6]) {
    now = new Date(Date.parse('2026-11-21T12:00:00Z') + hours * 3_600_000);
    await alerts.send();
  }
  expect([slack.sent.length, teams.sent.length]).toEqual([4, 2]);
  expect(JSON.stringify(slack.sent.slice(2))).toContain('deals: waits for a person');
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('two processes send one message', async () => {
  const { sent, url } = await chat();
  const { alerts, another } = await fresh({ slack: url });
  const others = [alerts, another(), another()];
  await Promise.all(others.map((one) => one.raise(alert)));
  for (let i = 0; i < 3; i++) await Promise.all(others.map((one) => one.send()));
  expect(sent).toHaveLength(1);
  expect(JSON.stringify(sent)).toContain('support: waits for a person (3 times)');
});

test('the digest comes once a week to everybody, over processes, restarts and a week without any', async () => {
  const slack = await chat([{ status: 500 }]);
  const mail = await mailServer();
  const digest = { day: 'mon', at: '09:00' } as const;
  // A Sunday; in Tallinn two hours later than UTC.
  let now = new Date('2026-11-22T10:00:00Z');
  const { alerts, another } = await fresh({ slack: slack.url, email: mail.email(), digest }, () => now);
  const asked: string[] = [];
  const figures = async ({ from, until }: { from: Date; until: Date }) => {
    asked.push(`${from.toISOString()} ${until.toISOString()}`);
    const week = {
      asked: 40,
      answered: 12,
      rate: 0.25,
      givenUp: 1,
      parked: 2,
      stopped: ['ask: campaign 12 is inactive'],
    };
    return [{ source: 'support', ...week }];
  };
  const all = [alerts, another(), another()];
  const round = async () => {
    await Promise.all(all.map((one) => one.digest('Europe/Tallinn', figures)));
    await Promise.all(all.map((one) => one.send()));
  };
  await round();
  expect(asked).toEqual([]);
  for (const at of ['06:59', '07:00', '07:05', '09:00', '23:00']) {
    now = new Date(`2026-11-23T${at}:00Z`);
    await round();
  }
  expect(new Set(asked)).toEqual(new Set(['2026-11-16T07:00:00.000Z 2026-11-23T07:00:00.000Z']));
  expect([slack.sent.length, mail.mails.length]).toEqual([2, 1]);
  expect(mail.mails[0]?.text).toContain('asked 40 · answered 12 (25 % of those asked)');
  expect(JSON.stringify(slack.sent[1])).toContain('waiting for a person: 2');
  // Nobody ran on the 30th.
  now = new Date('2026-12-02T10:00:00Z');
  all.push(another());
  await round();
  await round();
  expect(asked.at(-1)).toBe('2026-11-23T07:00:00.000Z 2026-11-30T07:00:00.000Z');
  expect([slack.sent.length, mail.mails.length]).toEqual([3, 2]);
});
