import { type Advice, CloseloopError, type Outcome } from '../errors.ts';
import { lookUp } from '../look-up.ts';
import { retryAfterMs } from './retry-after.ts';
import type { HttpResponse } from './send.ts';

/*
 * Classifies a vendor's response for the job that sent the request: one table from status to advice, which each vendor extends.
 * Messages repeat only the status and the vendor's error code of a response, never its text.
 */

/** The problem and its remedy, which `check` shows separately. The status is added to the problem. */
interface Words {
  problem: string;
  remedy: string;
}

export type Meaning = Words &
  (
    | {
        /**
         * The vendor did not execute the call and asks the client to wait: as long as Retry-After says, else `ms`, the vendor's documented
         * window.
         */
        kind: 'wait';
        ms?: number;
        /** What to pause. Default: all calls of the account. `endpoint`: the calls of `VendorCall.endpoint`. */
        pauses?: 'account' | 'endpoint' | 'nobody';
        /** Default `refused`. */
        outcome?: Outcome;
      }
    | {
        /** The same call may succeed later. */
        kind: 'transient';
        /** Default `unknown`: the vendor may have done the work. */
        outcome?: Outcome;
        /** How long this call waits where the response has no Retry-After. */
        ms?: number;
        /** How long all calls of the account wait where the response has no Retry-After. */
        pauseMs?: number;
      }
    | {
        /** This call will never succeed. A page (of a proxy, perhaps) and a redirect are doubtful by default. */
        kind: 'permanent';
        doubtful?: boolean;
      }
    | { kind: 'config'; doubtful?: boolean; only?: string }
  );

/**
 * Rows by the vendor's error code (`REQUEST_LIMIT_EXCEEDED`), by status (`429`), or by kind of response: `3xx`, `4xx`, `5xx`,
 * `404 page` (a body that isn't JSON), `503 later` (with Retry-After), `page` (2xx without JSON), `shape` (2xx that the schema
 * refuses).
 */
export type MeaningTable = Readonly<Record<string, Meaning>>;

const meaning =
  <Kind extends 'config' | 'permanent' | 'transient'>(kind: Kind) =>
  (problem: string, remedy: string) => ({ kind, problem, remedy });

/** A row of a table: every call fails until an operator acts. */
export const config = meaning('config');
/** A row of a table: this call never succeeds. */
export const permanent = meaning('permanent');
/** The same call may succeed later. */
export const transient = meaning('transient');

/** How a vendor's responses differ from the standard table. The first rule that applies counts, from top to bottom. */
export interface ResponseRules {
  /**
   * Classifies responses whose meaning depends on the whole response, also with status 2xx (GraphQL's errors), or on the call (the scope that
   * its path needs).
   */
  meaningOf?: (response: HttpResponse, path: string) => Meaning | undefined;
  /**
   * The vendor's error code in the body. The row of the code comes before the row of the status. A text in place of a code (spaces, an
   * address, a number) counts as no code, and is never repeated.
   */
  codeOf?: (json: unknown) => string | undefined;
  /** The names of the refused fields in the body of an error. A desk's write leaves these fields out, and sends the rest. */
  fieldsOf?: (json: unknown) => readonly string[];
  table?: MeaningTable;
}

export interface Classification extends Words {
  advice: Advice;
  outcome: Outcome;
  status: number;
  /** The vendor's error code; '' where the response has none. */
  code: string;
  pause?: { ms: number; of: 'account' | 'endpoint' };
}

const again = 'a later attempt may succeed';

const standard: MeaningTable = {
  '3xx': {
    kind: 'config',
    doubtful: true,
    problem: 'a redirect, which is not followed',
    remedy: 'the address has changed: configure the new one',
  },
  401: config('the credentials are refused', 'an admin must check and replace them'),
  403: config('the credentials lack a right', 'an admin must grant it'),
  404: permanent('it does not exist', 'nothing is left to do'),
  '404 page': config('there is no such API at this address', 'check the address'),
  408: transient('the vendor gave up on the call', again),
  409: { kind: 'transient', outcome: 'refused', problem: 'somebody works on the same thing', remedy: again },
  423: { kind: 'transient', outcome: 'refused', problem: 'somebody works on the same thing', remedy: again },
  429: { kind: 'wait', problem: 'the vendor asks us to wait', remedy: again },
  '503 later': { kind: 'wait', outcome: 'unknown', problem: 'the vendor asks us to wait', remedy: again },
  '4xx': permanent('the vendor refuses the call', 'report it as a bug of this connector'),
  '5xx': transient('the vendor fails', again),
  page: transient('a page instead of an answer', again),
  shape: permanent('the answer has another shape than documented', 'report it as a bug of this connector'),
};

/** Classifies a response by status and codes; undefined for a success. @param path the path of the call */
export function classifyResponse(
  response: HttpResponse,
  now: Date,
  rules: ResponseRules = {},
  path = '',
): Classification | undefined {
  const { meaningOf, codeOf, table = {} } = rules;
  const code = machineCode(codeOf?.(response.json) ?? '', table);
  const keys = [code, ...keysOf(response)].filter((key) => key !== '');
  const found = [table, standard].flatMap((rows) => keys.flatMap((key) => lookUp(rows, key) ?? []));
  const meaning = meaningOf?.(response, path) ?? found[0];
  return meaning && classified(meaning, response, code, now);
}

