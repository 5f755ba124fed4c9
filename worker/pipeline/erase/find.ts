import type { Source } from '../../../core/connector/contract.ts';
import { type Contact, contactKey } from '../../../core/contact.ts';
import { ExpressionSetAside } from '../../../core/mapping/expression-failure.ts';
import type { Ports } from '../../../core/ports.ts';
import { spread } from '../../../core/spread.ts';
import { type Erasure, keysOf, nameOf, type Subject, type SubjectOf } from '../../journey/erasures.ts';
import type { Journey } from '../../journey/journey.ts';
import { recordOf, refOf } from '../../journey/refs.ts';
import { isUnreadable } from '../../journey/stored-journey.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import { elsewhere, identityKeys, identityKeysOf } from '../erasure-guard.ts';
import type { PlanJob } from '../jobs.ts';
import { customersIn, type Part, partIn, personIn, subjectOf, type WantedPeople } from '../people-in-snapshot.ts';
import type { StoredSource } from '../policy/known-as.ts';
import type { Policy } from '../policy/source-policy.ts';
import type { Queues } from '../queues.ts';
import type { Journeys } from '../source-store.ts';
import type { WithdrawContext } from '../withdraw.ts';

/** The parts that erasing needs of a source: of the source through which the request came, and of each source that is searched. */
export interface EraseContext
  extends WithdrawContext,
    StoredSource,
    Journeys,
    Pick<Queues, 'changeEvents' | 'queueErasure'>,
    Pick<Policy, 'keepMs' | 'customerContacts' | 'defaultCountry'> {
  source: Source;
  ports: Pick<Ports, 'now'>;
  alert: AlertOfSource;
  sources(): Promise<EraseContext[]>;
}

/**
 * Finds the data of the erasure's subjects in all sources, and further subjects of the same person: by the contact that a journey
 * asked, the vendor's id of the person, the snapshot of a record. Each subject is stored with the erasure and noted as erased before
 * the next search, so that data saved meanwhile is found by the search, or finds the note.
 */
export async function findAll(erasure: Erasure, context: EraseContext): Promise<ErasureFindings> {
  const search = new ErasureFindings(erasure, context);
  const stored = new Set(await context.erasures.subjects(erasure.id));
  for await (const subject of spread(stored)) search.add([subject]);
  if (erasure.everybody) await search.everybody();
  for (let fresh = search.take(); fresh.length > 0; fresh = search.take()) {
    const added = fresh.filter((subject) => !stored.has(subject));
    await context.erasures.change(erasure.id, added);
    const sources = await context.sources();
    search.add(elsewhere(fresh, sources));
    for (const of of sources) await search.searchIn(of, fresh);
  }
  await context.erasures.countJourneys(erasure.id, [...search.journeys.keys()]);
  return search;
}

/** The data that one attempt has to erase. All subjects are stored with the erasure before anything is erased. */
export class ErasureFindings {
  /** Data that came in after this instant stays. */
  readonly until: Date;
  readonly contacts = new Map<string, SubjectOf<'contact'>>();
  /** The person's journeys that are not erased yet. */
  readonly journeys = new Map<string, { journey: Journey; of: EraseContext }>();
  /** Snapshots to erase, with the keys of their contacts. */
  readonly snapshots = new Map<string, { recordId: string; of: EraseContext; contacts: string[] }>();
  /** Snapshots of other people's records that mention a contact of the person. */
  readonly mentions = new Map<string, { recordId: string; of: EraseContext }>();
  /** Journeys and jobs that can't be read. */
  readonly unreadable = new Set<string>();
  readonly #everybody: string | undefined;
  readonly #here: EraseContext;
  readonly #known = new Set<string>();
  /** The contact's key by the key of each of its forms. */
  readonly #contacts = new Map<string, string>();
  readonly #requests = new Set<string>();
  #fresh: Subject[] = [];

  constructor({ everybody, receivedAt }: Erasure, here: EraseContext) {
    const now = here.ports.now();
    this.until = now > receivedAt ? now : receivedAt;
    this.#everybody = everybody ? here.storedAs : undefined;
    this.#here = here;
  }

