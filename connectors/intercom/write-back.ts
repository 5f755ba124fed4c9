import { notOverNewer, placesOf } from '../../core/connector/answer.ts';
import { writeInBatches, writeInTurn } from '../../core/connector/batches.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { holds, holdsLater, type Values, wantedOf } from './answer.ts';
import type { Workspace } from './api.ts';
import { unfitReader } from './attributes.ts';
import { Conversation } from './conversation.ts';
import { openPlaces, type Place } from './place.ts';
import { batchSize, conversationNow, isId, searchByIds } from './read.ts';
import type { IntercomSettings } from './settings.ts';

/** One call per answer, and one per note: Intercom has no bulk writes. */
export function writer(
  settings: IntercomSettings,
  workspace: Workspace,
  ports: Pick<ConnectorPorts, 'now'>,
): Source['writeBack'] {
  const { writeBack } = settings;
  const unfitFor = unfitReader(settings, workspace, ports);
  const { placeOf, change, addNote, hasNote } = openPlaces(settings, workspace);

  async function write(item: WriteBack, found: Conversation | undefined): Promise<WriteResult> {
    const place = isId(item.recordId) ? await placeOf(item.recordId, found) : undefined;
    if (place === undefined) return notFound(item);
    if (holdsLater(item, place.current, writeBack)) return notOverNewer('conversation');
    const wanted = wantedOf(item, writeBack);
    const changes = new Map([...wanted].filter(([name, value]) => !holds(place.current, name, value)));
    const findings = changes.size > 0 ? await put(place, changes) : [];
    if (!writeBack.note || item.status === 'no-answer') return { ok: true, findings };
    // The note comes last, as it can't be written twice: it is looked for where an earlier attempt may have written it.
    const isFirst = wanted.size > 0 && changes.size === wanted.size && findings.length === 0;
    if (isFirst || !(await hasNote(place, item))) await addNote(place, item);
    return { ok: true, findings };
  }

  /** Returns findings for what the record does not hold then. A value that does not fit into its attribute keeps out no other. */
  async function put(place: Place, changes: Values): Promise<string[]> {
    try {
      const after = await change(place, Object.fromEntries(changes));
      const lost = [...changes].filter(([name, value]) => !holds(after, name, value));
      return lost.map(([name]) => `Intercom did not keep "${name}": look at the type of this attribute`);
    } catch (error) {
      if (!(error instanceof VendorError && (error.code === 'parameter_invalid' || error.status === 422))) throw error;
      const { unfit, findings, isOfAll } = await unfitFor(place.ticket?.ticket_type.name, changes);
      if (isOfAll) throw error;
      if (unfit.size === 0) throw refused(place, error);
      const rest = new Map([...changes].filter(([name]) => !unfit.has(name)));
      return [...findings, ...(rest.size > 0 ? await put(place, rest) : [])];
    }
  }

  return (items) =>
    writeInBatches(items, batchSize, async (batch) => {
      const ids = batch.map(({ recordId }) => recordId);
      const found = await searchByIds(workspace, 'conversations', ids, Conversation);
      return await writeInTurn(batch, (item) => write(item, found.get(item.recordId)), notFound);
    });
}

/** Its attributes are there and fit: the refusal concerns this conversation alone. */
function refused({ id }: Place, { message }: VendorError): CloseloopError {
  const said = `${message} The attributes are there and fit: look at conversation ${id} itself.`;
  return new CloseloopError(said, { kind: 'permanent' });
}

const notFound = ({ recordId }: WriteBack): WriteResult => {
  const id = isId(recordId) ? ` ${recordId}` : '';
  return { ok: false, why: 'not-found', message: `Intercom has no conversation${id} any more.` };
};

/** Empties the attributes, and redacts the notes. */
export function forgetter(settings: IntercomSettings, workspace: Workspace): NonNullable<Source['forget']> {
  const { placeOf, change, redactNotes } = openPlaces(settings, workspace);
  const names = [...placesOf(settings.writeBack).values()];

  return async (recordIds) => {
    const left: string[] = [];
    for (const id of new Set(recordIds.filter(isId))) {
      const conversation = await conversationNow(workspace, id);
      const place = conversation && (await placeOf(id, conversation));
      if (conversation === undefined || place === undefined) continue;
      const full = names.filter((name) => !holds(place.current, name, null));
      const after = full.length > 0 ? await change(place, Object.fromEntries(full.map((name) => [name, null]))) : {};
      const still = full.filter((name) => !holds(after, name, null));
      left.push(...still.map((name) => `"${name}" of conversation ${id}: empty it by hand`));
      if (full.length > 0) left.push(`the history of conversation ${id}, which names the attributes that were set`);
      await redactNotes(conversation);
    }
    return left;
  };
}
