import { type AnswerPlaces, type PartName, placesOf } from '../answer.ts';
import {
  type Comparison,
  combined,
  errorAt,
  hookUrlFindings,
  manualStep,
  type SetupItem,
  type ShapeNames,
  setupSteps,
  unknownReads,
  warningAt,
} from '../check.ts';
import { VendorError } from '../classify.ts';
import type { Finding, PreflightContext, SetupStep, Source } from '../contract.ts';
import type { CurrentField, NeededField } from '../fields.ts';

/* `check` and `setup` of a desk: both compare what the settings need with what the account has. */

/** The fields that `writeBack` names. */
export interface DeskFields {
  /** The records that have the fields, in words: 'tickets'. */
  of: string;
  /** The vendor's word for a field, and the place where people find the fields. */
  field: string;
  place: string;
  /** @param needed the fields to compare, for lists that depend on them: a pattern is tried with their values */
  list(needed: readonly NeededField[]): Promise<readonly CurrentField[]>;
  /** The vendor's types that take a part of an answer: the type that `setup` creates, and others that fit. `neededBy`: 'the grades 1.5'. */
  types(part: PartName, grades: readonly number[]): Pick<NeededField, 'types' | 'neededBy' | 'values'>;
  /** Creates a field; the note says what a person has to do next. Left out: people create the fields by hand. */
  make?(needed: NeededField): ReturnType<SetupStep['apply']>;
  /** Adds values to the list of a field. Left out: people add them by hand. */
  extend?(needed: NeededField, values: readonly string[]): ReturnType<SetupStep['apply']>;
}

export interface WantedHook {
  /** The item's id, the same at every comparison. */
  id: string;
  /** 'the rule "closeloop: ticket closed"' */
  what: string;
  /** The problem if the hook does not exist. Default: 'is missing'. */
  missing?: string;
  /** The level of the finding if the hook is missing or wrong. Default 'error'. */
  level?: Finding['level'];
}

/** The webhooks, rules or subscriptions that make the vendor deliver to closeloop. */
export interface DeskHooks<Hook, Wanted extends WantedHook> {
  list(): Promise<readonly Hook[]>;
  /** The hooks that closeloop needs. */
  wanted(hookUrl: string): readonly Wanted[];
  /** Whether the hook is the wanted hook, even if it is set up wrongly. */
  is(hook: Hook, wanted: Wanted): boolean;
  /** The problems of the hook: 'is switched off'. */
  flaws(hook: Hook, wanted: Wanted): readonly string[];
  /** Creates the hook, or corrects the existing hook. */
  make(wanted: Wanted, there: Hook | undefined): ReturnType<SetupStep['apply']>;
}

/** One of the calls that the connector makes at work, tried once to find missing rights. `read` also checks what it has read. */
export type DeskProbe = {
  /** The setting at which a failure is reported. Default: the credential. */
  at?: string;
  /** The read part of the account, in words: 'the triggers'. */
  what: string;
} & ({ tries(): Promise<unknown> } | { read(about: PreflightContext): Promise<readonly Finding[]> });

export interface DeskPreflight {
  /** The setting at which a refused credential is reported. */
  credential: string;
  /** The names in a record, and where else a name may be found: 'custom fields are under ticket.fields'. */
  shape: { names: ShapeNames; hint: string };
  /** The probes in order. If the first fails the others are left out, as they would fail for the same reason. */
  probes: readonly [DeskProbe, ...DeskProbe[]];
  /** Whether another finding reports this refusal already: that the credentials lack a right. */
  isTold?(error: VendorError): boolean;
  /** Left out: every record has the places for answers. */
  fields?: DeskFields | ((grades: readonly number[]) => Promise<Comparison>);
  /** `comparedHooks`, or a function in its place. Left out: the vendor's webhooks can't be listed. */
  hooks?(hookUrl: string): Promise<Comparison>;
  /** Whether the vendor is a stand-in on this machine, which reaches every address. */
  isStandin: boolean;
  /** Findings that need no call. */
  own?(about: PreflightContext): readonly Finding[];
  /** Further steps of the setup, after fields and hooks. */
  steps?(about: PreflightContext): readonly SetupStep[];
}

/** Compares the fields that the settings name with the account's fields, by name. Several fields may have the same name. */
export async function comparedFields(
  fields: DeskFields,
  places: AnswerPlaces<string>,
  grades: readonly number[],
): Promise<Comparison> {
  const needed = [...placesOf(places)].map(
    ([part, name]): NeededField => ({ part, name, ...fields.types(part, grades) }),
  );
  const current = needed.length === 0 ? [] : await fields.list(needed);
  return combined(needed.map((one) => comparedField(one, current, fields)));
}