  /** Takes the subjects for which closeloop has not searched yet. */
  take(): Subject[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  add(subjects: readonly Subject[]): void {
    for (const subject of subjects) {
      if (subject.kind === 'contact') {
        this.#addContact(subject);
        continue;
      }
      const name = nameOf(subject);
      if (!this.#known.has(name)) this.#fresh.push(subject);
      this.#known.add(name);
    }
  }

  #addContact(contact: SubjectOf<'contact'>): void {
    const known = keysOf(contact).flatMap((key) => this.#contacts.get(key) ?? [])[0] ?? contact.key;
    const news = withForms(this.contacts.get(known), contact);
    if (news === undefined) return;
    this.contacts.set(news.key, news);
    for (const key of keysOf(news)) this.#contacts.set(key, news.key);
    this.#fresh.push(news);
  }

  hasContact(key: string): boolean {
    return this.#contacts.has(key);
  }

  async everybody(): Promise<void> {
    const { store, erasures, keepMs } = this.#here;
    await erasures.forgotten.note([identityKeys.everybody], this.until, keepMs);
    for await (const journey of store.queries.all((id) => this.#left(id, this.#here)))
      this.#addJourney(journey, this.#here);
    await this.#searchSnapshots(this.#here, []);
  }

  async searchIn(of: EraseContext, fresh: readonly Subject[]): Promise<void> {
    const keys: string[] = [];
    for await (const subject of spread(fresh)) keys.push(...identityKeysOf([subject], of));
    await of.erasures.forgotten.note(keys, this.until, of.keepMs);
    for (const subject of fresh) {
      for (const journey of await this.#journeysOf(subject, of)) this.#addJourney(journey, of);
      const isItsRecord = (subject.kind === 'record' || subject.kind === 'snapshot') && subject.source === of.storedAs;
      if (isItsRecord)
        await this.#addSnapshot(subject.id, await this.#snapshotOf(subject.id, of, { isTheirs: true }), of);
    }
    await this.#searchSnapshots(of, fresh);
  }

  /** How an event concerns the people to erase. */
  async partIn(event: PlanJob, of: EraseContext): Promise<Part> {
    if (event.receivedAt > this.until || event.kind === 'revoked') return 'none';
    if (of.storedAs === this.#everybody) return 'theirs';
    if (event.kind === 'survey') return (await this.#isTheirs(event.requestId)) ? 'theirs' : 'none';
    const isKnown = (['record', 'snapshot'] as const).some((kind) => this.#has(kind, of, event.recordId));
    if (isKnown) return 'theirs';
    const isPerson = (id: string) => this.#has('person', of, id);
    const sought = { isPerson, isContact: (key: string) => this.hasContact(key) };
    return event.snapshot ? await this.#partIn(event.snapshot, event.recordId, of, sought) : 'none';
  }

  async #journeysOf(subject: Subject, of: EraseContext): Promise<Journey[]> {
    const left = (id: string) => this.#left(id, of);
    if (subject.kind === 'contact') {
      const forms = new Map(subject.forms.map((contact) => [contactKey(contact), contact]));
      const found = await Promise.all(
        [...forms.values()].map((contact) => of.store.queries.knownBy({ contact }, left)),
      );
      // Several people may have the same address (the number of an office): the address means the person who was asked there, or the
      // customer of whom nothing else is known.
      return found.flat().filter(({ contact, personId }) => {
        return contact ? forms.has(contactKey(contact)) : personId === undefined;
      });
    }
    if (subject.source !== of.storedAs) return [];
    if (subject.kind === 'person') return await of.store.queries.of({ personId: subject.id }, left);
    return subject.kind === 'record' ? await of.store.records.journeysOf(subject.id, left) : [];
  }

  #addJourney(journey: Journey, of: EraseContext): void {
    if (journey.erasedAt) return;
    this.journeys.set(refOf(of.storedAs, journey.id), { journey, of });
    const { contact, personId, recordId, requestId } = journey;
    if (requestId !== undefined) this.#requests.add(requestId);
    const subject = contact && subjectOf(contact.value, of);
    if (subject) this.add([subject]);
    // An erasure of everybody finds all journeys and snapshots without further subjects.
    if (of.storedAs === this.#everybody) return;
    this.add([
      ...(personId === undefined ? [] : [{ kind: 'person' as const, source: of.storedAs, id: personId }]),
      { kind: 'snapshot', source: of.storedAs, id: recordId },
    ]);
  }

  async #addSnapshot(recordId: string, snapshot: unknown, of: EraseContext): Promise<void> {
    if (snapshot === undefined) return;
    const leads = await this.#leadsIn(snapshot, recordId, of);
    const personId = personIn(snapshot);
    this.snapshots.set(refOf(of.storedAs, recordId), { recordId, of, contacts: leads.map(({ key }) => key) });
    this.add([
      ...leads,
      ...(personId === undefined ? [] : [{ kind: 'person' as const, source: of.storedAs, id: personId }]),
    ]);
  }

  /** Searches snapshots in events that wait to be planned, then the stored snapshots. In this order, as planning stores the snapshots of events. */
  async #searchSnapshots(of: EraseContext, fresh: readonly Subject[]): Promise<void> {
    const isEverybody = of.storedAs === this.#everybody;
    const sought = await soughtBy(fresh, of);
    const addPart = async (recordId: string, snapshot: unknown) => {
      const part = isEverybody ? 'theirs' : await this.#partIn(snapshot, recordId, of, sought);
      if (part === 'theirs') await this.#addRecord(recordId, snapshot, of);
      if (part === 'mention') this.#addMention(recordId, of);
    };
    const waiting: { recordId: string; snapshot?: unknown }[] = [];
    const unread = await of.changeEvents((event) => {
      if ('recordId' in event && event.snapshot && event.receivedAt <= this.until) waiting.push(event);
      return undefined;
    });
    for (const id of unread) this.unreadable.add(`job ${id} of stage plan of ${of.name}`);
    for (const { recordId, snapshot } of waiting) await addPart(recordId, snapshot);
    if (!(await of.snapshots.isUsed())) return;
    const seen = new Set<string>();
    for await (const recordId of recordsOf(of)) {
      if (seen.has(recordId)) continue;
      seen.add(recordId);
      const snapshot = await this.#snapshotOf(recordId, of, { isTheirs: isEverybody });
      if (snapshot !== undefined) await addPart(recordId, snapshot);
    }
  }

  /** Whether the request belongs to the person, or to a person who was erased before, so that no journey identifies them any more. */
  async #isTheirs(requestId: string): Promise<boolean> {
    if (this.#requests.has(requestId)) return true;
    for (const of of await this.#here.sources()) {
      const [id] = await of.store.requests.journeyIdsOf([requestId]);
      const journeys = id === undefined ? [] : await of.store.records.journeysOf(recordOf(id), () => undefined);
      if (journeys.some((journey) => journey.id === id && journey.erasedAt)) return true;
    }
    return false;
  }

  #addMention(recordId: string, of: EraseContext): void {
    this.mentions.set(refOf(of.storedAs, recordId), { recordId, of });
    this.add([{ kind: 'mention', source: of.storedAs, id: recordId }]);
  }

  async #partIn(snapshot: unknown, recordId: string, of: EraseContext, sought: WantedPeople): Promise<Part> {
    return await this.#decided(partIn(snapshot, sought, of), 'none', recordId, of);
  }

  async #leadsIn(snapshot: unknown, recordId: string, of: EraseContext): Promise<SubjectOf<'contact'>[]> {
    return (await this.#decided(customersIn(snapshot, of), { leads: [], keys: [] }, recordId, of)).leads;
  }

  /** Skips a record whose customer can't be determined because an expression was stopped, and alerts a person. */
  async #decided<T>(work: Promise<T>, otherwise: T, recordId: string, of: EraseContext): Promise<T> {
    return await work.catch((error: unknown) => {
      if (!(error instanceof ExpressionSetAside)) throw error;
      this.unreadable.add(
        `the snapshot of ${refOf(of.name, recordId)}, over which an expression of a rule was stopped`,
      );
      return otherwise;
    });
  }

  /** An unreadable snapshot does not stop the search; the snapshot of a subject's record is erased all the same. */
  async #snapshotOf(recordId: string, of: EraseContext, { isTheirs }: { isTheirs: boolean }): Promise<unknown> {
    try {
      return (await of.snapshots.of([recordId]))[0];
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      const ref = refOf(of.storedAs, recordId);
      if (isTheirs) this.snapshots.set(ref, { recordId, of, contacts: [] });
      else this.unreadable.add(`the snapshot of ${ref}`);
      return undefined;
    }
  }

  async #addRecord(recordId: string, snapshot: unknown, of: EraseContext): Promise<void> {
    this.add([{ kind: 'record', source: of.storedAs, id: recordId }]);
    await this.#addSnapshot(recordId, snapshot, of);
  }

