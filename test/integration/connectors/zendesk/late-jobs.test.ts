import { describe, expect, test } from 'vitest';
import type { WriteBack } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { account, answer, ids } from '../../../support/connectors/zendesk/account.ts';

/* A job that Zendesk begins long after the call that ordered the job was given up. */

/** An account whose first job waits until the test lets it begin, and whose answer to the call that ordered it is lost. */
async function withLateJob(writeBack: object) {
  const { promise: held, resolve: begin } = Promise.withResolvers<void>();
  let isFirst = true;
  const sleep = async (): Promise<void> => {
    if (!isFirst) return;
    isFirst = false;
    await held;
  };
  // Zendesk's stamps are whole seconds: no two things happen in one.
  let clock = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000;
  const now = () => {
    clock += 1_000;
    return new Date(clock);
  };
  const opened = await account(writeBack, { sleep, now });
  opened.standin.faults.add({ method: 'PUT', path: 'update_many', then: 'work-then-cut' });
  const lost = async (item: WriteBack): Promise<void> => {
    const error = await opened.source.writeBack([item]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CloseloopError);
    expect(error).toMatchObject({ outcome: 'unknown', advice: { kind: 'transient' } });
  };
  /** The late job is done. */
  const comesLate = async (): Promise<void> => {
    begin();
    await opened.standin.idle();
  };
  return { ...opened, lost, comesLate };
}

describe('a job whose answer was lost and that runs late', () => {
  const settings: [what: string, writeBack: object][] = [
    ['a grade alone', { grade: ids.grade }],
    ['grade, comment and time', { grade: ids.grade, comment: ids.comment, answeredAt: ids.answeredAt }],
    ['tags', { grade: ids.grade, tags: true }],
    ['a note', { grade: ids.grade, note: true }],
  ];
  test.each(settings)('does not put an older answer over a newer one that was written meanwhile: %s', async (_, to) => {
    const { standin, source, solved, lost, comesLate } = await withLateJob(to);
    const id = solved();
    await lost(answer(id, { grade: 3, comment: 'Slow' }));
    expect(await source.writeBack([answer(id, { grade: 8, marker: 'newer' })])).toEqual([{ ok: true, findings: [] }]);
    const before = standin.ticket(id);
    await comesLate();
    const { fields, tags, audits } = standin.ticket(id);
    expect({ fields, tags, audits }).toEqual({ fields: before.fields, tags: before.tags, audits: before.audits });
    expect(fields[ids.grade]).toBe(8);
  });

  test('does not bring back an answer that was taken off meanwhile', async () => {
    const { standin, source, solved, lost, comesLate } = await withLateJob({ comment: ids.comment });
    const id = solved({ customFields: { [ids.comment]: 'an earlier one' } });
    await lost(answer(id));
    await source.forget?.([String(id)]);
    await comesLate();
    expect(standin.ticket(id).fields).toEqual({ [ids.comment]: null });
  });
});
