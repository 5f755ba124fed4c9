import type { Contact } from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import type { Erasure } from '../journey/erasures.ts';
import { refOf } from '../journey/refs.ts';
import { attempt } from '../pipeline/erase/erase.ts';
import type { EraseContext } from '../pipeline/erase/find.ts';
import { knownAtService, peopleNamed } from '../support/named-contacts.ts';
import {
  beginMasking,
  isNothing,
  nothingErased,
  nothingErasedWords,
  type PersonHere,
  personHere,
  takingErasures,
} from '../support/people.ts';
import { printFields, say } from './output.ts';
import { type CommandOptions, type Runtime, withoutTheErased } from './runtime.ts';
import { openAccount } from './service.ts';
import { withSources } from './with-engine.ts';

type Options = CommandOptions & { contact: string };
/** `as`: what the contact is; left out: whatever it may be. */
type ReadOptions = Options & { as?: Contact['kind'] };

/** What the service knows about each contact that the text may mean, and how the command prints that. */
async function atService(options: ReadOptions) {
  const { service, timeZone, defaultCountry } = await openAccount(options);
  const found = await knownAtService(options.contact, { as: options.as, defaultCountry }, service);
  if (found.length === 0) say('The service has no feedback request of this contact, or it was masked.');
  return { service, found, form: { ...options, timeZone } };
}

/** Prints what the service knows of a contact. Returns 1 when it knows nobody by this contact. */
export async function showContact(options: ReadOptions): Promise<number> {
  const { found, form } = await atService(options);
  for (const { record } of found) printFields(form, record);
  return found.length === 0 ? 1 : 0;
}

/** Prints what closeloop has stored of a person, as the page shows it. Returns 1 when there is nothing. */
export async function showStored(options: ReadOptions): Promise<number> {
  return await withSources({ ...options, reads: 'only' }, async ({ engine, runtime: { config } }) => {
    const { defaultCountry, feedback } = config;
    const sources = await engine.sources();
    const contacts = peopleNamed(options.contact, { as: options.as, defaultCountry });
    const about = { known: undefined, now: new Date() };
    const people = await Promise.all(contacts.map((contact) => personHere(contact, sources, about)));
    const known = people.filter((one) => !isNothing(one));
    const shown = known.length > 0 ? known : [people.find(({ isErased }) => isErased) ?? people[0]];
    for (const one of shown) if (one) printFields({ ...options, timeZone: feedback.timeZone }, shownPerson(one));
    if (known.length > 0) return 0;
    say('Nothing is stored of them here.');
    return 1;
  });
}

function shownPerson({ journeys, askedBy, values, addresses, asks, throttles, isErased }: PersonHere): object {
  return {
    journeys: journeys.map(({ journey: { id, state }, context }) => ({ journey: refOf(context.name, id), state })),
    otherAddresses: askedBy.map(({ value }) => value),
    values: Object.fromEntries([...values].map(([field, all]) => [field, [...all]])),
    linkedAddresses: addresses - 1,
    requests: asks,
    throttles,
    erased: isErased,
  };
}

/** Who has looked at a person's data, newest first. Returns 1 when the service knows nobody by this contact. */
export async function showAccessLog(options: ReadOptions): Promise<number> {
  const { service, found, form } = await atService(options);
  if (found.length === 0) return 1;
  let isEmpty = true;
  for (const { contact } of found) {
    for await (const entry of service.accessLog(contact)) {
      printFields(form, entry);
      isEmpty = false;
    }
  }
  if (isEmpty) say('The service knows of nobody who looked at the data of this contact.');
  return 0;
}

/**
 * Erases a person at once: masks the contact at the service, deletes it from every source here, and removes what was written on
 * records where the vendor allows it. Prints what was done, which is stored as proof. Can't be undone.
 * @returns 1 when nobody is known by this contact; 3 when the erasure is not complete yet: the workers continue it; 4 when
 * something could not be read
 */