  #has(kind: 'record' | 'snapshot' | 'person', of: EraseContext, id: string): boolean {
    return this.#known.has(nameOf({ kind, source: of.storedAs, id }));
  }

  #left(id: string, of: EraseContext): void {
    this.unreadable.add(refOf(of.name, id));
  }
}

async function soughtBy(subjects: readonly Subject[], of: EraseContext): Promise<WantedPeople> {
  const keys = new Set<string>();
  const people = new Set<string>();
  for await (const one of spread(subjects)) {
    if (one.kind === 'contact') for (const key of keysOf(one)) keys.add(key);
    if (one.kind === 'person' && one.source === of.storedAs) people.add(one.id);
  }
  return { isPerson: (id) => people.has(id), isContact: (key) => keys.has(key) };
}

/** The contact with the forms of both, unmasked where a form is new; undefined where no form is new. */
function withForms(
  known: SubjectOf<'contact'> | undefined,
  found: SubjectOf<'contact'>,
): SubjectOf<'contact'> | undefined {
  if (known === undefined) return found;
  const isKnown = (form: Contact) => known.forms.some(({ value }) => value.toLowerCase() === form.value.toLowerCase());
  const news = found.forms.filter((form) => !isKnown(form));
  return news.length === 0 ? undefined : { ...known, done: false, forms: [...known.forms, ...news] };
}

/** Records with a journey, readable or not, and records with a snapshot but no journey yet. Some records are listed twice. */
async function* recordsOf(of: EraseContext): AsyncGenerator<string> {
  const unread: string[] = [];
  for await (const { recordId } of of.store.queries.all((id) => unread.push(id))) yield recordId;
  for (const id of unread) yield recordOf(id);
  yield* of.snapshots.alone();
}
