import type { CloseloopError } from '../../errors.ts';
import { keepHere, takesAnswers } from '../answer.ts';
import type { Delivery, Events, PresentedRecord, Source } from '../contract.ts';
import { customerOf, type ToldCustomer } from '../customer.ts';
import { noEvent } from '../delivery.ts';
import { jsonBody } from '../json-body.ts';
import { numbered } from '../record-name.ts';
import { type HmacScheme, verifyHmac, verifySecretHeader } from '../signature.ts';
import { type DeskAction, deskActor } from './act.ts';
import { type DeskPreflight, deskPreflight } from './preflight.ts';
import { isFailure, type RowReading, rowsOf } from './rows.ts';
import { deskWriter } from './write.ts';
import type { DeskWriting } from './writing.ts';

/*
 * A desk: a source that is declared by its calls and its tables. This folder does what all vendors have in common: it checks which ids are
 * readable, what of an answer to send and to report, and what check and setup compare. Any part may be a function of its own (`own`), while
 * the rest stays declared.
 */

/** How a delivery proves its sender: by a signature, or by a secret in a header where the vendor signs nothing. */
export interface DeskIntake {
  secrets: readonly string[];
  proof: HmacScheme | { secretIn: string };
  /**
   * Set for a vendor that switches off a webhook whose deliveries are refused: closeloop accepts a delivery that is no JSON, and reports this
   * text, which says what a person has to do. Left out: such a delivery is refused.
   */
  unreadable?: string;
  /** Reads the events of a delivery. A promise only where expressions of the configuration are evaluated. @param body the delivery's JSON */
  events(body: unknown, delivery: Delivery): Events | Promise<Events>;
}

type Presented<Shape extends object> = Pick<PresentedRecord<Shape>, 'state' | 'shape'> &
  ToldCustomer & {
    /** The id of the record that this record was merged into. */
    currentId?: string;
  };

export interface DeskReading<Row, Shape extends object> extends RowReading<Row> {
  /**
   * Reads once what several records share (agents, groups, customers). The function that it returns gives each record as rules see it, or why
   * the record can't be read completely. Called with at least one row.
   */
  present(rows: readonly Row[]): Promise<(row: Row) => Presented<Shape> | CloseloopError>;
}

/** `Target`: the parts of a record that writing needs, where these are fewer than rules need. */
export interface Desk<Row extends Target, Shape extends object, Value, Target> {
  /** The vendor's name in messages: 'Freshdesk'. */
  vendor: string;
  /** The word for a record: 'ticket'. */
  record: string;
  /** Left out: the vendor delivers nothing, and the poll finds every closing. */
  intake?: DeskIntake;
  read: DeskReading<Row, Shape>;
  /** `pollWindow`, `createSweep`, or a function of its own. */
  poll?: Source['poll'];
  /** Only `settings` where functions in `own` write, forget and act. */
  write: DeskWriting<Target, Value> | Pick<DeskWriting<Target, Value>, 'settings'>;
  preflight?: DeskPreflight;
  /** Further actions beside `note`, `tag` and `set`, by name, as `defineConnector` declares them. */
  actions?: Readonly<Record<string, DeskAction<Target>>>;
  /** The other members of the source, and functions that replace declared parts. */
  own?: Partial<Source<Shape>>;
}

/** The source of a declared desk. */
export function desk<Row extends Target, Shape extends object, Value, Target>(
  declared: Desk<Row, Shape, Value, Target>,
): Source<Shape> {
  const { vendor, intake, read, poll, write, preflight, actions = {}, own } = declared;
  const { isId, size = 100 } = read;
  if (read.one === undefined && read.many === undefined) throw new Error('its `read` has neither `one` nor `many`');
  const { settings } = write;
  const written = 'at' in write ? { ...write, rows: write.rows ?? read } : undefined;
  const { writeBack = keepHere, forget } = written ? deskWriter(declared, written) : {};
  // Actions read records in the same way as rules, because an action compares the record's closing with the closing that rules have seen.
  const { acts, ...actor } = deskActor(declared, read, written ?? {}, actions, fieldsIn(preflight));
  return {
    batchSize: size,
    taken: { status: 202 },
    recordNames: numbered(isId),
    recordNoun: declared.record,
    writesNoAnswer: settings.noAnswer ?? false,
    surveyQuestions: Object.keys(settings.answers ?? {}),
    ...intakeOf(intake),
    read: readerOf(read),
    writeBack: takesAnswers(settings) ? writeBack : keepHere,
    ...(forget && { forget }),
    ...actor,
    // What an `act` of the connector's own does is not known here.
    ...(own?.act === undefined && { acts }),
    ...(poll && { poll }),
    ...(preflight && deskPreflight(vendor, settings, preflight, intake !== undefined)),
    ...own,
  };
}

/** The fields that `set` can name, if the desk lists its fields. */
const fieldsIn = (preflight: DeskPreflight | undefined) =>
  typeof preflight?.fields === 'object' ? { fields: preflight.fields } : {};

function intakeOf(intake: DeskIntake | undefined): Pick<Source, 'verify' | 'events' | 'isPolled'> {
  if (intake === undefined)
    return {
      isPolled: true,
      verify: () => ({ ok: false, why: 'unsigned' }),
      events: () => ({ ok: false, why: 'nothing is delivered to this source' }),
    };
  const { secrets, proof, unreadable, events } = intake;
  return {
    verify: (delivery) =>
      'secretIn' in proof
        ? verifySecretHeader(delivery, secrets, proof.secretIn)
        : verifyHmac(delivery, secrets, proof),
    events(delivery) {
      const body = jsonBody(delivery.raw);
      if (body !== undefined) return events(body, delivery);
      return unreadable === undefined
        ? { ok: false, why: 'no JSON' }
        : noEvent('an unreadable delivery', `not JSON: ${unreadable}`, true);
    },
  };
}

function readerOf<Row, Shape extends object>(reading: DeskReading<Row, Shape>): Source<Shape>['read'] {
  return async (recordIds, since) => {
    const rows = await rowsOf(reading, recordIds, since);
    const read = [...rows.values()].flatMap((row) => (isFailure(row) ? [] : [row]));
    const presented = read.length === 0 ? undefined : await reading.present(read);
    return recordIds.map((id) => {
      const row = rows.get(id);
      if (isFailure(row)) return { ok: false, why: 'error', error: row };
      if (row === undefined || presented === undefined) return { ok: false, why: 'not-found' };
      const record = presented(row);
      if (isFailure(record)) return { ok: false, why: 'error', error: record };
      const { state, shape, currentId = id, ...told } = record;
      return { ok: true, record: { id, currentId, state, shape, ...customerOf(told) } };
    });
  };
}
