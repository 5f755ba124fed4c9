import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startDesk } from '../../../../examples/helpdesk-connector/desk.ts';
import { startZendeskStandin } from '../../../../standins/zendesk/standin.ts';
import { programOnPath } from '../../../../worker/redis/server-binary.ts';
import { commandHere } from '../../../support/command-here.ts';
import { testFolder } from '../../../support/folder.ts';
import { closeloop, command } from '../../../support/processes.ts';
import { startService } from '../../../support/service.ts';

/** A folder, the service, and a help desk with a ticket field of its own. */
async function world() {
  const dir = testFolder();
  const feedback = await startService();
  const zendesk = await startZendeskStandin();
  onTestFinished(() => zendesk.close());
  const config = join(dir, 'closeloop.yaml');
  const envFile = join(dir, 'closeloop.env');
  const place = ['--config', config, '--data', join(dir, '.closeloop')];
  const accounts = ['--feedback-url', `${feedback.url}/api`, '--base-url', zendesk.url];
  return { config, envFile, place, accounts, zendesk };
}

const example = resolve(import.meta.dirname, '../../../../examples/helpdesk-connector/connector.ts');
const secrets = { FEEDBACK_API_KEY: 'demo-key', ZENDESK_CLIENT_SECRET: 'zendesk-client-secret' };
const variable = (name: string) => `\${${name}}`;
const vendor = ['--vendor', 'zendesk', '--subdomain', 'acme', '--client-id', 'closeloop'];
const rest = ['--campaign', '12', '--time-zone', 'Europe/Tallinn', '--public-url', 'http://127.0.0.1:8512', '--yes'];

test('by flags it writes the configuration and the secrets apart, prepares the account, and finds nothing wrong', async () => {
  const { config, envFile, place, accounts } = await world();
  const fields = ['--field', 'Ticket=ticket.id', '--field', 'Agent=assignee.name'];
  const { code, err } = await commandHere(['init', ...place, ...accounts, ...vendor, ...rest, ...fields], secrets);
  expect([code, err]).toEqual([0, expect.stringContaining('closeloop start')]);
  const yaml = readFileSync(config, 'utf8');
  expect(parse(yaml)).toMatchObject({
    feedback: { apiKey: variable('FEEDBACK_API_KEY'), timeZone: 'Europe/Tallinn' },
    http: { port: 8512 },
    sources: {
      support: {
        clientSecret: variable('ZENDESK_CLIENT_SECRET'),
        rules: [{ campaign: 12, fields: { Ticket: 'ticket.id', Agent: 'assignee.name' } }],
        writeBack: { grade: 'Feedback grade', comment: 'Feedback comment', note: true },
      },
    },
  });
  expect(statSync(envFile).mode & 0o777).toBe(0o600);
  const kept = parseEnv(readFileSync(envFile, 'utf8'));
  expect(kept).toMatchObject(secrets);
  // What the vendor made up, which nobody else is told.
  expect(kept.ZENDESK_WEBHOOK_SECRET).toMatch(/^[A-Za-z0-9+/=]{20,}$/);
  for (const secret of Object.values(kept)) expect(yaml + err).not.toContain(secret);
  // From then on every command has them.
  const check = await commandHere(['check', ...place]);
  expect([check.code, check.out]).toEqual([0, expect.stringContaining('0 errors')]);
  const old = readFileSync(config, 'utf8');
  expect(old).toContain('of the file closeloop.env beside this one');
  const again = await commandHere(['init', ...place, ...accounts, ...vendor, ...rest]);
  expect([again.code, again.err, readFileSync(config, 'utf8')]).toEqual([
    2,
    expect.stringContaining('--overwrite'),
    old,
  ]);
});

test('it tells a channel of unhappy customers, whose address stays among the secrets', async () => {
  const { config, envFile, place, accounts } = await world();
  const flags = ['init', ...place, ...accounts, ...vendor, ...rest, '--unhappy', 'slack'];
  const missing = await commandHere(flags, secrets);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('UNHAPPY_URL')]);
  const wrong = await commandHere(flags, { ...secrets, UNHAPPY_URL: 'our channel' });
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('UNHAPPY_URL: must be an https address')]);
  const given = { ...secrets, UNHAPPY_URL: 'https://hooks.slack.com/services/T0/B0/secret' };
  expect((await commandHere(flags, given)).code).toBe(0);
  expect(parse(readFileSync(config, 'utf8'))).toMatchObject({
    alerts: { receivers: { unhappy: { slack: variable('UNHAPPY_URL') } } },
    sources: { support: { answers: [{ name: 'unhappy', do: [{ followUp: {} }, { notify: ['unhappy'] }] }] } },
  });
  expect(parseEnv(readFileSync(envFile, 'utf8'))).toMatchObject({ UNHAPPY_URL: given.UNHAPPY_URL });
});

