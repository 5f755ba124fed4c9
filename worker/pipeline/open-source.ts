import type { Source } from '../../core/connector/contract.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import { unobserved } from '../operations/observer.ts';
import { Outage, vendorEndpoint } from '../operations/outage.ts';
import { watchCalls } from '../operations/watched-calls.ts';
import { budgetAccount, createBudget } from '../redis/budget.ts';
import { isDryRun, nameInEarnest, tagOf } from '../redis/keys.ts';
import { createVault } from '../redis/vault.ts';
import type { EngineOptions } from './engine-options.ts';
import type { StoredSource } from './policy/known-as.ts';
import { readingVendor } from './reading-only.ts';

export type SourceOptions = Pick<
  EngineOptions,
  'config' | 'redis' | 'seal' | 'ports' | 'log' | 'vendorTime' | 'observer'
>;

/** The source's names and account. */
export interface Named extends StoredSource {
  /** The source's name in the configuration, for people. */
  name: string;
}

export function namedOf({ name, storedAs, connector, account }: ConfiguredSource): Named {
  return { name, storedAs, account: account === undefined ? undefined : budgetAccount(connector.name, account) };
}

/**
 * Opens a configured source with the quota of its vendor's account, and its stored secrets. `outage`: whether the vendor is down. A dry run
 * writes nothing at the vendor.
 */
export function openSource(
  configured: ConfiguredSource,
  { snapshots }: { snapshots: SnapshotStore },
  options: SourceOptions,
): { source: Source; outage: Outage } {
  const { config, redis, seal, ports, log, observer = unobserved } = options;
  const { vendorTime = { now: () => new Date(), sleep: ports.sleep } } = options;
  const { name } = configured;
  // The vendor's account has one quota and one set of secrets for all callers, and knows a single address of closeloop.
  const storedAs = nameInEarnest(configured.storedAs);
  const { account = storedAs } = namedOf(configured);
  const { publicUrl } = config.http;
  const source = configured.open({
    ...ports,
    ...(publicUrl === undefined ? {} : { hookUrl: `${publicUrl}/hooks/${nameInEarnest(name)}` }),
    now: vendorTime.now,
    log,
    budget: createBudget(redis, { account }, vendorTime),
    vault: createVault(redis, { tag: tagOf(storedAs), seal }, ports),
    snapshots,
    digest: (text) => seal.digest(`id ${text}`),
  });
  const outage = new Outage(redis, { ...vendorEndpoint(configured), log });
  const watched = watchCalls(source, outage, {
    isShared: false,
    // These operations read a delivery or stored data: they show nothing about the state of the vendor's API.
    local: ['handshake', 'verify', 'events', 'vendorIds'],
    onCall: (operation, end) => observer.vendorCall(name, operation, end),
  });
  return { source: isDryRun(name) ? readingVendor(watched) : watched, outage };
}
