import { z } from 'zod';
import {
  config,
  type Meaning,
  type MeaningTable,
  permanent,
  type ResponseRules,
  transient,
} from '../../core/connector/classify.ts';
import type { HttpResponse, SendFailure } from '../../core/connector/send.ts';

/** `woocommerce_rest_cannot_view` …: messages repeat values. */
const ErrorBody = z.object({ code: z.string().regex(/^[a-z][a-z0-9_-]{1,80}$/) });

const key =
  'check consumerKey and consumerSecret; the key needs "Read/Write" (WooCommerce > Settings > Advanced > REST API)';
const again = 'it is tried again';
const firewall = 'it is tried again; if it stays so, ask the host to let this machine through to /wp-json/';

const table: MeaningTable = {
  woocommerce_rest_authentication_error: config('the REST key is wrong, or lacks a right', key),
  rest_no_route: config("WordPress answers, WooCommerce's API does not", 'activate WooCommerce, and check `site`'),
  // For an invalid key, and for a valid one without this right.
  401: config(
    "the key's user may not see or edit this, or the key did not arrive",
    'give the key to a user who may edit orders (Shop manager); if the host drops the Authorization header, set auth: query',
  ),
  403: config('the key may not do this', 'give the user of the REST key a role that may edit orders (Shop manager)'),
  404: permanent('it does not exist any more', 'nothing is left to do'),
  '4xx': permanent('the shop does not take this', 'report it as a bug in closeloop'),
  '5xx': transient('the shop fails', again),
  shape: permanent(
    'the answer has another shape than documented',
    'report it as a bug in closeloop, with the version of WooCommerce',
  ),
};

/** Responses without JSON: pages of the host, of a firewall, or of WordPress in maintenance. */
const pages: MeaningTable = {
  200: transient(
    'a page instead of an answer',
    'it is tried again; a plugin or the host may be putting itself before the API',
  ),
  401: config('the web server itself asks for a password', 'exempt /wp-json/ from it'),
  404: {
    kind: 'config',
    doubtful: true,
    problem: 'there is no REST API at this address',
    remedy:
      'check `site`; with permalinks set to "Plain" choose another form (Settings > Permalinks) or set restRoute: true',
  },
};

/** WooCommerce's differences from the standard table. */
export function responseRules(random: () => number): ResponseRules {
  /** The pause where the shop names no time: 5 to 15 s at random, so that not all processes return at once. */
  const restMs = (): number => Math.round(5_000 + 10_000 * random());
  return {
    codeOf: (json) => ErrorBody.safeParse(json).data?.code,
    meaningOf: ({ status, json, headers }) => {
      if (status >= 300 && status < 400) return redirect(headers.get('location'));
      if (status === 429) return { kind: 'wait', ms: restMs(), problem: 'the host asks us to wait', remedy: firewall };
      if (status === 503) return { kind: 'transient', pauseMs: restMs(), problem: 'the shop fails', remedy: again };
      if (json !== undefined) return undefined;
      const problem = 'a firewall of the host refuses us';
      if (status === 403)
        return { kind: 'transient', outcome: 'refused', pauseMs: restMs(), problem, remedy: firewall };
      return pages[status < 300 ? 200 : status];
    },
    table,
  };
}

function redirect(location: string | null): Meaning {
  const to = location !== null && URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return {
    kind: 'config',
    doubtful: true,
    problem: `redirects lose the key, and the shop redirects${to}`,
    remedy: 'set `site` to the address that browsers end up at (https, with or without www)',
  };
}

/** There was no response, or an unreadable one. */
export function unanswered({ why, message: problem }: SendFailure): Meaning {
  const remedy = why === 'unbearable' ? 'check what answers at `site`' : unreached;
  return transient(problem, remedy);
}

const unreached = 'it is tried again; check `site` and that the shop can be reached from this machine';

/** WooCommerce's dates are written by the shop's clock. */
export function shopTime({ headers }: Pick<HttpResponse, 'headers'>): Date | undefined {
  const date = new Date(headers.get('date') ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