test('where nobody can be asked it names all that is missing, and writes nothing', async () => {
  const { config, envFile, place } = await world();
  const { code, err } = await commandHere(['init', ...place, '--vendor', 'zendesk', '--subdomain', 'acme']);
  expect(code).toBe(2);
  for (const one of ['--feedback-url', '--client-id', '--campaign', '--yes', ...Object.keys(secrets)])
    expect(err).toContain(one);
  expect([existsSync(config), existsSync(envFile)]).toEqual([false, false]);
});

test.each([
  ['a vendor that there is not', ['--vendor', 'zendsk'], 'there is no zendsk; there are: freshdesk'],
  ['a connector that there is not', ['--vendor', './gone.ts'], 'there is no file'],
  ['a campaign that there is not', ['--campaign', '999'], 'there is no 999; there are: 12'],
  ['a setting that is none', ['--subdomain', 'acme corp'], 'subdomain'],
  ['a custom field that there is not', ['--field', 'Nope=assignee.name'], 'no custom field Nope; there are: Store'],
  ['an expression that is none', ['--field', 'Store=assignee.('], '--field Store: The expression'],
  ['a custom field that is there twice', ['--field', 'Agent=a', '--field', 'Agent=b'], 'Agent is there twice'],
  ["another vendor's setting", ['--portal-id', '7'], '--portal-id: is no question about zendesk'],
  ['a Redis that is none', ['--redis', 'redis://127.0.0.1:1'], '--redis: Redis does not answer there'],
  ['a file in no folder', ['--config', join('sub', 'dir', 'x.yml')], 'There is no folder sub/dir'],
])('%s is refused before anything is written', async (_, flags, message) => {
  const { config, envFile, place, accounts } = await world();
  const { code, err } = await commandHere(['init', ...place, ...accounts, ...vendor, ...rest, ...flags], secrets);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect([existsSync(config), existsSync(envFile)]).toEqual([false, false]);
});

test('what the vendor refuses is told before anything is written, with a campaign that there is not', async () => {
  const { config, envFile, place, accounts } = await world();
  const hubspot = ['--vendor', 'hubspot', ...rest, '--campaign', '999'];
  const given = { FEEDBACK_API_KEY: 'demo-key', HUBSPOT_ACCESS_TOKEN: 'pat-wrong', HUBSPOT_CLIENT_SECRET: 'wrong' };
  const { code, err } = await commandHere(['init', ...place, ...accounts, ...hubspot], given);
  expect([code, err]).toEqual([2, expect.stringMatching(/tickets: .*access token[\s\S]*there is no 999/)]);
  expect([existsSync(config), existsSync(envFile)]).toEqual([false, false]);
});

// In a process of its own: Vite would load the connector's file in place of Node, without closeloop's own entry for it.
test('it asks for what a connector of somebody else says', async () => {
  const { config, envFile, place, accounts } = await world();
  const desk = await startDesk({ email: 'hanna@example.com', subject: 'No heating' });
  onTestFinished(() => desk.stop());
  cpSync(example, join(dirname(config), 'my-connector.ts'));
  const [feedbackUrl, service = ''] = accounts;
  const flags = [feedbackUrl ?? '', service, '--vendor', './my-connector.ts', '--base-url', desk.url, ...rest];
  const missing = await command(['init', ...place, ...flags], { FEEDBACK_API_KEY: 'demo-key' });
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('DESKLY_API_KEY')]);
  const given = { FEEDBACK_API_KEY: 'demo-key', DESKLY_API_KEY: 'key', DESKLY_WEBHOOK_SECRET: 'deskly-secret' };
  const { code, err } = await command(['init', ...place, ...flags, '--field', 'Ticket=ticket.subject'], given);
  expect([code, err]).toEqual([0, expect.stringContaining('closeloop start')]);
  expect(parse(readFileSync(config, 'utf8')).sources).toEqual({
    desk: expect.objectContaining({
      connector: './my-connector.ts',
      baseUrl: desk.url,
      apiKey: variable('DESKLY_API_KEY'),
      webhookSecrets: [variable('DESKLY_WEBHOOK_SECRET')],
    }),
  });
  expect(parseEnv(readFileSync(envFile, 'utf8'))).toMatchObject(given);
});