function comparedField(
  needed: NeededField,
  current: readonly CurrentField[],
  { of, field, place, make, extend }: DeskFields,
): Comparison {
  const { part, name, types, neededBy, values = [] } = needed;
  const [found, ...others] = current.filter((one) => one.name === name);
  const what = `the ${field} "${name}" of ${of}`;
  const tell = (found: typeof errorAt, problem: string, remedy: string, ...missing: SetupItem[]) => {
    return { findings: [found(`writeBack.${part}`, problem, remedy)], missing };
  };
  if (found === undefined || found.isArchived) {
    const problem = found ? `${what} is archived` : `${of} have no ${field} "${name}"`;
    if (make === undefined) return tell(errorAt, problem, `Create it, of type ${types[0]} (${place})`);
    const item = { id: `${of}: ${name}`, what: `create ${what} (${types[0]})`, make: async () => await make(needed) };
    return tell(errorAt, problem, 'Let "closeloop setup" create it', item);
  }
  if (others.length > 0)
    return tell(errorAt, `${of} have ${others.length + 1} of the name "${name}"`, `Rename all but one (${place})`);
  if (found.type !== undefined && !types.includes(found.type)) {
    const wanted = `${types.join(' or ')}${neededBy === undefined ? '' : `, which ${neededBy} need`}`;
    return tell(errorAt, `${what} is of type ${found.type}, not ${wanted}`, `Name another ${field}`);
  }
  if (found.problem !== undefined) return tell(errorAt, `${what} ${found.problem}`, `Change that (${place})`);
  const lacks = values.filter((value) => found.values?.includes(value) === false);
  if (lacks.length > 0) {
    const problem = `${what} lacks the values ${lacks.join(', ')}`;
    if (extend === undefined) return tell(errorAt, problem, `Add them (${place})`);
    const added = `add ${lacks.join(', ')} to ${what}`;
    const item = { id: `values of ${of}: ${name}`, what: added, make: () => extend(needed, lacks) };
    return tell(errorAt, problem, 'Let "closeloop setup" add them', item);
  }
  if (found.drawback !== undefined)
    return tell(warningAt, `${what} ${found.drawback}`, `Name another ${field}, or change that (${place})`);
  if (found.required) return tell(warningAt, `${what} is required of people`, `Switch that off (${place})`);
  return { findings: [], missing: [] };
}

const remedy = 'Let "closeloop setup" put it right';

/** Compares the webhooks that closeloop needs with the account's webhooks. */
export async function comparedHooks<Hook, Wanted extends WantedHook>(
  { list, wanted, is, flaws, make }: DeskHooks<Hook, Wanted>,
  hookUrl: string,
): Promise<Comparison> {
  const all = await list();
  const compared = wanted(hookUrl).map((one): Comparison => {
    const there = all
      .filter((hook) => is(hook, one))
      .toSorted((a, b) => flaws(a, one).length - flaws(b, one).length)[0];
    const wrong = there === undefined ? [one.missing ?? 'is missing'] : flaws(there, one);
    if (wrong.length === 0) return { findings: [], missing: [] };
    const what = `${there === undefined ? 'create' : 'correct'} ${one.what}`;
    return {
      findings: [{ level: one.level ?? 'error', at: 'webhook', problem: `${one.what} ${wrong.join(', ')}`, remedy }],
      missing: [{ id: one.id, what, make: () => make(one, there) }],
    };
  });
  return combined(compared);
}

/** Reads parts of the account one after the other. A refused read becomes a finding; any other error is thrown. */
function prober(credential: string, isTold: DeskPreflight['isTold']) {
  const findings: Finding[] = [];
  /** @param at the setting at which a refusal is reported, unless it is of the credential */
  const attempt = <T>(at: string, read: () => Promise<T>): Promise<T | undefined> =>
    read().catch((error: unknown) => {
      if (!(error instanceof VendorError)) throw error;
      const { problem, remedy, status, advice } = error;
      const isOfCredential = advice.kind === 'config' && (status === 401 || status === 403);
      if (!isTold?.(error)) findings.push(errorAt(isOfCredential ? credential : at, problem, remedy));
      return undefined;
    });
  return { findings, attempt };
}

/**
 * `check` and `setup` of a desk.
 * @param writeBack the source's setting of this name
 * @param isDelivered whether the vendor delivers to this source, so that it has to reach closeloop
 */
export function deskPreflight(
  vendor: string,
  writeBack: AnswerPlaces<string>,
  { credential, shape, probes: [first, ...others], isTold, fields, hooks, isStandin, own, steps }: DeskPreflight,
  isDelivered = hooks !== undefined,
): Required<Pick<Source, 'check' | 'setup'>> {
  const none: Comparison = { findings: [], missing: [] };
  const withFields = async (grades: readonly number[]) =>
    typeof fields === 'object' ? await comparedFields(fields, writeBack, grades) : ((await fields?.(grades)) ?? none);
  const withHooks = async (hookUrl: string | undefined) =>
    hookUrl === undefined ? none : ((await hooks?.(hookUrl)) ?? none);

  return {
    async check(about) {
      const plain = [
        ...(isDelivered ? hookUrlFindings(vendor, about.hookUrl, isStandin) : []),
        ...unknownReads(vendor, shape.names, shape.hint, about.reads),
        ...(own?.(about) ?? []),
      ];
      const { findings, attempt } = prober(credential, isTold);
      const findingsOf = async (one: DeskProbe): Promise<readonly Finding[]> => {
        if ('read' in one) return await one.read(about);
        await one.tries();
        return [];
      };
      const run = (one: DeskProbe) => attempt(one.at ?? credential, () => findingsOf(one));
      const told = [await run(first)];
      if (told[0] === undefined) return [...plain, ...findings];
      for (const one of others) told.push(await run(one));
      const compared = [
        await attempt('writeBack', () => withFields(about.grades)),
        await attempt('webhook', () => withHooks(about.hookUrl)),
      ];
      const found = [...told.flatMap((one) => one ?? []), ...compared.flatMap((one) => one?.findings ?? [])];
      return [...plain, ...found, ...findings];
    },
    async setup(about) {
      let ofFields = none;
      const made = await setupSteps(async () => {
        ofFields = await withFields(about.grades);
        return combined([ofFields, await withHooks(about.hookUrl)]).missing;
      });
      const isByHand = typeof fields === 'object' && fields.make === undefined;
      const lacking = isByHand ? ofFields.findings.filter(({ level }) => level === 'error') : [];
      const byHand = lacking.map(({ problem, remedy }) => manualStep(`${problem}: by hand`, remedy));
      return [...made, ...byHand, ...(steps?.(about) ?? [])];
    },
  };
}