/** A code as programs write it (`REQUEST_LIMIT_EXCEEDED`); '' where the vendor has put a text there, which may quote a person. */
const machineCode = (text: string, known: MeaningTable): string =>
  (text.length <= 60 && /^[a-z][a-z\d]*(?:[_.:-][a-z\d]+)*$/i.test(text)) || lookUp(known, text) ? text : '';

/** The keys under which a response is looked up, most specific first; empty for a success. */
function keysOf(response: HttpResponse): string[] {
  const { status, headers } = response;
  if (status >= 200 && status < 300) return isPage(response) ? ['page'] : [];
  const suffixes = [
    ...(isPage(response) ? [' page'] : []),
    ...(headers.get('retry-after') !== null ? [' later'] : []),
    '',
  ];
  // 408: the vendor ran out of time, and did not refuse the call.
  return [...suffixes.map((suffix) => `${status}${suffix}`), `${status === 408 ? 5 : Math.floor(status / 100)}xx`];
}

/** Whether the body is a page of a proxy, a firewall or a login. An empty body is no page. */
const isPage = ({ text, json }: HttpResponse): boolean => text.trim() !== '' && json === undefined;

function classified(meaning: Meaning, response: HttpResponse, code: string, now: Date): Classification {
  const { status, headers } = response;
  const said = [status < 300 ? '' : String(status), code === '' && isPage(response) && status >= 300 ? 'a page' : code];
  const shown = said.filter((part) => part !== '').join(', ');
  const words = { problem: shown === '' ? meaning.problem : `${meaning.problem} (${shown})`, remedy: meaning.remedy };
  const given = retryAfterMs(headers, now);
  return { ...words, status, code, ...consequences(meaning, given, isPage(response)) };
}

/** The usual window: how long to pause where a vendor asks the client to wait and names no time. */
const unsaidMs = 60_000;

type Consequences = Pick<Classification, 'advice' | 'outcome' | 'pause'>;

function consequences(meaning: Meaning, given: number | undefined, isDoubtful: boolean): Consequences {
  switch (meaning.kind) {
    case 'wait': {
      const { ms, pauses = 'account', outcome = 'refused' } = meaning;
      // Retry-After: 0 means the vendor's documented window, or else the usual window.
      const waitMs = given || ms;
      const advice: Advice = {
        kind: 'transient',
        throttled: true,
        ...(waitMs !== undefined && { retryAfterMs: waitMs }),
      };
      return { advice, outcome, ...pauseOf(waitMs ?? unsaidMs, pauses) };
    }
    case 'transient': {
      const { outcome = 'unknown', pauseMs, ms = pauseMs } = meaning;
      const waitMs = ms === undefined ? given : given || ms;
      const advice: Advice = { kind: 'transient', ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
      return { advice, outcome, ...(pauseMs !== undefined && pauseOf(waitMs ?? 0, 'account')) };
    }
    case 'permanent':
    case 'config': {
      const { kind, doubtful = isDoubtful } = meaning;
      const only = meaning.kind === 'config' && meaning.only !== undefined ? { only: meaning.only } : {};
      return { advice: { kind, ...(doubtful && { doubtful }), ...only }, outcome: 'refused' };
    }
  }
}

function pauseOf(ms: number, of: 'account' | 'endpoint' | 'nobody'): Pick<Classification, 'pause'> {
  return of === 'nobody' || ms <= 0 ? {} : { pause: { ms, of } };
}

/** The error for a response that the schema refuses. @param where the wrong places in the response, never their values */
export function classifyShape(
  response: HttpResponse,
  where: string,
  now: Date,
  { table }: ResponseRules = {},
): Classification {
  const row = table?.shape ?? standard.shape;
  if (row === undefined) throw new TypeError('the standard table has a row for another shape');
  const found = classified({ ...row, problem: `${row.problem}, at ${where}` }, response, '', now);
  return { ...found, outcome: 'unknown' };
}

/** A call to a vendor failed. */
export class VendorError extends CloseloopError {
  override readonly name = 'VendorError';
  readonly problem: string;
  readonly remedy: string;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** The vendor's error code; '' where the response has none. */
  readonly code: string;
  readonly #fields: readonly string[];

  /** @param place the beginning of the message: account, method and path, without ids */
  constructor(
    place: string,
    found: Omit<Classification, 'pause'>,
    {
      fields = [],
      ...facts
    }: { cause?: unknown; reference?: string | undefined; fields?: readonly string[] | undefined } = {},
  ) {
    super(`${place}: ${found.problem}; ${found.remedy}.`, found.advice, { outcome: found.outcome, ...facts });
    this.problem = found.problem;
    this.remedy = found.remedy;
    this.status = found.status;
    this.code = found.code;
    this.#fields = fields;
  }

  /** The refused fields (`ResponseRules.fieldsOf`), in the vendor's words: to compare, never to show. */
  get fields(): readonly string[] {
    return this.#fields;
  }

  /** Whether the vendor says that the resource does not exist, or no longer does. */
  get isGone(): boolean {
    return this.status === 404 && this.advice.kind === 'permanent' && this.advice.doubtful !== true;
  }
}