test('a wrong key is told before anything is written', async () => {
  const { config, place, accounts } = await world();
  const wrong = { ...secrets, FEEDBACK_API_KEY: 'wrong' };
  const { code, err } = await commandHere(['init', ...place, ...accounts, ...vendor, ...rest], wrong);
  expect([code, err, existsSync(config)]).toEqual([2, expect.stringMatching(/key/i), false]);
});

/** `init` at a terminal, which is answered question by question. */
function atTerminal(args: readonly string[]) {
  const line = [process.execPath, closeloop, 'init', ...args].map((word) => `'${word}'`).join(' ');
  const terminal = spawn('script', ['-qec', line, '/dev/null'], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', TERM: 'dumb' },
  });
  let shown = '';
  terminal.stdout.on('data', (text: Buffer) => {
    shown += text.toString();
  });
  const ended = new Promise<number | null>((resolve) => terminal.on('close', resolve));
  let read = 0;
  const answer = async (question: RegExp, text: string) => {
    for (;;) {
      const found = question.exec(shown.slice(read));
      if (found) {
        read += found.index + found[0].length;
        terminal.stdin.write(`${text}\r`);
        return;
      }
      if (terminal.exitCode !== null) throw new Error(`it ended before it asked ${question}: ${shown}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { answer, ended, shown: () => shown };
}

const hasTerminal = (await programOnPath(['script'], process.env.PATH ?? '')) !== undefined;

test.runIf(hasTerminal)('it asks at a terminal, shows no secret, and offers what the accounts have', async () => {
  const { config, envFile, place, accounts, zendesk } = await world();
  zendesk.standin.addTicketField({ type: 'text', title: 'Branch office' });
  writeFileSync(envFile, "# mine\nOTHER='kept as it is'\n");
  const { answer, ended, shown } = atTerminal([...place, ...accounts]);
  await answer(/API key \(not shown\): /, 'demo-key');
  await answer(/time zone \[.*\]: /, 'Europe/Tallinn');
  await answer(/reach closeloop.*\[none\]: /, 'http://127.0.0.1:8512');
  await answer(/Redis.*\[none\]: /, '');
  await answer(/9 {2}zendesk: [\s\S]*commas: /, '9');
  await answer(/Name of the source.*\[support\]: /, 'helpdesk');
  await answer(/Subdomain .*: /, 'acme');
  await answer(/OAuth client.*: /, 'closeloop');
  await answer(/secret \(not shown\): /, 'zendesk-client-secret');
  await answer(/grade \[Feedback grade\]: /, '');
  await answer(/comment \[Feedback comment\]: /, '');
  await answer(/Campaign that helpdesk asks in:[\s\S]*After support \(12, mixed\)[\s\S]*Number: /, '1');
  await answer(/gives a bad grade:[\s\S]*3 {2}a follow-up.*Slack[\s\S]*Number \[nobody\]: /, '2');
  await answer(/"Store" \(Text\)[\s\S]*7 {2}ticket field "Branch office"[\s\S]*Number \[none\]: /, '7');
  await answer(/"Agent" \(Text\)[\s\S]*Number \[none\]: /, '2');
  await answer(/"Ticket" \(Text\)[\s\S]*Number \[none\]: /, '"#" & ticket.id');
  await answer(/Do this\? \[y\/N\] /, 'y');
  expect([await ended, shown()]).toEqual([0, expect.stringContaining('0 errors')]);
  expect(shown()).not.toMatch(/demo-key|zendesk-client-secret/);
  const fields = { Store: 'ticket.fields.branch_office', Agent: 'assignee.name', Ticket: '"#" & ticket.id' };
  expect(parse(readFileSync(config, 'utf8'))).toMatchObject({
    sources: {
      helpdesk: {
        rules: [{ campaign: 12, fields }],
        answers: [{ name: 'unhappy', when: 'answer.grade <= 2', do: [{ followUp: { to: 'agent', due: '1d' } }] }],
      },
    },
  });
  expect(readFileSync(envFile, 'utf8')).toMatch(/^# mine\nOTHER='kept as it is'\nFEEDBACK_API_KEY=demo-key\n/);
});

test.runIf(hasTerminal)('a wrong answer is told at once, and asked again alone; a stand-in is an answer', async () => {
  const { config, place, accounts } = await world();
  const [, feedbackUrl = '', , zendeskUrl = ''] = accounts;
  const { answer, ended, shown } = atTerminal(place);
  const address = /Address of the Feedback.*: /;
  await answer(address, 'feedback');
  await answer(/is not an address[\s\S]*Address of the Feedback.*: /, 'http://127.0.0.1:1/api');
  await answer(/API key \(not shown\): /, 'wrong');
  await answer(
    /no connection[\s\S]*Address of the Feedback.*\[http:\/\/127\.0\.0\.1:1\/api\]: /,
    feedbackUrl.replace('/api', ''),
  );
  await answer(/copy the key[\s\S]*API key \(not shown\): /, 'demo-key');
  await answer(/time zone \[.*\]: /, 'Tallinn');
  await answer(/IANA[\s\S]*time zone \[.*\]: /, 'Europe/Tallinn');
  await answer(/reach closeloop.*\[none\]: /, 'closeloop.example.com');
  await answer(/must be an https address[\s\S]*reach closeloop.*\[none\]: /, 'http://127.0.0.1:8513');
  await answer(/Redis.*\[none\]: /, 'localhost:6379');
  await answer(/must begin with redis:[\s\S]*Redis.*\[none\]: /, 'redis://127.0.0.1:1');
  await answer(/Redis does not answer there[\s\S]*Redis.*\[none\]: /, '');
  await answer(/commas: /, '16');
  await answer(/There is no 16[\s\S]*commas: /, '9');
  await answer(/Name of the source.*\[support\]: /, 'Help Desk');
  await answer(/small letters[\s\S]*Name of the source.*\[support\]: /, 'helpdesk');
  await answer(/stand-in[\s\S]*Subdomain .*: /, zendeskUrl);
  await answer(/is taken as the address of a stand-in[\s\S]*Subdomain .*: /, 'acme corp');
  await answer(/Subdomain .*: /, 'acme');
  await answer(/OAuth client.*: /, 'closeloop');
  await answer(/secret \(not shown\): /, 'wrong');
  await answer(/grade \[Feedback grade\]: /, '');
  await answer(/comment \[Feedback comment\]: /, '');
  await answer(/client[\s\S]*Subdomain .*\[acme\]: /, '');
  await answer(/OAuth client.*\[closeloop\]: /, '');
  await answer(/secret \(not shown; Enter keeps it\): /, 'zendesk-client-secret');
  await answer(/Campaign that helpdesk asks in:[\s\S]*Number: /, '99');
  await answer(/There is no 99[\s\S]*Number: /, '1');
  await answer(/gives a bad grade:[\s\S]*Number \[nobody\]: /, '');
  await answer(/"Store" \(Text\)[\s\S]*Number \[none\]: /, 'Main Street');
  await answer(/fixed text has quotes[\s\S]*Number \[none\]: /, '"Main Street"');
  await answer(/"Agent" \(Text\)[\s\S]*Number \[none\]: /, '99');
  await answer(/not in the list[\s\S]*Number \[none\]: /, '');
  await answer(/"Ticket" \(Text\)[\s\S]*Number \[none\]: /, '');
  await answer(/Do this\? \[y\/N\] /, 'y');
  expect([await ended, shown()]).toEqual([0, expect.stringContaining('0 errors')]);
  expect(parse(readFileSync(config, 'utf8'))).toMatchObject({
    feedback: { baseUrl: feedbackUrl, timeZone: 'Europe/Tallinn' },
    sources: {
      helpdesk: { subdomain: 'acme', baseUrl: zendeskUrl, rules: [{ fields: { Store: '"Main Street"' } }] },
    },
  });
});

test('where nobody can be asked all that is wrong is named at once, with what is missing', async () => {
  const { place, config } = await world();
  const general = ['--feedback-url', '--time-zone', '--public-url', '--redis', '--campaign', '--field', '--unhappy'];
  const flags = [...general, '--subdomain'];
  const wrong = flags.flatMap((flag) => [flag, 'a b']);
  const { code, err } = await commandHere(['init', ...place, '--vendor', 'zendesk', '--source-name', 'A B', ...wrong]);
  expect([code, existsSync(config)]).toEqual([2, false]);
  for (const one of ['Missing: ', '--client-id', ...flags.map((flag) => `${flag}: `)]) expect(err).toContain(one);
});
