import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { signStandardWebhook } from '../../../core/connector/standard-webhook.ts';
import { eventTypes } from '../../../worker/journey/outgoing.ts';
import { Payload } from '../../../worker/pipeline/send/payload.ts';
import { useFolder } from '../../support/folder.ts';

const docs = resolve(import.meta.dirname, '../../../docs');
const page = readFileSync(join(docs, 'webhooks-out.md'), 'utf8');
const block = (language: string) =>
  new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? expect.fail();
const dir = useFolder();

type IsGenuine = (headers: Record<string, string>, body: Buffer, secret: string) => boolean;

describe('the code that verifies a delivery', async () => {
  const file = join(dir, 'verify.mjs');
  writeFileSync(file, block('js'));
  const { isGenuine }: { isGenuine: IsGenuine } = await import(pathToFileURL(file).href);
  const [secret, other] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [
    string,
    string,
  ];
  const body = Buffer.from('{"type":"answer.received"}');
  const sign = (secrets: string[], at = new Date()) => signStandardWebhook({ id: 'evt_1', at, body }, secrets);

  test.each([
    ['signed with its secret', sign([secret]), body, true],
    ['signed with its secret and another', sign([other, secret]), body, true],
    ['signed with another', sign([other]), body, false],
    ['with another body', sign([secret]), Buffer.from('{}'), false],
    ['with another id', { ...sign([secret]), 'webhook-id': 'evt_2' }, body, false],
    ['signed ten minutes ago', sign([secret], new Date(Date.now() - 600_000)), body, false],
    ['signed not at all', {}, body, false],
  ])('says of one %s what it is', (_, headers, given, genuine) => {
    expect(isGenuine(headers, given, secret)).toBe(genuine);
  });
});

describe('the example of an event', () => {
  const example: object = JSON.parse(block('json'));
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const schema = JSON.parse(readFileSync(join(docs, 'reference/webhook-events.schema.json'), 'utf8'));
  const fits = ajv.compile(schema);

  test('is one, also by the published schema, which lets new members pass', () => {
    expect(Payload.parse(example)).toEqual(example);
    expect([fits(example), fits({ ...example, newer: true })]).toEqual([true, true]);
    expect(fits({ ...example, version: 2 })).toBe(false);
  });

  test('and the table name every type', () => {
    const named = [...page.matchAll(/^\| `([a-z-]+\.[a-z]+)` \|/gm)].map(([, type]) => type);
    expect(named.toSorted()).toEqual([...eventTypes, 'answer.matched'].toSorted());
  });
});
