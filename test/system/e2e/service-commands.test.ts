// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own notation
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { commandHere } from '../../support/command-here.ts';
import { deskConfiguration } from '../../support/configurations.ts';
import { useFolder } from '../../support/folder.ts';
import { closeloop, command } from '../../support/processes.ts';
import { useRedis } from '../../support/redis.ts';
import { standinHere } from '../../support/standin-here.ts';

const redis = useRedis();
const dir = useFolder();
let config: string;
let service: Awaited<ReturnType<typeof standinHere>>;

beforeAll(async () => {
  config = join(dir, 'closeloop.yaml');
  service = await standinHere('feedback');
  writeFileSync(config, deskConfiguration(redis, { serviceUrl: service.url }));
});
afterAll(async () => {
  await service?.close();
});

const Row = z.looseObject({ id: z.coerce.string().optional() });
/** A command that goes well, and its lines. */
async function ok(...args: string[]): Promise<z.output<typeof Row>[]> {
  const { code, out, err } = await commandHere([...args, '--config', config, '--json']);
  expect([args.join(' '), code, err]).toEqual([args.join(' '), 0, expect.anything()]);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Row.parse(JSON.parse(line)));
}

test('a request by hand is created, listed, graded, commented and shown; another is cancelled', async () => {
  const [made] = await ok('requests', 'create', '--campaign', '15', '--contact', 'desk-7');
  const id = made?.id ?? '';
  expect(await ok('requests', 'grade', id, '4')).toEqual([{ id, grade: 4 }]);
  expect(await ok('requests', 'comment', id, 'Quick')).toEqual([{ id, comment: 'Quick' }]);
  expect(await ok('requests', 'get', id)).toMatchObject([{ id, grade: 4, comment: 'Quick', identifier: 'desk-7' }]);
  expect((await ok('requests', 'list', '--campaign', '15')).map((row) => row.id)).toEqual([id]);
  const later = ['--scheduled', '2099-01-01T10:00:00Z', '--fields', '{"Store":"Tartu"}'];
  const [second] = await ok('requests', 'create', '--campaign', '12', '--contact', 'carl@example.com', ...later);
  expect(await ok('requests', 'cancel', second?.id ?? '')).toEqual([{ id: second?.id, cancelled: true }]);
  expect(await ok('requests', 'get', second?.id ?? '')).toMatchObject([{ status: 'Cancelled' }]);
});

test('a text message by hand leaves within its hours, or anyway', async () => {
  const create = ['requests', 'create', '--campaign', '14', '--contact', '+37255512345'];
  const atNight = ['--scheduled', '2099-01-01T03:00', '--config', config];
  const refused = await commandHere([...create, ...atNight]);
  expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/policy\.sms.*--scheduled 2099-01-01T08:00/) });
  expect(await ok(...create, '--scheduled', '2099-01-01T03:00', '--anyway')).toMatchObject([{ status: 'Scheduled' }]);
});

const farAway = { TZ: 'America/New_York' };
const scheduled: [written: string, means: string][] = [
  ['2099-01-01T10:00', '2099-01-01T08:00:00.000Z'],
  ['2099-01-01 10:00:30', '2099-01-01T08:00:30.000Z'],
  ['2099-07-01', '2099-06-30T21:00:00.000Z'],
  ['2099-01-01T10:00:00-05:00', '2099-01-01T15:00:00.000Z'],
];
test.each(scheduled)("--scheduled %s is read on the account's clock, not the machine's", async (written, means) => {
  const args = ['requests', 'create', '--campaign', '12', '--contact', 'zoe@example.com', '--scheduled', written];
  const { out } = await command([...args, '--config', config, '--json'], farAway);
  expect(JSON.parse(out)).toMatchObject({ scheduled: means });
});

test('--help of every command that takes a moment says on whose clock it is read (audit 32)', async () => {
  for (const args of [['requests', 'create'], ['backfill'], ['journeys', 'list'], ['journeys', 'replay']]) {
    const { out } = await commandHere([...args, '--help']);
    expect(out.replace(/\s+/g, ' ')).toContain('without an offset on the clock of feedback.timeZone');
  }
});

