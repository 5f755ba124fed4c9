import type { Finding, PreflightContext, SetupStep } from './contract.ts';

/* The building blocks of `check` and `setup` of every connector. */

export const errorAt = (at: string, problem: string, remedy: string): Finding => ({
  level: 'error',
  at,
  problem,
  remedy,
});

export const warningAt = (at: string, problem: string, remedy: string): Finding => ({
  level: 'warning',
  at,
  problem,
  remedy,
});

/** A field, webhook … that the account lacks, and its creation. */
export interface SetupItem {
  /** The same at every comparison: `options of user field "last_grade"`. */
  id: string;
  /** The item in words, as in `SetupStep`. */
  what: string;
  make: SetupStep['apply'];
}

/** Compares what the settings need with what the account has: `check` reports the findings, `setup` creates the missing items. */
export interface Comparison {
  findings: Finding[];
  /** The missing items in the order of creation. */
  missing: SetupItem[];
}

/** Several comparisons in one, in their order. */
export function combined(comparisons: readonly Comparison[]): Comparison {
  return {
    findings: comparisons.flatMap(({ findings }) => findings),
    missing: comparisons.flatMap(({ missing }) => missing),
  };
}

/**
 * One step per missing item. A step compares again before it creates its item, so that it can be repeated after a failure and
 * while other people change the account.
 */
export async function setupSteps(compare: () => Promise<readonly SetupItem[]>): Promise<SetupStep[]> {
  return (await compare()).map(({ id, what }) => ({
    what,
    apply: async () => (await compare()).find((item) => item.id === id)?.make() ?? {},
  }));
}

/** A step that only a person can take: its note tells the person how. */
export const manualStep = (what: string, ...note: readonly string[]): SetupStep => ({
  what,
  apply: async () => ({ note: note.join('\n') }),
});

/** Whether two addresses are the same, however they are written. */
export const isSameUrl = (one: string, other: string): boolean =>
  URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;

/**
 * Checks that the vendor can deliver to closeloop, and that no third party can read the deliveries.
 * @param isStandin a stand-in on this machine, which reaches every address
 */
export function hookUrlFindings(vendor: string, hookUrl: string | undefined, isStandin: boolean): Finding[] {
  const at = 'http.publicUrl';
  if (hookUrl === undefined) {
    const problem = 'is missing, so the webhook was not checked; without one, closings are only found by polling';
    return [warningAt(at, problem, `Set it to the https address under which ${vendor} reaches closeloop`)];
  }
  if (hookUrl.startsWith('https://') || isStandin) return [];
  const problem = 'is not https: deliveries hold what customers wrote, and could be read on their way';
  return [errorAt(at, problem, 'Put closeloop behind https and give that address')];
}

/**
 * The finding for a vendor that shows an app's webhooks only to the app's owner: the settings have to say whether the webhooks deliver here.
 * @param remedy how to enter the webhooks, and how to confirm that in the settings
 */
export const unseenWebhook = (vendor: string, remedy: string): Finding =>
  warningAt(
    'webhook',
    `nothing shows that ${vendor} delivers here: it shows an app's webhooks to nobody but its owner`,
    remedy,
  );

/** The finding for a vendor that asks its customers itself. The setting `ratings` passes the vendor's ratings on. @param record the word for a record */
export const twoSurveys = (vendor: string, record: string): Finding =>
  warningAt(
    'ratings',
    `${vendor} asks for ratings as well: two surveys for one ${record}`,
    `Switch ${vendor}'s own off, or pass its ratings on (ratings)`,
  );

/** The names in a presented record, second-level names by first-level name; an empty object where any name may occur below. */
export type ShapeNames = Readonly<Record<string, Readonly<Record<string, true>>>>;

/** The names of a presented shape; for a list, the names of its first entry. */
export function namesOf(shape: object): ShapeNames {
  const namesIn = (part: unknown) => {
    const one: unknown = Array.isArray(part) ? part[0] : part;
    const names = typeof one === 'object' && one !== null ? Object.keys(one) : [];
    return Object.fromEntries(names.map((name) => [name, true as const]));
  };
  return Object.fromEntries(Object.entries(shape).map(([name, part]) => [name, namesIn(part)]));
}

/**
 * Warnings for names that expressions read and no record has. They are no errors, because an expression can build a name at run time.
 * @param hint where else a name may be found: 'custom fields are under `fields`'
 */
export function unknownReads(
  vendor: string,
  names: ShapeNames,
  hint: string,
  reads: PreflightContext['reads'],
): Finding[] {
  return reads.flatMap(({ at, path: [root = '', name] }): Finding[] => {
    const below = Object.hasOwn(names, root) ? names[root] : undefined;
    if (below === undefined) {
      const problem = `a ${vendor} record has no ${root}: it is always empty`;
      return [warningAt(at, problem, `There are: ${Object.keys(names).join(', ')}`)];
    }
    const known = Object.keys(below);
    if (name === undefined || known.length === 0 || known.includes(name)) return [];
    const problem = `a ${vendor} ${root} has no ${name}: it is always empty`;
    return [warningAt(at, problem, `There are: ${known.join(', ')}; ${hint}`)];
  });
}
