import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { BuiltIn } from '../../core/connector/built-in.ts';
import {
  type ActionRequest,
  type ActionResult,
  type Actions,
  type Connector,
  defineConnector,
  type PollPage,
  type ReadResult,
  type RecordState,
  type Source,
  type SourceEvent,
  type WriteBack,
  type WriteResult,
} from '../../core/connector/contract.ts';
import type { RecordParts } from '../../core/connector/record-parts.ts';

/** A record of the toy vendor. */
export interface ToyRecord {
  id: string;
  state: RecordState;
  customer: { email?: string; phone?: string; name?: string };
  store?: string;
  timeZone?: string;
  country?: string;
  locale?: string;
  personId?: string;
  /** It was merged into this one, and is read as it. */
  currentId?: string;
}

/** A vendor without a network: records in a map, every call counted, failures on order. */
export class ToyVendor {
  readonly records = new Map<string, ToyRecord>();
  readonly written: WriteBack[] = [];
  surveyQuestions: string[] | undefined;
  recordNames: Source['recordNames'];
  mayNamePerson: Source['mayNamePerson'];
  vendorIds: Source['vendorIds'];
  recordUrl: Source['recordUrl'];
  /** What the next writes come to, first to last; then all is taken. */
  readonly results: WriteResult[] = [];
  readonly calls: { what: string; size: number }[] = [];
  /** Thrown by the next calls of that kind, first to last. */
  readonly failures: { read: Error[]; writeBack: Error[]; forget: Error[] } = { read: [], writeBack: [], forget: [] };
  /** Records whose answers were taken off again; `undefined`: this vendor can't do that. */
  forgotten: string[] | undefined = [];
  /** What it can't take off. */
  keeps: string[] = [];
  /** What can be done on its records. */
  actions: Actions | undefined;
  /** What was done, and, thrown or given, what the next actions come to. */
  readonly acted: ActionRequest[] = [];
  readonly actResults: (ActionResult | Error)[] = [];
  /** Called when an action begins. The action's result waits for it, as at a slow vendor. */
  beforeActed: (() => Promise<void>) | undefined;
  /** Runs before each write of grades, which waits for it: a slow vendor. */
  beforeWriteBack: ((items: readonly WriteBack[]) => Promise<void>) | undefined;
  /** What a poll finds, page by page; `undefined`: this vendor can't be polled. */
  pages: ((from: { cursor: string } | { since: Date }) => Promise<PollPage>) | undefined;
  /** Undefined: it can't tell. */
  account: string | undefined;
  /** Where its records hold parts that searches ask for; undefined: it can't say. */
  parts: RecordParts | undefined;
  writesNoAnswer = false;
  bringsExternalGrades = false;
  check: Source['check'];
  setup: Source['setup'];
  /** How late it may carry out a write that was given up. */
  lateWriteMs = 20;
  recover: Source['recover'];

  close(id: string, more: Partial<ToyRecord> = {}): { delivery: string; at: Date } {
    const at = new Date();
    this.records.set(id, {
      id,
      state: { is: 'closed', closing: at.toISOString(), closedAt: at },
      customer: { email: `${id}@example.com` },
      store: 'Tallinn',
      ...more,
    });
    return { delivery: this.delivery([{ kind: 'closed', id, at }]), at };
  }

  delivery(events: { kind: 'closed' | 'changed'; id: string; at: Date; key?: string; mergedInto?: string }[]): string {
    return JSON.stringify(events);
  }

  /** As commands are given it. */
  get builtIn(): BuiltIn {
    return { name: 'toy', load: async () => this.connector };
  }

