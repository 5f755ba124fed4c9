import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { Fetch } from '../ports.ts';
import { connections } from './exchange.ts';

/*
 * A configured address must not lead to what only this machine can reach: the machine itself, its network, the metadata service of its
 * cloud.
 * Source of the ranges: IANA's registries of special-purpose addresses for IPv4 and IPv6.
 */

const notPublic = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  notPublic.addSubnet(net, prefix, 'ipv4');
}

/** Only this range is assigned to public hosts; the rest is local, mapped, translated or reserved. */
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');
for (const [net, prefix] of [
  // Tunnels and translations, which hide an IPv4 address; benchmarks, documentation.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic.addSubnet(net, prefix, 'ipv6');
}

/** Whether this IP address is public. Names are not accepted. */
export function isPublicAddress(address: string): boolean {
  const kind = isIP(address);
  if (kind === 4) return !notPublic.check(address, 'ipv4');
  return kind === 6 && global6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

/** The IP address in a URL; undefined for a name. `URL` has normalised `0x7f.1` and the like. */
export function literalIn(url: string): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/** A name resolves to an address that isn't public. */
export class PrivateAddress extends Error {
  override readonly name = 'PrivateAddress';
  /** The system's code for an unreachable host: the request was not sent. */
  readonly code = 'EHOSTUNREACH';
}

type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Resolves a name for a new connection, and fails where one of its addresses isn't public. The connection goes to the checked
 * address, so that a later change of the name has no effect.
 */
export function publicLookup(resolve: Resolve = systemLookup): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error) return done(error, '');
      const isPublic = addresses.every(({ address }) => isPublicAddress(address));
      if (first === undefined || !isPublic) return done(new PrivateAddress('the name leads to a private address'), '');
      if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

/** Whether an error was thrown because an address is not public. */
export function isOfPrivateAddress(error: unknown): boolean {
  return error instanceof PrivateAddress || (error instanceof Error && isOfPrivateAddress(error.cause));
}

/**
 * A `fetch` to one configured receiver, over connections of its own: a kept connection always goes to the address that was checked when it
 * was opened. Fails with PrivateAddress, also as the cause, where the address isn't public and private ones aren't allowed.
 */
export function openReceiver({ url, allowPrivate }: { url: string; allowPrivate: boolean }, fetch: Fetch) {
  const { Agent } = connections();
  const dispatcher = new Agent(allowPrivate ? {} : { connect: { lookup: publicLookup() } });
  // An IP address needs no lookup that could refuse it.
  const literal = literalIn(url);
  const isRefused = !allowPrivate && literal !== undefined && !isPublicAddress(literal);
  const fetchChecked: Fetch = async (to, init) => {
    if (isRefused) throw new PrivateAddress('the URL has a private address');
    return await fetch(to, Object.assign({ ...init }, { dispatcher }));
  };
  return { fetch: fetchChecked, close: () => dispatcher.destroy() };
}
