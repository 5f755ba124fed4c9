import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { isPublicAddress, literalIn } from '../../core/connector/public-address.ts';

const timeoutMs = 10_000;

type Reached = { isPublic: boolean } & ({ problem?: undefined } | { problem: string; remedy: string });

/** Can this machine connect to the URL's host, certificate included? Sends no request. */
export async function reach(url: string, allowPrivate: boolean): Promise<Reached> {
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
    return { isPublic, problem, remedy: 'name a public address, or set writeBack.allowPrivate if it is meant' };
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