  get connector(): Connector {
    const { account } = this;
    return defineConnector({
      name: 'toy',
      settings: z.strictObject({ secret: z.string().min(1) }),
      ...(this.parts && { parts: this.parts }),
      ...(account !== undefined && { account: () => account }),
      ...(this.actions && { actions: this.actions }),
      open: ({ secret }) => ({
        verify: ({ headers }) => {
          const given = headers['x-toy-secret'];
          if (given === undefined) return { ok: false, why: 'unsigned' };
          return given === secret ? { ok: true } : { ok: false, why: 'mismatch' };
        },
        events: async ({ raw }) => {
          const plain = Plain.safeParse(parse(raw));
          if (plain.success) {
            const key = createHash('sha256').update(raw).digest('hex');
            const events = plain.data.plain.map(
              (event) => ({ key, what: `toy ${event.kind}`, ...event }) as SourceEvent,
            );
            return { ok: true, events, ignored: [] };
          }
          const parsed = Delivered.safeParse(parse(raw));
          if (!parsed.success) return { ok: false, why: 'not a list of events' };
          const events = parsed.data.map(({ kind, id, at, key, mergedInto }) => ({
            ...(mergedInto === undefined ? {} : { mergedInto }),
            kind,
            recordId: id,
            at,
            key: key ?? createHash('sha256').update(`${kind}${id}${at.toISOString()}`).digest('hex'),
            what: `toy ${kind}`,
          }));
          return { ok: true, events, ignored: [] };
        },
        read: async (ids) => {
          this.calls.push({ what: 'read', size: ids.length });
          const failure = this.failures.read.shift();
          if (failure) throw failure;
          return ids.map((id): ReadResult => {
            const record = this.records.get(id);
            if (!record) return { ok: false, why: 'not-found' };
            const { timeZone, country, locale, customer, store, personId } = record;
            const { state } = record;
            const shape = { ticket: { id, store: store ?? null }, customer };
            return {
              ok: true,
              record: {
                id,
                currentId: record.currentId ?? id,
                state,
                shape,
                ...(timeZone === undefined ? {} : { timeZone }),
                ...(country === undefined ? {} : { country }),
                ...(locale === undefined ? {} : { locale }),
                ...(personId === undefined ? {} : { personId }),
              },
            };
          });
        },
        writeBack: async (items) => {
          this.calls.push({ what: 'writeBack', size: items.length });
          const failure = this.failures.writeBack.shift();
          if (failure) throw failure;
          await this.beforeWriteBack?.(items);
          this.written.push(...items);
          return items.map((): WriteResult => this.results.shift() ?? { ok: true, findings: [] });
        },
        ...(this.actions && {
          act: async (requests) => {
            this.acted.push(...requests);
            await this.beforeActed?.();
            return requests.map(({ name }): ActionResult => {
              const result = this.actResults.shift() ?? { ok: true, done: `${name} done` };
              return result instanceof Error ? { ok: false, why: 'error', error: result } : result;
            });
          },
        }),
        ...(this.forgotten && {
          forget: async (ids) => {
            this.calls.push({ what: 'forget', size: ids.length });
            const failure = this.failures.forget.shift();
            if (failure) throw failure;
            this.forgotten?.push(...ids);
            return this.keeps;
          },
        }),
        ...(this.pages ? { poll: (from) => this.pages?.(from) ?? Promise.reject(new Error('no pages')) } : {}),
        ...(this.check ? { check: this.check } : {}),
        ...(this.setup ? { setup: this.setup } : {}),
        ...(this.mayNamePerson && { mayNamePerson: this.mayNamePerson }),
        ...(this.vendorIds && { vendorIds: this.vendorIds }),
        ...(this.recordUrl && { recordUrl: this.recordUrl }),
        ...(this.recover ? { recover: this.recover } : {}),
        ...(this.recordNames && { recordNames: this.recordNames }),
        ...(this.surveyQuestions && { surveyQuestions: this.surveyQuestions }),
        writesNoAnswer: this.writesNoAnswer,
        bringsExternalGrades: this.bringsExternalGrades,
        lateWriteMs: this.lateWriteMs,
        batchSize: 100,
        taken: { status: 202 },
      }),
    });
  }
}

const Delivered = z.array(
  z.object({
    kind: z.enum(['closed', 'changed']),
    id: z.string(),
    at: z.coerce.date(),
    key: z.string().optional(),
    mergedInto: z.string().optional(),
  }),
);
/** Events as the contract has them, for what a toy has no words of its own. */
const Plain = z.strictObject({
  plain: z.array(
    z.looseObject({ at: z.coerce.date(), kind: z.enum(['erase', 'external-grade', 'survey', 'revoked']) }),
  ),
});

function parse(raw: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw));
  } catch {
    return undefined;
  }
}
