import { randomUUID } from 'node:crypto';
import { styleText } from 'node:util';
import { messageOf, refusal } from '../../core/errors.ts';
import type { Webhook } from '../config/webhooks.ts';
import { forgetGone } from '../operations/gone.ts';
import { instant } from '../support/instant.ts';
import { inZone } from '../support/shown-time.ts';
import { replayWebhook, webhookState } from '../support/webhooks.ts';
import { livePorts } from './live-ports.ts';
import { type RuntimeOptions, readConfig } from './runtime.ts';
import { table } from './table.ts';
import { allSources, withStored } from './with-stored.ts';

type Options = RuntimeOptions & { json: boolean };

/** Each webhook of the configuration, with what it has not taken. */
export async function listWebhooks(options: Options): Promise<number> {
  return await withStored(options, async (stored) => {
    const { config, redis } = stored.runtime;
    const sources = await allSources(stored);
    const all = await Promise.all(
      config.webhooks.map(async (webhook) => {
        const { url, events, include } = webhook;
        // A path may be a secret.
        const to = URL.parse(url)?.origin ?? url;
        return { ...(await webhookState(webhook, sources, redis)), to, events, include };
      }),
    );
    if (options.json) for (const one of all) print(options, one, '');
    else if (all.length === 0) process.stderr.write('No webhooks: "webhooks" in the configuration names none.\n');
    else process.stdout.write(inZone(table(rowsOf(all)), config.feedback.timeZone));
    return 0;
  });
}

type Shown = Awaited<ReturnType<typeof webhookState>> & { to: string; events: readonly string[] };

function rowsOf(all: readonly Shown[]): string[][] {
  const rows = all.map(({ webhook, to, events, waiting, oldestAt, givenUp, gone }) => [
    webhook,
    to,
    events.join(', ') || 'what rules send',
    oldestAt ? `${waiting} since ${oldestAt.toISOString()}` : `${waiting}`,
    `${givenUp}${gone ? ' (410 Gone)' : ''}`,
  ]);
  return [['webhook', 'to', 'events', 'waiting', 'given up'], ...rows];
}

/** Sends a test event to one webhook, or to all. Returns 1 when one does not take it, or there is none. */
export async function testWebhooks(options: Options & { name?: string | undefined }): Promise<number> {
  const { webhooks } = await readConfig(options, { uses: 'alerts', sources: 'named' });
  const tested = options.name === undefined ? webhooks : [named(options.name, webhooks)];
  const ends = await Promise.all(
    tested.map(async (webhook) => {
      const end = await attempt(webhook);
      const mark = end.taken ? styleText('green', '✓') : styleText('red', '✗');
      const remedy = `\n  → check webhooks, ${webhook.name}`;
      print(options, end, `${mark} ${webhook.name}${end.taken ? ' took it' : `: ${end.why}${remedy}`}`);
      return end.taken;
    }),
  );
  if (ends.length === 0) process.stderr.write('No webhooks: "webhooks" in the configuration names none.\n');
  return ends.length > 0 && ends.every((taken) => taken) ? 0 : 1;
}

async function attempt(webhook: Webhook) {
  // Loaded here, as commands that only read Redis do not need it.
  const [{ poster }, { payloadVersion }] = await Promise.all([
    import('../pipeline/send/receivers.ts'),
    import('../pipeline/send/payload.ts'),
  ]);
  const { post, close } = poster(webhook, livePorts);
  const event = { type: 'webhook.test', version: payloadVersion, timestamp: new Date().toISOString(), data: {} };
  try {
    await post(`evt_test_${randomUUID()}`, event);
    return { webhook: webhook.name, taken: true, why: undefined };
  } catch (error) {
    return { webhook: webhook.name, taken: false, why: messageOf(error) };
  } finally {
    await close();
  }
}

/** Has events sent again that a webhook had not taken for three days, or had refused for good. */
export async function replayWebhooks(options: Options & { name: string; since?: string | undefined }): Promise<number> {
  return await withStored(options, async (stored) => {
    const { config, redis } = stored.runtime;
    const webhook = named(options.name, config.webhooks);
    const about = { timeZone: config.feedback.timeZone, now: new Date() };
    const since = options.since === undefined ? new Date(0) : instant(options.since, '--since', about);
    await forgetGone(redis, webhook);
    const events = await replayWebhook(webhook, since, await allSources(stored));
    const what = events === 1 ? '1 event is' : `${events} events are`;
    print(options, { webhook: webhook.name, events }, `${what} sent again to ${webhook.name}, within a minute.`);
    return 0;
  });
}

function named(name: string, webhooks: readonly Webhook[]): Webhook {
  const found = webhooks.find((one) => one.name === name);
  if (found) return found;
  const there = webhooks.map((one) => one.name).join(', ') || 'none';
  throw refusal(`There is no webhook "${name}"; there are: ${there}.`);
}

function print({ json }: { json: boolean }, shown: object, line: string): void {
  process.stdout.write(`${json ? JSON.stringify(shown) : line}\n`);
}
