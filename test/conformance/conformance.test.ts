import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Recorded, readRecorded } from './recorded.ts';

/** The little of Zendesk's description that these tests need, in our own words. */
const support = `
openapi: 3.0.3
servers: [{ url: "https://{subdomain}.{domain}.com" }]
paths:
  /api/v2/tickets/show_many:
    get:
      parameters: [{ name: ids, in: query, schema: { type: string } }]
  /api/v2/tickets/update_many:
    put: {}
components:
  schemas:
    TicketUpdateInput: { type: object, properties: { subject: { type: string } } }
`;
const webhooks = 'openapi: 3.0.3\nservers: [{ url: "https://{subdomain}.zendesk.com/api/v2" }]\npaths: {}\n';

const root = resolve(import.meta.dirname, '../..');
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'closeloop-conformance-test-'));
  mkdirSync(join(dir, 'specs/zendesk'), { recursive: true });
  mkdirSync(join(dir, 'recorded'));
  writeFileSync(join(dir, 'specs/zendesk/support-oas-2025-06.yaml'), support);
  writeFileSync(join(dir, 'specs/zendesk/webhooks-oas-unofficial.yaml'), webhooks);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const Ended = z.object({ code: z.number().default(0), stdout: z.string() });

async function conformance(...args: string[]): Promise<z.output<typeof Ended>> {
  const program = join(root, 'test/conformance/conformance.ts');
  return Ended.parse(await promisify(execFile)(process.execPath, [program, ...args]).catch((error: unknown) => error));
}

function recorded(...requests: Recorded[]): void {
  writeFileSync(join(dir, 'recorded/1.jsonl'), requests.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

const judged = () => conformance('--specs', join(dir, 'specs'), '--recorded', join(dir, 'recorded'));
const read: Recorded = { method: 'GET', path: '/api/v2/tickets/show_many.json', query: 'ids=1' };
const write = (ticket: object): Recorded => {
  const body = JSON.stringify({ tickets: [{ id: 1, ...ticket }] });
  return { method: 'PUT', path: '/api/v2/tickets/update_many.json', query: '', type: 'application/json', body };
};

describe('npm run conformance', () => {
  test('it passes what is described, and prints what the facts explain with the fact', async () => {
    recorded(read, write({ subject: 'a', additional_tags: ['b'] }));
    const { code, stdout } = await judged();
    expect(stdout).toContain('Zendesk: 2 different requests');
    expect(stdout).toMatch(/facts explain:\n {2}PUT \/api\/v2\/tickets\/update_many: body: the operation is described/);
    expect(stdout).toContain('No mismatch.');
    expect(code).toBe(0);
  });

  test('it shows every other mismatch once, with a request, and fails', async () => {
    recorded(read, write({ subjekt: 'a' }), write({ subjekt: 'b' }), { ...read, path: '/api/v2/tickets/9/nonsense' });
    const { code, stdout } = await judged();
    expect(stdout).toMatch(
      /update_many: body\.tickets\[\]: "subjekt" is not described \(2×\)\n {4}PUT .*update_many\.json\n.*"subjekt":"a"/,
    );
    expect(stdout).toContain('GET /api/v2/tickets/{id}/nonsense: is not described (1×)');
    expect(stdout).toContain('2 kinds of mismatch.');
    expect(code).toBe(1);
  });

  test('it fails when nothing was sent', async () => {
    recorded({ ...read, path: '/other/vendor' });
    expect(await judged()).toMatchObject({ code: 1, stdout: expect.stringContaining('no request was recorded') });
  });

  test.each([
    ['without --specs', [], '--specs is missing'],
    ['without the folder', ['--specs', '/no/such/folder'], 'There is no folder /no/such/folder'],
    ['without a file', ['--specs', import.meta.dirname], 'lacks zendesk/support-oas-2025-06.yaml'],
  ])('it says what is missing %s, and exits with 2', async (_what, args, told) => {
    expect(await conformance(...args)).toMatchObject({ code: 2, stdout: expect.stringContaining(told) });
  });
});

test('it records every request of a stand-in, but no order to the stand-in itself', async () => {
  const recorder = pathToFileURL(join(root, 'test/conformance/record.ts'));
  recorder.search = encodeURIComponent(pathToFileURL(join(dir, 'recorded')).href);
  const program = `
    import { serve } from '${root}/standins/server.ts';
    const { url, close } = await serve(() => ({ status: 200 }));
    await fetch(url + '/api/a.json?x=1%2C2');
    await fetch(url + '/_control/tickets', { method: 'POST', body: '{}' });
    await fetch(url + '/api/b', { method: 'PUT', body: '{"õ":1}', headers: { 'content-type': 'application/json' } });
    await close();`;
  await promisify(execFile)(process.execPath, ['--import', recorder.href, '--input-type=module', '-e', program]);
  expect(readdirSync(join(dir, 'recorded'))).toHaveLength(1);
  expect(readRecorded(join(dir, 'recorded'))).toEqual([
    { method: 'GET', path: '/api/a.json', query: 'x=1%2C2' },
    { method: 'PUT', path: '/api/b', query: '', type: 'application/json', body: '{"õ":1}' },
  ]);
});
