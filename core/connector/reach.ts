import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { errorAt, warningAt } from './check.ts';
import type { Finding } from './contract.ts';
import { isPublicAddress, literalIn } from './public-address.ts';

const timeoutMs = 10_000;

type Reached = { isPublic: boolean } & ({ problem?: undefined } | { problem: string; remedy: string });

interface ReceiverSettings {
  url: string;
  allowPrivate: boolean;
}

/**
 * Finds what would prevent deliveries to a receiver, and what would expose their content. Connects, and sends no request.
 * @param places the paths of the receiver's settings
 */
export async function checkReceiver(
  { url, allowPrivate }: ReceiverSettings,
  places: Readonly<Record<keyof ReceiverSettings, string>>,
): Promise<Finding[]> {
  const met = await reach(url, allowPrivate, places.allowPrivate);
  const found: Finding[] = met.problem === undefined ? [] : [errorAt(places.url, met.problem, met.remedy)];
  if (url.startsWith('http:') && met.isPublic) {
    found.push(warningAt(places.url, 'answers would go over the internet unencrypted', 'use https'));
  }
  if (allowPrivate && met.isPublic) {
    const problem = 'is true, and the address is public: a name that changes could lead into your network';
    found.push(warningAt(places.allowPrivate, problem, 'take it out'));
  }
  return found;
}

/** Tests whether this machine can connect to the URL's host with a valid certificate. @param setting the setting that allows private addresses */
async function reach(url: string, allowPrivate: boolean, setting: string): Promise<Reached> {
  const { hostname, protocol, port } = new URL(url);
  const literal = literalIn(url);
  let addresses: string[];
  try {
    addresses =
      literal === undefined ? (await lookup(hostname, { all: true })).map(({ address }) => address) : [literal];
  } catch {
    return { isPublic: false, problem: `the name ${hostname} is not known`, remedy: 'correct the host, or the DNS' };
  }
  const isPublic = addresses.every(isPublicAddress);
  if (!isPublic && !allowPrivate) {
    const problem = `${hostname} is an address inside a network, or of this machine, which is not called`;
    return { isPublic, problem, remedy: `name a public address, or set ${setting} if it is meant` };
  }
  const host = addresses[0] ?? hostname;
  const isSecure = protocol === 'https:';
  const to = { host, port: Number(port || (isSecure ? 443 : 80)) };
  const socket = isSecure
    ? connectSecure({ ...to, ...(literal === undefined ? { servername: hostname } : {}) })
    : connectPlain(to);
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(timeoutMs) });
    return { isPublic };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    const problem = `no ${isSecure ? 'secure ' : ''}connection to ${hostname} (${code})`;
    return { isPublic, problem, remedy: "check the receiver, its certificate, and this machine's way out" };
  } finally {
    socket.destroy();
  }
}