const identifiers: [contact: string, more: string[], identifier: string][] = [
  ['+372 5551 2345', [], '+37255512345'],
  ['desk@example.com', [], 'desk@example.com'],
  ['+372 5551 2346', ['--as', 'identifier'], '+372 5551 2346'],
];
test.each(identifiers)('in an external campaign %s is an identifier (audit 33)', async (contact, more, identifier) => {
  const made = await ok('requests', 'create', '--campaign', '15', '--contact', contact, ...more);
  expect(made).toMatchObject([{ identifier, phone: null, email: null }]);
});

test('--as says what a contact is, and the service has its say on it (audit 33)', async () => {
  const args = ['requests', 'create', '--campaign', '12', '--contact', '+37255512345', '--as', 'identifier'];
  const { code, err } = await commandHere([...args, '--config', config]);
  expect([code, err]).toEqual([1, expect.stringMatching(/identifier/)]);
});

test('a grade between two whole ones is taken where the scale has it (audit 33)', async () => {
  const campaign = { account: 'acme', id: 91, name: 'Halves', type: 'external', metric: 'avg', gradeList: [4, 4.5, 5] };
  await service.control('POST', 'campaigns', campaign);
  const [made] = await ok('requests', 'create', '--campaign', '91', '--contact', 'desk-8');
  const id = made?.id ?? '';
  expect(await ok('requests', 'grade', id, '4.5')).toEqual([{ id, grade: 4.5 }]);
  expect(await ok('requests', 'get', id)).toMatchObject([{ grade: 4.5 }]);
});

test('--fields may name a field __proto__, which the campaign has or has not (audit 34)', async () => {
  const args = ['requests', 'create', '--campaign', '12', '--contact', 'carl@example.com'];
  const { code, err } = await commandHere([...args, '--fields', '{"__proto__":"x"}', '--config', config]);
  expect([code, err]).toEqual([1, expect.stringContaining('create')]);
});

test('what only looks, or only calls the service, runs without the variables of the sources (audit 37)', async () => {
  const file = join(dir, 'no-secrets.yaml');
  const text = readFileSync(config, 'utf8');
  writeFileSync(file, text.replace('clientSecret: two', 'clientSecret: "${CLIENT}"').replace('[three]', '["${HOOK}"]'));
  const noKey = join(dir, 'no-key.yaml');
  const sealed = `secretsKey: "${Buffer.alloc(32, 3).toString('base64')}"`;
  writeFileSync(noKey, `${text.replace('demo-key', '"${KEY}"')}${sealed}\n`);
  await redis.handle.client.del('{cl}:data-key');
  // No process runs, as `status` says.
  const ends = (args: string[]) => (args[0] === 'status' ? 1 : 0);
  for (const args of [['status'], ['journeys', 'list']]) {
    const { code, err } = await commandHere([...args, '--config', noKey, '--json']);
    expect([args.join(' '), code, err]).toEqual([args.join(' '), ends(args), '']);
  }
  await redis.handle.client.del('{cl}:data-key');
  for (const args of [['status'], ['journeys', 'list'], ['requests', 'list']]) {
    const { code, err } = await commandHere([...args, '--config', file, '--json']);
    expect([args.join(' '), code, err]).toEqual([args.join(' '), ends(args), '']);
  }
  const { code, err } = await commandHere(['check', '--config', file]);
  expect([code, err]).toEqual([2, expect.stringMatching(/2 mistakes[\s\S]*CLIENT is not set[\s\S]*HOOK is not set/)]);
});

test('a person is shown, masked only with --yes, and then unknown', async () => {
  await ok('requests', 'create', '--campaign', '12', '--contact', 'mona@example.com');
  expect(await ok('contact', 'show', 'mona@example.com')).toMatchObject([{ num_appeals: 1 }]);
  expect(await ok('contact', 'access-log', 'mona@example.com')).toEqual([]);
  const log = await commandHere(['contact', 'access-log', 'mona@example.com', '--config', config]);
  expect([log.code, log.out, log.err]).toEqual([0, '', expect.stringContaining('knows of nobody who looked')]);
  const refused = await commandHere(['contact', 'mask', 'mona@example.com', '--config', config]);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--yes')]);
  expect(await ok('contact', 'mask', 'mona@example.com', '--yes')).toMatchObject([{ contacts: 1, requestsMasked: 1 }]);
  const gone = await commandHere(['contact', 'show', 'mona@example.com', '--config', config]);
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('masked')]);
});

