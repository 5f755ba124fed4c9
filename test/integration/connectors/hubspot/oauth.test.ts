import { describe, expect, test } from 'vitest';
import type { Vault } from '../../../../core/connector/contract.ts';
import { atDesk, type Desk } from '../../../support/connectors/hubspot/desk.ts';
import { memoryVault } from '../../../support/contract/memory-vault.ts';

const oauth = (desk: Desk, more: object = {}) => ({
  accessToken: undefined,
  clientId: 'hubspot-client-id',
  clientSecret: 'hubspot-client-secret',
  refreshToken: 'hubspot-refresh-token',
  baseUrl: desk.url,
  ...more,
});
const tokens = (desk: Desk) => desk.calls().filter((path) => path.includes('/oauth/')).length;

describe('a token', () => {
  test('is fetched once for all calls and all processes', () =>
    atDesk(async (desk) => {
      const vault = memoryVault();
      const [one, two] = [desk.source(oauth(desk), { vault }), desk.source(oauth(desk), { vault })];
      await Promise.all([one, two, one, two].map((source) => source.read(['ticket-1'])));
      expect(tokens(desk)).toBe(1);
      expect(desk.used.takes).toBeGreaterThan(4);
    }));

  test('is in the vault, with its successor, before it is used', () =>
    atDesk(async (desk) => {
      const held = new Map<string, string>();
      const shared = memoryVault(held);
      let stored = 0;
      const vault: Vault = {
        ...shared,
        set: async (name, value) => {
          const before = stored++ === 0 ? [] : [expect.stringContaining('/oauth/')];
          expect(desk.calls()).toEqual(before);
          await shared.set(name, value);
        },
      };
      await desk.source(oauth(desk), { vault }).read(['ticket-1']);
      expect([...held.values()].join()).toContain(desk.standin.oauth.refreshToken);
      // a process started later goes on with it, long after the first one's has ended
      desk.clock.ms += 3_600_000;
      desk.calls();
      await desk.source(oauth(desk), { vault }).read(['ticket-1']);
      expect(stored).toBe(3);
    }));

  test('that is refused although it is new stops the source', () =>
    atDesk(async (desk) => {
      desk.standin.faults.add({ path: '/crm/', times: 2, status: 401, body: {} });
      await expect(desk.source(oauth(desk)).read(['ticket-1'])).rejects.toMatchObject({
        advice: { kind: 'config' },
        message: expect.stringMatching(/a new access token was refused \(401\).*must reconnect the app/),
      });
      expect(tokens(desk)).toBe(2);
    }));
});

const failure = { path: '/oauth/', times: 1 };

describe('a refusal', () => {
  const reconnect = /an admin of the HubSpot account must reconnect the app/;
  const ours = /check clientId and clientSecret/;
  const transient = { kind: 'transient' };
  const config = { kind: 'config' };
  const rows: [it: string, status: number, body: object, advice: object, says: RegExp][] = [
    ['is the account’s: invalid_grant', 400, { error: 'invalid_grant' }, config, reconnect],
    ['is the account’s: BAD_REFRESH_TOKEN', 400, { status: 'BAD_REFRESH_TOKEN' }, config, reconnect],
    ['is the account’s: BAD_HUB', 400, { status: 'BAD_HUB', error: 'access_denied' }, config, reconnect],
    ['is our mistake: invalid_client', 400, { error: 'invalid_client' }, config, ours],
    ['is our mistake: BAD_CLIENT_SECRET', 401, { status: 'BAD_CLIENT_SECRET' }, config, ours],
    ['is our mistake: anything unknown', 404, { message: 'jane@example.com' }, config, ours],
    ['passes: 423', 423, {}, transient, /locked/],
    ['passes: 429', 429, {}, { ...transient, throttled: true }, /rate limit/],
    ['passes: 477', 477, {}, { ...transient, throttled: true }, /moved/],
    ['passes: 503', 503, {}, transient, /fails \(503\)/],
  ];
  test.each(rows)('%s', (_, status, body, advice, says) =>
    atDesk(async (desk) => {
      desk.standin.faults.add({ ...failure, status, body: { ...body } });
      const error: unknown = await desk
        .source(oauth(desk))
        .read(['ticket-1'])
        .catch((error: unknown) => error);
      expect(error).toMatchObject({ advice, message: expect.stringMatching(says) });
      expect(String(error)).not.toMatch(/jane|hubspot-(client-secret|refresh-token)/);
      expect(desk.calls().length).toBe(0);
    }),
  );

  test('passes: no connection; and the next attempt may use the same refresh token', () =>
    atDesk(async (desk) => {
      desk.standin.faults.add({ ...failure, then: 'cut' });
      const source = desk.source(oauth(desk));
      await expect(source.read(['ticket-1'])).rejects.toMatchObject({ advice: transient });
      expect(await source.read(['ticket-1'])).toEqual([{ ok: false, why: 'not-found' }]);
    }));

  test('of a revoked connection says who must do what, at every call', () =>
    atDesk(async (desk) => {
      const source = desk.source(oauth(desk));
      await source.read(['ticket-1']);
      desk.standin.oauth.revoke();
      for (let n = 0; n < 2; n++) {
        await expect(source.read(['ticket-1'])).rejects.toMatchObject({
          advice: config,
          message: expect.stringMatching(reconnect),
        });
      }
    }));
});
