import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../../worker/config/config.ts';
import { sharedAccounts } from '../../../../worker/preflight/shared-accounts.ts';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const redis = useRedis();

describe('two sources of one account', () => {
  const found = (
    one: string,
    other: string,
    vendor: ToyVendor = Object.assign(new ToyVendor(), { account: 'acme' }),
  ) => {
    const rule = (when: string) =>
      `{ name: r, campaign: 12, contact: customer.email${when === '' ? '' : `, when: ${when}`} }`;
    const text = `
feedback: { baseUrl: "http://127.0.0.1:9/api", apiKey: demo-key, timeZone: Europe/Tallinn }
sources:
  support: { connector: toy, secret: good, rules: [${rule(one)}] }
  helpdesk: { connector: toy, secret: good, rules: [${rule(other)}] }
`;
    return sharedAccounts(loadConfig(text, { env: {}, connectors: [vendor.connector] }).sources);
  };
  const certain = /"support" and "helpdesk" are of the same toy account.*rule "(?:r|all)".*asked twice/;
  const rows: [what: string, one: string, other: string, problem: RegExp][] = [
    ['the rules of both take everything', '', '', certain],
    ['one takes everything', '', 'ticket.store = "North"', certain],
    ['their conditions are the same', 'ticket.store = "North"', 'ticket.store = "North"', certain],
    ['their conditions differ', 'ticket.store = "North"', 'ticket.store = "South"', /can not be told.*asked twice/],
  ];
  test.each(rows)('are told of: %s (audit twice)', (_, one, other, problem) => {
    expect(found(one, other)).toEqual([
      {
        sources: ['support', 'helpdesk'],
        problem: expect.stringMatching(problem),
        remedy: expect.stringMatching(/when/),
      },
    ]);
  });

  test('are not told of where the connector can not tell its account (audit twice)', () => {
    expect(found('', '', new ToyVendor())).toEqual([]);
  });

  test('are told of at the start, with the remedy (audit twice)', async () => {
    const loop = await startLoop(redis, { source: 'support', others: ['helpdesk'] });
    expect(loop.told.filter(({ message }) => message === 'sources')).toMatchObject([
      { level: 'warn', fields: { why: expect.stringMatching(certain), remedy: expect.stringMatching(/when/) } },
    ]);
    await loop.close();
    const alone = await startLoop(redis, { source: 'alone' });
    expect(alone.told.filter(({ message }) => message === 'sources')).toEqual([]);
    await alone.close();
  });
});