const known: [how: string, create: string[], contact: string, more: string[]][] = [
  ['by an identifier that looks like a number', ['--campaign', '15', '--as', 'identifier'], '55512347', []],
  ['by an identifier, called one', ['--campaign', '15', '--as', 'identifier'], '5551 2348', ['--as', 'identifier']],
  ['by a number of the default country', ['--campaign', '14', '--anyway'], '5551 2349', []],
  ['by a number of the default country, called one', ['--campaign', '14', '--anyway'], '55512340', ['--as', 'phone']],
];
test.each(known)('a person is shown %s, and so is who looked at their data', async (_how, create, contact, more) => {
  const home = join(dir, 'home.yaml');
  writeFileSync(home, `${readFileSync(config, 'utf8')}\ndefaultCountry: EE\n`);
  const at = (...args: string[]) => commandHere([...args, '--config', home, '--json']);
  expect(await at('requests', 'create', ...create, '--contact', contact)).toMatchObject({ code: 0 });
  const shown = await at('contact', 'show', contact, ...more);
  expect([shown.code, shown.err]).toEqual([0, '']);
  expect(JSON.parse(shown.out)).toMatchObject({ num_appeals: 1 });
  const user = `eve-${contact}`;
  await service.control('POST', 'access-log', { account: 'acme', contact: JSON.parse(shown.out).contact, user });
  const log = await at('contact', 'access-log', contact, ...more);
  expect([log.code, log.err]).toEqual([0, '']);
  expect(JSON.parse(log.out)).toMatchObject({ user });
  const nobody = await at('contact', 'access-log', 'nobody-7');
  expect([nobody.code, nobody.out, nobody.err]).toEqual([1, '', expect.stringContaining('or it was masked')]);
});

test.each(['campaigns', 'requests', 'custom-fields', 'surveys'])(
  '%s are exported as JSON, one a line',
  async (what) => {
    expect((await ok('export', what)).length).toBeGreaterThan(0);
  },
);

test('it ends silently when nobody reads any more, and says in a line that a disk is full', async () => {
  const shell = async (pipe: string) => {
    const line = `"$0" "$1" export custom-fields --config "$2" ${pipe}`;
    const child = spawn('bash', ['-c', `set -o pipefail; ${line}`, process.execPath, closeloop, config]);
    let err = '';
    child.stderr.on('data', (text: Buffer) => {
      err += text.toString();
    });
    const [code] = await once(child, 'close');
    return [code, err];
  };
  expect(await shell('| true')).toEqual([141, '']);
  expect(await shell('> /dev/full')).toEqual([1, expect.stringMatching(/^The output can't be written: ENOSPC.*\n$/)]);
});

const mistakes: [args: string[], says: RegExp][] = [
  [['requests', 'grade', '1', 'good'], /must be a number/],
  [['requests', 'grade', '1', 'Infinity'], /must be a number/],
  [
    ['requests', 'create', '--campaign', '12', '--contact', 'a@example.com', '--fields', '{Store'],
    /--fields must be JSON/,
  ],
  [['requests', 'create', '--campaign', '12', '--contact', 'a@example.com', '--scheduled', '?'], /--scheduled must be/],
  [['export', 'everything'], /campaigns, requests/],
  [['requests', 'list', '--limit', '0'], /more than 0/],
  [['journeys', 'list', '--limit', '0'], /more than 0/],
  [['export', 'surveys', '--campaign', '12'], /--campaign does not narrow surveys, which are exported whole/],
];
test.each(mistakes)('%j is a mistake that is told, with exit code 2', async (args, says) => {
  const { code, err } = await commandHere([...args, '--config', config]);
  expect([code, err]).toEqual([2, expect.stringMatching(says)]);
});
