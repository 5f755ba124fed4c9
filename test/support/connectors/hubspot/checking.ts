import { expect, test } from 'vitest';
import type { Finding, PreflightContext } from '../../../../core/connector/contract.ts';
import type { HubspotStandin, HubspotStandinOptions } from '../../../../standins/hubspot/standin.ts';
import { about, addAnswerProperties, atAccount, furnish, hookUrl, rightSettings, subscriptions } from './planted.ts';

/** How an account, settings or rules differ from those where `check` finds nothing. */
export interface Difference {
  /** In the account. */
  account?: (standin: HubspotStandin) => void;
  options?: HubspotStandinOptions;
  settings?: object;
  about?: Partial<PreflightContext>;
  /** Where closeloop listens; null: nobody said. */
  hookUrl?: string | null;
  clock?: () => Date;
}

export interface Plant extends Difference {
  name: string;
  finds: [level: Finding['level'], at: string, words: RegExp][];
}

export function rightAccount(standin: HubspotStandin): void {
  furnish(standin);
  addAnswerProperties(standin);
  standin.setWebhook({ url: hookUrl, subscriptions });
}

/** What `check` finds, and the calls that it took. */
export function checking({ account, options, settings, about: more, clock, hookUrl: here = hookUrl }: Difference) {
  return atAccount(async ({ standin, source }) => {
    rightAccount(standin);
    account?.(standin);
    const { hookUrl: _, ...rest } = { ...about, ...more };
    const live = { ...rest, ...(here === null ? {} : { hookUrl: here }) };
    const findings = await source({ ...rightSettings, ...settings }, clock).check(live);
    return { findings, calls: standin.callCounts() };
  }, options);
}

const secrets = /hubspot-token|hubspot-client-secret|hubspot-developer-key|another-key|revoked-token|hubspot-refresh/;

/** Each plant is found, nothing else is, and no finding tells a secret. */
export function findsEach(plants: readonly Plant[]): void {
  test.each(plants)('finds $name', async ({ finds, ...plant }) => {
    const { findings } = await checking(plant);
    expect(findings.map(({ level, at, problem }) => [level, at, problem])).toEqual(
      finds.map(([level, at, words]) => [level, at, expect.stringMatching(words)]),
    );
    for (const { remedy } of findings) expect(remedy).toMatch(/\w/);
    expect(JSON.stringify(findings)).not.toMatch(secrets);
  });
}
