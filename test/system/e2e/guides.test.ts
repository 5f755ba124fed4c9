import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { standins } from '../../../standins/index.ts';
import type { Guide, Step } from '../../../standins/kit/guide.ts';
import type { StandinServer } from '../../../standins/kit/server.ts';
import type { App } from '../../../worker/cli/app.ts';
import { commandHere } from '../../support/command-here.ts';
import { useFolder } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { runHere } from '../../support/run-here.ts';

// What `closeloop standin` prints is typed by people as it stands. So it is here: into one file, call after call.

const redis = useRedis();
const opened = new Map<string, { server: StandinServer; guide: Guide }>();
const dir = useFolder();
let port: number;
let app: App;

/** What the answer leads to, by connector. */
const actions: Readonly<Record<string, string>> = {
  zendesk: 'reopen: {}, tag: [told], note',
  hubspot: 'reopen: { stage: New }, task: {}, note',
  shopify: 'tag: [told], note',
  woocommerce: 'set: { told: "yes" }, note',
  intercom: 'tag: [told], note, reopen: {}',
  freshdesk: 'tag: [told], note, reopen: {}',
};
const doing = Object.fromEntries(
  Object.entries(actions).map(([name, list]) => [
    name,
    list.split(', ').map((one) => `{ ${one === 'note' ? `note: '"Graded " & answer.grade'` : one} }`),
  ]),
);

const serverOf = (name: string) => opened.get(name)?.server ?? expect.fail(`no ${name}`);
const guideOf = (name: string) => opened.get(name)?.guide ?? expect.fail(`no ${name}`);

beforeAll(async () => {
  for (const [name, load] of Object.entries(standins)) {
    const { start, guide } = await load();
    opened.set(name, { server: await start({ port: 0 }), guide });
  }
  port = await freePort();
  const sections = [...opened.values()].map(({ server, guide }) => guide.configuration(server.url));
  const [general, sources] = [0, 1].map((part) =>
    sections.map((text) => text.split('sources:\n')[part] ?? '').join('\n'),
  );
  const config = `${general}\nredis: { path: ${redis.socket} }\nsources:\n${sources}`
    .replace('publicUrl:', `port: ${port}, publicUrl:`)
    .replace(':8080', `:${port}`)
    .replace('every: 5s', 'every: 300ms')
    .replace(/^ {4}connector: (\w+)$/gm, (line, name) =>
      name in doing ? `${line}\n    answers: [{ name: told, settle: 0, do: [${doing[name]}] }]` : line,
    );
  const file = join(dir, 'closeloop.yaml');
  writeFileSync(file, config);
  const { code, err } = await commandHere(['setup', '--yes', '--config', file]);
  expect([code, err]).toEqual([0, expect.any(String)]);
  ({ app } = await runHere(redis, config, { sweepEveryMs: 200 }));
});

afterAll(async () => {
  await app?.close();
  for (const { server } of opened.values()) await server.close();
});

async function take(name: string, { method, path, body }: Step): Promise<string> {
  const answer = await fetch(`${serverOf(name).url}/_control/${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body).replace(':8080/', `:${port}/`) }),
  });
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, expect.any(String)]);
  return text;
}

test.each([
  ['zendesk', 'support', '41960.1'],
  ['hubspot', 'crm', 'ticket-41960.1'],
  ['shopify', 'shop', '41960.1'],
  ['woocommerce', 'store', '41960.1'],
  ['intercom', 'inbox', '41960.1'],
  ['freshdesk', 'helpdesk', '41960.1'],
  ['webhook', 'jobs', '41960.1'],
])('the guide to %s leads to a grade on the record, and to what an answer rule says', async (name, source, id) => {
  const store = app.engine.pipelines.get(source)?.context.store ?? expect.fail(`no ${source}`);
  const journey = (state: string) => until(async () => (await store.get(id))?.state === state);
  const { steps } = guideOf(name);
  for (const step of steps) await take(name, step);
  await journey('asked');
  const all = { method: 'GET', path: 'requests', what: 'all requests' };
  await until(
    async () =>
      z
        .array(z.object({ sentAt: z.unknown() }))
        .parse(JSON.parse(await take('feedback', all)))
        .at(-1)?.sentAt,
  );
  for (const step of guideOf('feedback').steps) await take('feedback', step);
  await journey('written');
  const look = steps.at(-1) ?? expect.fail('no last step');
  expect(await take(name, look)).toContain('Quick, thanks');
  const acts = async () => (await store.get(id))?.acting?.acts.map((act) => `${act.name} ${act.state}`);
  const wanted = (doing[name] ?? []).map((one) => `${/\w+/.exec(one)} done`);
  await until(async () => (await acts())?.every((one) => !/ (wanted|begun)$/.test(one)) ?? wanted.length === 0);
  expect((await acts()) ?? []).toEqual(wanted);
});
