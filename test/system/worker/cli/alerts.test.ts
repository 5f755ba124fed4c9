import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../../../standins/kit/server.ts';
import { commandHere } from '../../../support/command-here.ts';
import { useFolder } from '../../../support/folder.ts';

const dir = useFolder();

function configured(alerts: string): string {
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(
    config,
    `
feedback: { baseUrl: https://feedback.example.com/api, apiKey: "\${NOT_SET_HERE}", timeZone: Europe/Tallinn }
${alerts}
sources: { support: { connector: webhook, secret: "\${NOT_SET_HERE}" } }
`,
  );
  return config;
}

test('"alerts test" tries everybody, without the variables of anything else, and says who does not take it', async () => {
  const sent: string[] = [];
  const server = await serve(({ raw }) => ({ status: sent.push(raw.toString()) === 1 ? 200 : 404 }));
  onTestFinished(() => server.close());
  const config = configured(`alerts: { slack: "\${SLACK_URL}" }`);
  const env = { SLACK_URL: `${server.url}/services/secret` };
  const good = await commandHere(['alerts', 'test', '--config', config], env);
  expect(good).toMatchObject({ code: 0, err: '' });
  expect(good.out).toContain('slack took it');
  expect(sent[0]).toContain('this is a test');
  const bad = await commandHere(['alerts', 'test', '--json', '--config', config], env);
  expect([bad.code, JSON.parse(bad.out)]).toEqual([
    1,
    { receiver: 'slack', setting: 'alerts.slack', taken: false, why: 'it answered 404' },
  ]);
});

test('"alerts test" says that nobody is named, and which of its own variables is missing', async () => {
  const none = await commandHere(['alerts', 'test', '--config', configured('')]);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('names no receiver')]);
  const missing = await commandHere(['alerts', 'test', '--config', configured(`alerts: { teams: "\${TEAMS_URL}" }`)]);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('TEAMS_URL')]);
});

test('"alerts test" tries those whom answer rules tell, by their names', async () => {
  const server = await serve(({ path }) => ({ status: path === '/ops' ? 200 : 404 }));
  onTestFinished(() => server.close());
  const receivers = `receivers: { leads: { slack: "${server.url}/leads" } }`;
  const config = configured(`alerts: { teams: "${server.url}/ops", ${receivers} }`);
  const { code, out } = await commandHere(['alerts', 'test', '--config', config]);
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(
      /teams took it[\s\S]*leads \(slack\): it answered 404\n {2}→ check alerts.receivers.leads.slack/,
    ),
  ]);
});
