import { describe, expect, test } from 'vitest';
import { hubspot } from '../../../../connectors/hubspot/hubspot.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { checking, rightAccount } from '../../../support/connectors/hubspot/checking.ts';
import { testPorts } from '../../../support/connectors/hubspot/fake-hubspot.ts';
import { about, atAccount, given, hookUrl, rightSettings } from '../../../support/connectors/hubspot/planted.ts';

const oauth = {
  ...rightSettings,
  accessToken: undefined,
  clientId: 'hubspot-client-id',
  clientSecret: 'hubspot-client-secret',
  refreshToken: 'hubspot-refresh-token',
};

describe('check', () => {
  test('finds nothing in an account where everything is right, and changes nothing in it', async () => {
    const { findings, calls } = await checking({});
    expect(findings).toEqual([]);
    expect(Object.keys(calls).filter((call) => !call.startsWith('GET '))).toEqual([
      'POST /oauth/v2/private-apps/get/access-token-info',
      'POST /crm/objects/{version}/feedback_submissions/search',
      'POST /crm/objects/{version}/deals/batch/update',
      'POST /crm/objects/{version}/contacts/batch/update',
    ]);
  });

  test('goes on where a look fails, and tells of it among the rest', async () => {
    const { findings } = await checking({
      account: (standin) => {
        standin.faults.add({ method: 'GET', path: '/crm/pipelines/.*/tickets', status: 502 });
        standin.faults.add({ method: 'GET', path: '/crm/owners/', then: 'cut' });
        standin.archiveProperty({ type: 'deals', name: 'fb_at' });
      },
    });
    expect(findings.map(({ at }) => at)).toEqual(['writeBack.answeredAt', 'pipelines', 'owners']);
  });

  test('finds nothing with OAuth either, and a wrong app id by introspection', async () => {
    expect((await checking({ settings: oauth })).findings).toEqual([]);
    const wrong = { ...oauth, appId: 7, developerApiKey: undefined, publicUrl: hookUrl };
    expect((await checking({ settings: wrong })).findings).toMatchObject([{ level: 'error', at: 'appId' }]);
  });

  test('finds access that the account took away, and a wrong client secret', async () => {
    const revoked = await checking({ settings: oauth, account: (standin) => standin.oauth.revoke() });
    expect(revoked.findings).toMatchObject([
      {
        level: 'error',
        at: 'refreshToken',
        remedy: expect.stringContaining('reconnect the app'),
      },
    ]);
    const wrong = await checking({ settings: { ...oauth, clientSecret: 'another' } });
    expect(wrong.findings).toMatchObject([
      { at: 'refreshToken', remedy: expect.stringContaining('check clientId and clientSecret') },
    ]);
  });

  test('finds that there is no key to keep a refresh token with', () =>
    atAccount(async ({ standin, url }) => {
      rightAccount(standin);
      const { ports } = testPorts();
      const set = () => Promise.reject(new CloseloopError('set secretsKey in the configuration', { kind: 'config' }));
      const source = hubspot.open(given({ baseUrl: url, ...oauth }), { ...ports, vault: { ...ports.vault, set } });
      expect(await source.check?.(about)).toMatchObject([
        { level: 'error', at: 'refreshToken', problem: 'set secretsKey in the configuration' },
      ]);
    }));
});
