import { z } from 'zod';
import { cached } from '../../core/connector/cached.ts';
import { aboutRecords } from '../../core/connector/calls.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { holdsNewer, missing, notTaken, type Values, wantedFields } from './answer.ts';
import type { ZendeskApi } from './api.ts';
import { cacheMs, objectFields } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { objectField, refuseRetired, resolveObjectFields, type Targets, writableTargets } from './targets.ts';
import { fieldValueOf } from './ticket.ts';

const RecordOfObject = z.object({
  external_id: z.string().nullish(),
  custom_object_fields: z.record(z.string(), z.unknown()).default({}),
});
type RecordOfObject = z.output<typeof RecordOfObject>;
const One = z.object({ custom_object_record: RecordOfObject });
const Many = z.object({ custom_object_records: listOf(RecordOfObject) });

/** Writes answers on records of the custom object, one per ticket. One result per answer, in order; at most 100. */
type WriteRecords = (items: readonly WriteBack[]) => Promise<WriteResult[]>;

export function recordWriter(
  { subdomain, writeBack }: Pick<ZendeskSettings, 'subdomain' | 'writeBack'>,
  api: ZendeskApi,
  ports: Pick<ConnectorPorts, 'now'>,
): WriteRecords {
  const { object = '', ticket } = writeBack.customObject ?? {};
  const records = `/api/v2/custom_objects/${object}/records`;
  const catalogue = cached(() => objectFields(api, object).catch(explained), cacheMs, ports.now);

  function explained(error: unknown): never {
    if (!(error instanceof VendorError) || error.status !== 404) throw error;
    throw new CloseloopError(
      `Zendesk ${subdomain}: writeBack.customObject: there is no custom object "${object}"; let "closeloop setup" create it, or take its key from Admin Center > Objects and rules > Custom objects.`,
      { kind: 'config' },
    );
  }

  async function write(item: WriteBack, current: RecordOfObject | undefined, targets: Targets): Promise<WriteResult> {
    if (holdsNewer(item, targets, valuesOf(current))) return { ok: true, findings: [] };
    const { fields: wanted, unfit } = wantedFields(item, writeBack, targets, objectField(writeBack));
    if (missing(wanted, valuesOf(current)).length === 0) return { ok: true, findings: unfit };
    const body = {
      custom_object_record: {
        name: `Feedback on ticket ${item.recordId}`,
        custom_object_fields: {
          ...Object.fromEntries(wanted.map(({ id, value }) => [id, value])),
          ...(ticket === undefined ? {} : { [ticket]: item.recordId }),
        },
      },
    };
    try {
      const path = `${records}?external_id=${externalId(item)}`;
      const { custom_object_record } = await api.send('PATCH', path, body, One);
      const findings = notTaken(wanted, valuesOf(custom_object_record), objectField(writeBack));
      return { ok: true, findings: [...findings, ...unfit] };
    } catch (error) {
      // The other records are not affected.
      if (error instanceof VendorError && error.advice.kind === 'permanent') return { ok: false, why: 'error', error };
      throw error;
    }
  }

  return async (items) => {
    if (items.length === 0) return [];
    const resolve = async (loaded?: 'now') => resolveObjectFields(writeBack, await catalogue(loaded));
    const targets = await writableTargets(resolve, subdomain);
    const found = await recordsOf(
      api,
      records,
      items.map(({ recordId }) => recordId),
    );
    const current = new Map(found.map((record) => [record.external_id, record]));
    const results: WriteResult[] = [];
    for (const item of items)
      results.push(await aboutRecords([item.recordId], () => write(item, current.get(externalId(item)), targets)));
    await refuseRetired(results, () => resolve('now'), subdomain);
    return results;
  };
}

/** Deletes the records of these tickets, at most 100: one call to find them, and one per record. */
export async function deleteRecords(
  { writeBack }: Pick<ZendeskSettings, 'writeBack'>,
  api: ZendeskApi,
  ticketIds: readonly string[],
): Promise<void> {
  const records = `/api/v2/custom_objects/${writeBack.customObject?.object ?? ''}/records`;
  for (const { external_id } of await recordsOf(api, records, ticketIds)) {
    if (external_id != null) await api.send('DELETE', `${records}?external_id=${external_id}`, undefined, z.unknown());
  }
}

async function recordsOf(api: ZendeskApi, records: string, ticketIds: readonly string[]): Promise<RecordOfObject[]> {
  const ids = ticketIds.map((recordId) => externalId({ recordId })).join(',');
  return (await api.get(`${records}?filter[external_ids]=${ids}&page[size]=100`, Many)).custom_object_records;
}

const externalId = ({ recordId }: Pick<WriteBack, 'recordId'>): string => `ticket-${recordId}`;

function valuesOf(record: RecordOfObject | undefined): Values {
  return (key) => fieldValueOf(record?.custom_object_fields[key]);
}
