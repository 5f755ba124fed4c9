import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { DataKey, operatorKeys } from '../../../../worker/redis/data-key.ts';
import { deskConfiguration } from '../../../support/configurations.ts';
import { useFolder } from '../../../support/folder.ts';
import { closeloop } from '../../../support/processes.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const dir = useFolder();
const config = join(dir, 'c.yaml');
const secretsKey = Buffer.alloc(32, 7);

beforeAll(async () => {
  const general = `secretsKey: ${secretsKey.toString('base64')}`;
  const rule = `name: all, when: 'ticket.group.name = "Phone"', campaign: 12, contact: requester.email, delay: 2h`;
  writeFileSync(config, deskConfiguration(redis, { general, rule }));
  const { client } = redis.handle;
  const keys = operatorKeys({ secretsKey: [new Uint8Array(secretsKey)], feedback: { apiKey: 'demo-key' } });
  const { seal } = await DataKey.open(client, keys, async () => undefined);
  const store = new JourneyStore(client, 'support', { now: () => new Date(), seal });
  const at = new Date();
  await store.getOrCreate({ recordId: '7', closing: 'one', closedAt: at, eventKey: 'e', receivedAt: at }, []);
});

/** Notes every module, CommonJS too, that a process loads. */
const notes = `
import { registerHooks } from 'node:module';
import { writeFileSync } from 'node:fs';
const urls = [];
registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
process.on('exit', () => writeFileSync(process.env.NOTES, urls.join('\\n')));
`;

/** The packages and folders of ours that a command loads. */
async function loadedBy(args: readonly string[]): Promise<Set<string>> {
  const file = join(dir, 'notes');
  const hook = `data:text/javascript,${encodeURIComponent(notes)}`;
  const env = { ...process.env, NOTES: file };
  await promisify(execFile)(process.execPath, ['--import', hook, closeloop, ...args], { env }).catch((error) => {
    // What `status` ends with where nothing runs.
    if (error.code !== 1) throw error;
  });
  const names = readFileSync(file, 'utf8')
    .split('\n')
    .map((url) => {
      const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
      return name ?? /\/(connectors\/[a-z-]+|standins\/[a-z]+|worker\/[a-z]+)\//.exec(url)?.[1] ?? '';
    });
  return new Set(names);
}

/** What takes long to load, and no command needs that only looks at what Redis keeps. */
const heavy = [
  ...'@hubspot/api-client bullmq dataloader fastify graphql jsonata libphonenumber-js'.split(' '),
  ...'pino pino-pretty temporal-polyfill undici zendesk-node-api'.split(' '),
  ...['freshdesk', 'hubspot', 'request-tracker', 'shopify', 'vendure', 'webhook', 'woocommerce', 'zendesk'].map(
    (name) => `connectors/${name}`,
  ),
  ...['standins/feedback', 'worker/intake'],
];
const needsRedis = ['ioredis', 'yaml', 'zod'];
/** What only the loop and its servers need, and no command that decides about a record beside it. `dataloader`, a single file, comes with the vendor. */
const loops = ['bullmq', 'fastify', 'pino', 'prom-client', 'worker/intake', 'worker/dashboard'];
/** With a connector, which knows how people call its records, comes what rules and times are read with. */
const recordNames = ['jsonata', 'temporal-polyfill', 'connectors/zendesk', 'zendesk-node-api'];
const ofOthers = heavy.filter((name) => !recordNames.includes(name));

const rows: [command: string[], absent: string[], present: string[]][] = [
  [['--help'], [...heavy, ...needsRedis], ['commander']],
  [['--version'], [...heavy, ...needsRedis], ['commander']],
  [['status', '--help'], [...heavy, ...needsRedis], ['commander']],
  [['status', '--config', config], heavy, needsRedis],
  [['journeys', 'list', '--config', config], heavy, needsRedis],
  [['journeys', 'show', 'support/7.1', '--config', config], heavy, needsRedis],
  [['follow-ups', 'list', '--config', config], heavy, needsRedis],
  [['follow-ups', 'take', 'support/7.1', '--config', config], heavy, needsRedis],
  [['journeys', 'list', '--record', '7', '--config', config], ofOthers, ['connectors/zendesk']],
  [['why', 'support/7', '--stored', '--config', config], ofOthers, ['connectors/zendesk']],
  [['why', '7', '--config', config], loops, ['connectors/zendesk', 'temporal-polyfill']],
];
test.each(rows)('%j loads only what it needs', async (command, absent, present) => {
  const loaded = await loadedBy(command);
  expect(present.filter((name) => !loaded.has(name))).toEqual([]);
  expect(absent.filter((name) => loaded.has(name))).toEqual([]);
});

test('a start loads the connectors that its sources name, and no others', async () => {
  const loaded = await loadedBy(['journeys', 'list', '--record', '7', '--config', config]);
  expect([...loaded].filter((name) => name.startsWith('connectors/'))).toEqual(['connectors/zendesk']);
});
