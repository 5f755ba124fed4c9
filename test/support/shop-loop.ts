import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startFeedbackStandin } from '../../standins/feedback/standin.ts';
import type { Journey, JourneyState } from '../../worker/journey/journey.ts';
import { tagOf } from '../../worker/redis/keys.ts';
import { commandHere } from './command-here.ts';
import { freePort } from './free-port.ts';
import { until } from './loop.ts';
import type { TestRedis } from './redis.ts';
import { runHere } from './run-here.ts';

interface Shop {
  /** The address of its stand-in, which `close` ends. */
  url: string;
  close(): Promise<unknown>;
}

/**
 * closeloop in this process with one source `shop` at a stand-in, campaign 40 of the service, and a configuration that commands take.
 * @param source its section of the configuration, from `connector:` on
 * @param knownMs how long closeloop has polled this shop
 */
export async function startShopLoop(redis: TestRedis, shop: Shop, source: string, knownMs: number) {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-shop-'));
  const config = join(dir, 'closeloop.yaml');
  const feedback = await startFeedbackStandin({ seed: true });
  const customFields = [{ name: 'Store' }, { name: 'Agent' }, { name: 'closeloop' }];
  feedback.standin.addCampaign({ account: 'acme', id: 40, name: 'After delivery', type: 'mixed', customFields });
  const port = await freePort();
  const text = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
redis: { path: ${redis.socket} }
secretsKey: ${Buffer.alloc(32, 1).toString('base64')}
http: { port: ${port}, publicUrl: "http://127.0.0.1:${port}" }
poll: { every: 300ms }
collect: { every: 300ms }
sources:
  shop:
${source.trim().replace(/^/gm, '    ')}
`;
  writeFileSync(config, text);
  // As `check` wants it.
  await redis.handle.client.config('SET', 'appendfsync', 'always');
  await redis.handle.client.hset(`${tagOf('shop')}:poll`, 'since', Date.now() - knownMs);
  const { app, told, contextOf } = await runHere(redis, text, { sweepEveryMs: 200 });
  const context = () => contextOf('shop');
  const journey = (id: string | number, closing = 1) => context().store.get(`${id}.${closing}`);
  const journeyIn = (id: string | number, ...states: JourneyState[]): Promise<Journey> =>
    until(async () => {
      const found = await journey(id);
      return found !== undefined && states.includes(found.state) ? found : undefined;
    });
  return {
    feedback: feedback.standin,
    told,
    context,
    journey,
    journeyIn,
    hookUrl: `${app.url}/hooks/shop`,
    command: (...words: string[]) => commandHere([...words, '--config', config]),
    /** The customer answers the request of this record, or answers it again. */
    async answerTo(id: string | number, grade: number, comment: string): Promise<void> {
      const { requestId } = await journeyIn(id, 'asked', 'written');
      const request = Number(requestId);
      await until(() => feedback.standin.requests().some((one) => one.id === request && one.sentAt));
      feedback.standin.answer({ request, grade, comment });
    },
    /** `setup` makes what `check` missed, after which neither has anything to say. */
    async setUp(missing: string, made: string): Promise<void> {
      const before = await this.command('check', '--json');
      expect([before.code, before.out]).toEqual([1, expect.stringContaining(missing)]);
      const setup = await this.command('setup', '--yes');
      expect([setup.code, setup.err]).toEqual([0, expect.stringContaining(made)]);
      const after = await this.command('check', '--json');
      expect([after.code, after.out]).toEqual([0, expect.stringMatching(/"findings":\[\]/)]);
      expect((await this.command('setup', '--yes')).err).toContain('Nothing to do');
    },
    /** Of this customer nothing is left: neither at the service, nor in the journey, the proof or the log. */
    async expectForgotten(id: string | number, requestId: string | undefined, proof: object, words: RegExp) {
      const request = feedback.standin.requests().find((one) => one.id === Number(requestId));
      expect(request).toMatchObject({ masked: true });
      const gone = await journey(id);
      expect(gone?.erasedAt).toBeInstanceOf(Date);
      expect(JSON.stringify([gone, proof, told])).not.toMatch(words);
    },
    async close(): Promise<void> {
      await app.close();
      await shop.close();
      await feedback.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
