import type { Source } from '../../core/connector/contract.ts';
import type { Log, Ports } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { RecordAliases } from '../journey/aliases.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import { createBudget } from '../redis/budget.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import { createVault } from '../redis/vault.ts';
import { aliasedSource, snapshotsByIds } from '../sources/aliased-source.ts';

/** Vendors' clocks run at the speed of ours, also where the loop's own runs faster. */
export type VendorTime = Pick<Ports, 'now' | 'sleep'>;

/** A configured source, open for work by its records' aliases: with the budget of its vendor's account and its stored secrets. */
export function openSource(
  { name, connector, account, open }: Config['sources'][number],
  {
    config,
    redis,
    ports,
    log,
    snapshots,
    aliases,
    seal,
    vendorTime = { now: () => new Date(), sleep: ports.sleep },
  }: {
    config: Config;
    redis: RedisClient;
    ports: Ports;
    log: Log;
    snapshots: SnapshotStore;
    aliases: RecordAliases;
    seal: Seal;
    vendorTime?: VendorTime;
  },
): Source {
  const budget = createBudget(
    redis,
    { account: account === undefined ? name : `${connector.name}:${account}` },
    vendorTime,
  );
  const vault = createVault(redis, { tag: tagOf(name), seal }, ports);
  const { publicUrl } = config.http;
  const hookUrl = publicUrl === undefined ? {} : { hookUrl: `${publicUrl}/hooks/${name}` };
  const own = {
    ...ports,
    ...hookUrl,
    now: vendorTime.now,
    log,
    budget,
    vault,
    snapshots: snapshotsByIds(snapshots, aliases),
  };
  return aliasedSource(open(own), aliases, { now: () => new Date() });
}
