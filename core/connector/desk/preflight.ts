import { type AnswerPlaces, type PartName, placesOf } from '../answer.ts';
import {
  type Comparison,
  combined,
  hookUrlFindings,
  manualStep,
  type Probe,
  type SetupItem,
  type ShapeNames,
  setupSteps,
  unknownReads,
  vendorProber,
} from '../check.ts';
import type { Finding, PreflightContext, SetupStep, Source } from '../contract.ts';
import { type CurrentField, compareFields, type NeededField } from '../fields.ts';

/* `check` and `setup` of a desk: what the settings need, compared once with what the account has. */

/** The fields that `writeBack` names. */
export interface DeskFields {
  /** Whose fields, in words: 'tickets'. */
  of: string;
  /** The vendor's word for a field, and where people find the fields. */
  field: string;
  place: string;
  /** @param needed those that are compared, for what depends on them: which of their values a pattern takes */
  list(needed: readonly NeededField[]): Promise<readonly CurrentField[]>;
  /** The vendor's types that take a part of an answer: the type that `setup` creates, and others that fit. `neededBy`: 'the grades 1.5'. */
  types(part: PartName, grades: readonly number[]): Pick<NeededField, 'types' | 'neededBy' | 'values'>;
  /** Creates a field; the note says what a person has to do next. Left out: people create fields by hand. */
  make?(needed: NeededField): ReturnType<SetupStep['apply']>;
  /** Adds values to the list of a field. Left out: people do. */
  extend?(needed: NeededField, values: readonly string[]): ReturnType<SetupStep['apply']>;
}

export interface WantedHook {
  /** The same at every comparison. */
  id: string;
  /** 'the rule "closeloop: ticket closed"' */
  what: string;
  /** What is wrong where it is missing. Default: 'is missing'. */
  missing?: string;
  /** The level of the finding if the hook is missing or wrong. Default 'error'. */
  level?: Finding['level'];
}

/** Webhooks, rules, subscriptions: what makes the vendor deliver here. */
export interface DeskHooks<Hook, Wanted extends WantedHook> {
  list(): Promise<readonly Hook[]>;
  /** The hooks that closeloop needs. */
  wanted(hookUrl: string): readonly Wanted[];
  /** Whether the hook is the wanted one, even if it is set up wrongly. */
  is(hook: Hook, wanted: Wanted): boolean;
  /** What is wrong with the hook: 'is switched off'. */
  flaws(hook: Hook, wanted: Wanted): readonly string[];
  /** Creates it, or corrects the one that is there. */
  make(wanted: Wanted, there: Hook | undefined): ReturnType<SetupStep['apply']>;
}

/** One of the calls that the connector makes at work, tried once, to find missing rights. `read` also judges what it has read. */
export type DeskProbe = Probe &
  ({ tries(): Promise<unknown> } | { read(about: PreflightContext): Promise<readonly Finding[]> });

export interface DeskPreflight {
  /** The setting that a refused credential is reported at. */
  credential: string;
  /** The names in a record, and where else a name may be found: 'custom fields are under ticket.fields'. */
  shape: { names: ShapeNames; hint: string };
  /** In order; where the first fails the others are left out, as they would fail for the same reason. */
  probes: readonly [DeskProbe, ...DeskProbe[]];
  /** Left out: answers go where every record has a place. */
  fields?: DeskFields | ((grades: readonly number[]) => Promise<Comparison<SetupItem>>);
  /** `comparedHooks`, or what takes its place. Left out: nothing is delivered, or nobody can look. */
  hooks?(hookUrl: string): Promise<Comparison<SetupItem>>;
  /** A stand-in on this machine, which reaches every address. */
  isStandin: boolean;
  /** Findings that need no call. */
  own?(about: PreflightContext): readonly Finding[];
  /** Further steps of the setup, after fields and hooks. */
  steps?(about: PreflightContext): readonly SetupStep[];
}

/** The fields that the places of answers need, compared with those that the account has. */
export async function comparedFields(
  { of, field, place, list, types, make, extend }: DeskFields,
  places: AnswerPlaces<string>,
  grades: readonly number[],
): Promise<Comparison<SetupItem>> {
  const needed = [...placesOf(places)].map(([part, name]): NeededField => ({ part, name, ...types(part, grades) }));
  if (needed.length === 0) return { findings: [], missing: [] };
  return compareFields<SetupItem>(needed, await list(needed), {
    ...{ of, field, place, isMade: make !== undefined },
    missing: (one) => ({
      id: `${of}: ${one.name}`,
      what: `create the ${field} "${one.name}" of ${of} (${one.types[0]})`,
      make: async () => (await make?.(one)) ?? {},
    }),
    ...(extend && {
      lacking: (one, values) => ({
        id: `values of ${of}: ${one.name}`,
        what: `add ${values.join(', ')} to the ${field} "${one.name}" of ${of}`,
        make: () => extend(one, values),
      }),
    }),
  });
}

const remedy = 'Let "closeloop setup" put it right';

/** The webhooks that closeloop needs, compared with those that the account has. */
export async function comparedHooks<Hook, Wanted extends WantedHook>(
  { list, wanted, is, flaws, make }: DeskHooks<Hook, Wanted>,
  hookUrl: string,
): Promise<Comparison<SetupItem>> {
  const all = await list();
  const compared = wanted(hookUrl).map((one): Comparison<SetupItem> => {
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

/** `check` and `setup`. @param writeBack of the source's settings */
export function deskPreflight(
  vendor: string,
  writeBack: AnswerPlaces<string>,
  { credential, shape, probes: [first, ...others], fields, hooks, isStandin, own, steps }: DeskPreflight,
): Required<Pick<Source, 'check' | 'setup'>> {
  const none: Comparison<SetupItem> = { findings: [], missing: [] };
  const withFields = async (grades: readonly number[]) =>
    typeof fields === 'object' ? await comparedFields(fields, writeBack, grades) : ((await fields?.(grades)) ?? none);
  const withHooks = async (hookUrl: string | undefined) =>
    hookUrl === undefined ? none : ((await hooks?.(hookUrl)) ?? none);

  return {
    async check(about) {
      const { findings, probe } = vendorProber(credential);
      const plain = [
        ...(hooks === undefined ? [] : hookUrlFindings(vendor, about.hookUrl, isStandin)),
        ...unknownReads(vendor, shape.names, shape.hint, about.reads),
        ...(own?.(about) ?? []),
      ];
      const told: Finding[] = [];
      let isReached = false;
      const run = async (one: DeskProbe) =>
        await probe(one, async () => {
          if ('read' in one) told.push(...(await one.read(about)));
          else await one.tries();
          isReached = true;
        });
      await run(first);
      if (!isReached) return [...plain, ...findings];
      for (const one of others) await run(one);
      const compared = [
        await probe({ at: 'writeBack', what: 'the fields' }, () => withFields(about.grades)),
        await probe({ at: 'webhook', what: 'the webhooks' }, () => withHooks(about.hookUrl)),
      ];
      return [...plain, ...told, ...compared.flatMap((one) => one?.findings ?? []), ...findings];
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
