import type { SendFailure } from '../../core/connector/send.ts';
import { type Advice, CloseloopError, type Outcome } from '../../core/errors.ts';
import { retryAfter } from '../../core/feedback/failure.ts';

/** What went wrong at a shop, in two halves: `check` shows them apart. */
export class ShopError extends CloseloopError {
  override readonly name = 'ShopError';
  readonly problem: string;
  readonly remedy: string;
  /** HTTP; 0 where there was no answer. */
  readonly status: number;
  /** `woocommerce_rest_cannot_view` …; '' where WooCommerce said none. */
  readonly code: string;

  constructor(place: string, { problem, remedy, advice, outcome = 'refused', status = 0, code = '', cause }: Failure) {
    super(`WooCommerce ${place}: ${problem}; ${remedy}.`, advice, { outcome, cause });
    this.problem = problem;
    this.remedy = remedy;
    this.status = status;
    this.code = code;
  }
}

interface Failure {
  problem: string;
  remedy: string;
  advice: Advice;
  outcome?: Outcome;
  status?: number;
  code?: string;
  cause?: unknown;
}

/** An answer other than success. */
export interface Refusal {
  status: number;
  /** WooCommerce's own; '' where the answer wasn't its JSON but a page of the host, a firewall or WordPress. */
  code: string;
  isJson: boolean;
  retryAfter: string | null;
  location: string | null;
}

/** How long everybody waits when the shop says "later" and not when: 5 to 15 s, so that not all come back at once. */
const restMs = (random: number): number => Math.round(5_000 + 10_000 * random);

/**
 * What a refusal means. `pauseMs`: nobody may call the shop before. Never quotes the answer: WooCommerce's messages repeat
 * values, and pages hold anything.
 */
export function refusalError(
  place: string,
  refusal: Refusal,
  { now, random }: { now: Date; random: number },
): { error: ShopError; pauseMs?: number } {
  const { status, code, isJson } = refusal;
  const said = code === '' ? String(status) : `${status} ${code}`;
  const fail = (problem: string, remedy: string, advice: Advice, outcome: Outcome = 'refused'): ShopError =>
    new ShopError(place, { problem, remedy, advice, outcome, status, code });
  const config = { kind: 'config' } as const;
  const waitMs = waitOf(refusal.retryAfter, now);

  if (status >= 300 && status < 400) {
    const to = originOf(refusal.location);
    return {
      error: fail(
        `the shop redirects (${status}${to === '' ? '' : ` to ${to}`}), and redirects lose the key`,
        'set `site` to the address that browsers end up at (https, with or without www)',
        { kind: 'config', doubtful: true },
      ),
    };
  }
  if (status === 429 || (status === 403 && !isJson)) {
    const pauseMs = waitMs ?? restMs(random);
    const advice = { kind: 'transient', throttled: status === 429, retryAfterMs: pauseMs } as const;
    const who = status === 429 ? 'the host asks us to wait (429)' : 'a firewall of the host refuses us (403, a page)';
    const remedy = 'it is tried again; if it stays so, ask the host to let this machine through to /wp-json/';
    return { error: fail(who, remedy, advice), pauseMs };
  }
  if (status === 401) return { error: fail(...unauthorised(said, code, isJson), config) };
  if (status === 403) {
    const remedy = 'give the user of the REST key a role that may edit orders (Shop manager)';
    return { error: fail(`the key may not do this (${said})`, remedy, config) };
  }
  if (status === 404 && (!isJson || code === 'rest_no_route')) {
    const [problem, remedy] = isJson
      ? ["WordPress answers, WooCommerce's API does not", 'activate WooCommerce, and check `site`']
      : [
          'there is no REST API at this address',
          'check `site`; with permalinks set to "Plain" choose another form (Settings > Permalinks) or set restRoute: true',
        ];
    return { error: fail(`${problem} (${said})`, remedy, isJson ? config : { kind: 'config', doubtful: true }) };
  }
  if (status === 404) {
    return { error: fail(`it does not exist any more (${said})`, 'nothing is left to do', { kind: 'permanent' }) };
  }
  if (status >= 500) {
    const advice = { kind: 'transient', ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) } as const;
    const error = fail(`the shop fails (${said})`, 'it is tried again', advice, 'unknown');
    return { error, ...(status === 503 && { pauseMs: waitMs ?? restMs(random) }) };
  }
  return {
    error: fail(`the shop does not take this (${said})`, 'report it as a bug in closeloop', { kind: 'permanent' }),
  };
}

/** WooCommerce says 401 for a bad key and for a good one that may not do this. */
function unauthorised(said: string, code: string, isJson: boolean): [problem: string, remedy: string] {
  if (!isJson) return [`the web server itself asks for a password (${said})`, 'exempt /wp-json/ from it'];
  if (code === 'woocommerce_rest_authentication_error') {
    return [
      `the REST key is wrong, or lacks a right (${said})`,
      'check consumerKey and consumerSecret; the key needs "Read/Write" (WooCommerce > Settings > Advanced > REST API)',
    ];
  }
  return [
    `the key's user may not see or edit this, or the key did not arrive (${said})`,
    'give the key to a user who may edit orders (Shop manager); if the host drops the Authorization header, set auth: query',
  ];
}

/** No answer, or none that could be read. */
export function notAnswered(place: string, { why, message, outcome, cause }: SendFailure): ShopError {
  const remedy = why === 'unbearable' ? 'check what answers at `site`' : unreached;
  return new ShopError(place, { problem: message, remedy, advice: { kind: 'transient' }, outcome, cause });
}

const unreached = 'it is tried again; check `site` and that the shop can be reached from this machine';

/** A day at most, as nobody means more; 0 is no wait. */
function waitOf(header: string | null, now: Date): number | undefined {
  const ms = retryAfter(header, now);
  return ms ? Math.min(ms, 86_400_000) : undefined;
}

function originOf(location: string | null): string {
  return location !== null && URL.canParse(location) ? new URL(location).origin : '';
}
