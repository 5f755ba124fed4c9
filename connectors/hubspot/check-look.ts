import type { z } from 'zod';
import type { Finding } from '../../core/connector/contract.ts';
import { adviceOf, CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './client.ts';
import { inWords } from './failure.ts';

/** One thing to look at in the account. */
interface Look<S extends z.ZodType> {
  /** In words: "the ticket pipelines". */
  thing: string;
  /** Where a finding belongs; left out: the thing itself. */
  at?: string;
  /** The scope that shows it. */
  scope: string;
  method: 'GET' | 'POST';
  path: string;
  schema: S;
  query?: Record<string, string>;
  body?: object;
}

/** Looks at things one after the other; whatever can't be seen becomes a finding, and the next look goes on. */
export interface Looker {
  readonly findings: Finding[];
  /** undefined: a finding says why. A scope that is lacking is told once, and what else needs it isn't looked at. */
  at<S extends z.ZodType>(look: Look<S>): Promise<z.output<S> | undefined>;
  /** Whether the app may do this: `look` is a request that changes nothing and may be refused for its content. */
  mayDo(look: Look<z.ZodType>): Promise<void>;
  lacks(scope: string): boolean;
}

export function looker(api: HubSpotApi): Looker {
  const findings: Finding[] = [];
  const lacking = new Set<string>();

  async function ask<S extends z.ZodType>({ thing, at, scope, method, path, schema, query, body }: Look<S>) {
    if (lacking.has(scope)) return undefined;
    try {
      const options = { answers: [403], ...(query && { query }), ...(body && { body }) };
      const answer = await api.attempt(method, path, schema, options);
      if (answer.ok || answer.refusal.status !== 403) return answer;
      const { scopes } = answer.refusal;
      const missing = scopes.length === 0 || scopes.includes(scope) ? scope : scopes.join(' or ');
      if (!lacking.has(missing)) findings.push(lacks(missing, thing));
      lacking.add(missing);
    } catch (error) {
      findings.push(failed(thing, error, at));
    }
    return undefined;
  }

  return {
    findings,
    async at(look) {
      const answer = await ask(look);
      if (answer?.ok) return answer.body;
      if (answer !== undefined) findings.push(refused(look.thing, inWords(answer.refusal)));
      return undefined;
    },
    async mayDo(look) {
      await ask(look);
    },
    lacks: (scope) => lacking.has(scope),
  };
}

const lacks = (scope: string, thing: string): Finding => ({
  level: 'error',
  at: 'scopes',
  problem: `the app has no scope ${scope}: HubSpot refuses ${thing} (403)`,
  remedy:
    'Add the scope to the app (project app: requiredScopes in app-hsmeta.json; legacy app: its Scopes tab), and have a HubSpot admin install the app again or approve it',
});

const refused = (thing: string, why: string): Finding => ({
  level: 'error',
  at: thing,
  problem: `HubSpot does not show ${thing}: ${why}`,
  remedy: 'Run check again; if it stays, what hangs on this was not checked: ask HubSpot support',
});

/** @param at Left out: the thing itself. */
export function failed(thing: string, error: unknown, at = thing): Finding {
  const known = error instanceof CloseloopError ? error.message : `${thing} could not be read, for a reason of our own`;
  const remedy =
    adviceOf(error).kind === 'config'
      ? 'Do as it says, then run check again'
      : 'Run check again: what hangs on this was not checked';
  return { level: 'error', at, problem: known, remedy };
}
