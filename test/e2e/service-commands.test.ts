import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { useRedis } from '../redis.ts';
import { closeloop, command, standin } from './processes.ts';

const redis = useRedis();
let dir: string;
let config: string;
let service: Awaited<ReturnType<typeof standin>>;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'closeloop-service-'));
  config = join(dir, 'closeloop.yaml');
  service = await standin('feedback');
  writeFileSync(
    config,
    `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
sources:
  support:
    connector: zendesk
    subdomain: acme
    clientId: one
    clientSecret: two
    webhookSecrets: [three]
    rules: [{ name: all, campaign: 12, contact: requester.email }]
`,
  );
});
afterAll(async () => {
  await service?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const Row = z.looseObject({ id: z.coerce.string().optional() });
/** A command that goes well, and its lines. */
async function ok(...args: string[]): Promise<z.output<typeof Row>[]> {
  const { code, out, err } = await command([...args, '--config', config, '--json']);
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

test('a person is shown, masked only with --yes, and then unknown', async () => {
  await ok('requests', 'create', '--campaign', '12', '--contact', 'mona@example.com');
  expect(await ok('contact', 'show', 'mona@example.com')).toMatchObject([{ num_appeals: 1 }]);
  expect(await ok('contact', 'access-log', 'mona@example.com')).toEqual([]);
  const log = await command(['contact', 'access-log', 'mona@example.com', '--config', config]);
  expect([log.code, log.out, log.err]).toEqual([0, '', expect.stringContaining('knows of nobody who looked')]);
  const refused = await command(['contact', 'mask', 'mona@example.com', '--config', config]);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--yes')]);
  expect(await ok('contact', 'mask', 'mona@example.com', '--yes')).toMatchObject([{ contacts: 1, requestsMasked: 1 }]);
  const gone = await command(['contact', 'show', 'mona@example.com', '--config', config]);
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('masked')]);
});

test.each(['campaigns', 'requests', 'custom-fields', 'surveys'])(
  '%s are exported as one JSON object a line',
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
  [['requests', 'grade', '1', 'good'], /whole number/],
  [
    ['requests', 'create', '--campaign', '12', '--contact', 'a@example.com', '--fields', '{Store'],
    /--fields must be JSON/,
  ],
  [
    ['requests', 'create', '--campaign', '12', '--contact', 'a@example.com', '--scheduled', 'soon'],
    /--scheduled must be/,
  ],
  [['export', 'everything'], /campaigns, requests/],
  [['requests', 'list', '--limit', '0'], /more than 0/],
  [['journeys', 'list', '--limit', '0'], /more than 0/],
  [['export', 'surveys', '--campaign', '12'], /--campaign is for requests and custom-fields/],
];
test.each(mistakes)('%j is a mistake that is told, with exit code 2', async (args, says) => {
  const { code, err } = await command([...args, '--config', config]);
  expect([code, err]).toEqual([2, expect.stringMatching(says)]);
});