export async function maskContact(options: Options & { yes: boolean }): Promise<number> {
  if (!options.yes) {
    throw refusal("Masking can't be undone. Say --yes to mask this contact at the service and forget it here.");
  }
  // Refuses an empty folder: nothing would be erased there, and the command would seem to have succeeded.
  return await withSources({ ...options, reads: true }, async ({ pipelines, runtime }) => {
    const context = takingErasures(pipelines());
    const id = await beginMasking(options.contact, 'asked for with "contact mask"', context);
    const code = await attemptNow(id, context, options.json);
    if (code === 3) return code;
    await forgetInFiles(runtime);
    const proof = await context.erasures.proof(id);
    if (proof && proof.mentions > 0) {
      say(
        `It stood in what events told of ${proof.mentions} records of other people, and was taken out there; nobody was erased by that.`,
      );
    }
    const nothing = proof && nothingErased(proof);
    if (code !== 0 || nothing === undefined) return code;
    say(nothingErasedWords[nothing]);
    return nothing === 'nobody known' ? 1 : 0;
  });
}

/** Deleted data stays in Redis' files until they are rewritten. */
async function forgetInFiles({ config, redis }: Runtime): Promise<void> {
  if (config.redis !== undefined || (await withoutTheErased(redis))) return;
  say(
    'The file of the embedded Redis could not be written anew now: what was erased is in it, sealed, until a worker (closeloop start) does so within the hour.',
  );
}

type TakesErasures = EraseContext & { timeZone: string };

/**
 * Makes one attempt at an erasure in this process and prints its result. @returns 0 when it is complete, 3 when it is not, 4 when
 * something could not be read
 */
async function attemptNow(id: string, context: TakesErasures, json: boolean): Promise<0 | 3 | 4> {
  const result = await attempt(id, context);
  if (result.do === 'done') {
    const proof = await context.erasures.proof(id);
    printFields({ json, timeZone: context.timeZone }, proof ?? {});
    const { unreadable = [] } = proof ?? {};
    if (unreadable.length === 0) return 0;
    say(
      `What could not be read was left out, and may still hold their data: ${unreadable.join('; ')}. Look at it in Redis, and remove it there.`,
    );
    return 4;
  }
  await context.queueErasure(id, result.delayMs);
  const erasure = await context.erasures.get(id);
  printFields({ json, timeZone: context.timeZone }, erasure ? shown(erasure, context.name) : {});
  say(
    `The erasure ${id} is not done yet. It is kept, and tried again by the workers (closeloop start), or now: closeloop contact erasures retry ${id}`,
  );
  return 3;
}

function shown({ everybody, ...erasure }: Erasure, source: string): object {
  return { ...erasure, source, ...(everybody && { everybody }) };
}

/** Lists erasures that are not complete yet, with the reason. `status --json` has the complete ones. */
export async function listErasures(options: CommandOptions & { source?: string; subjects: boolean }): Promise<number> {
  return await withSources({ ...options, reads: true }, async ({ pipelines }) => {
    let isEmpty = true;
    for (const { context } of pipelines(options.source)) {
      for (const erasure of await context.erasures.open()) {
        isEmpty = false;
        const subjects = await context.erasures.subjects(erasure.id);
        const contacts = subjects.filter((one) => one.kind === 'contact');
        const masked = contacts.filter(({ done }) => done).length;
        const counts = { contacts: contacts.length, masked };
        const more = { ...counts, ...(options.subjects && { subjects }) };
        printFields({ ...options, timeZone: context.timeZone }, { ...shown(erasure, context.name), ...more });
      }
    }
    if (isEmpty) say('Every erasure that was asked for is done.');
    return 0;
  });
}

/**
 * Attempts incomplete erasures again: the one named, or all. Returns 3 when any is still incomplete, else 4 when something could not be
 * read.
 */
export async function retryErasures(options: CommandOptions & { source?: string; erasure?: string }): Promise<number> {
  return await withSources({ ...options, reads: true }, async ({ pipelines, runtime }) => {
    const found: { id: string; context: TakesErasures }[] = [];
    for (const { context } of pipelines(options.source)) {
      for (const { id } of await context.erasures.open()) found.push({ id, context });
    }
    const wanted = options.erasure === undefined ? found : found.filter(({ id }) => id === options.erasure);
    if (wanted.length === 0) {
      const what = options.erasure === undefined ? 'No erasure waits' : `No erasure ${options.erasure} waits`;
      say(`${what}: every one that was asked for is done.`);
      return options.erasure === undefined ? 0 : 1;
    }
    const codes: number[] = [];
    for (const { id, context } of wanted) codes.push(await attemptNow(id, context, options.json));
    await forgetInFiles(runtime);
    return codes.includes(3) ? 3 : Math.max(...codes);
  });
}
