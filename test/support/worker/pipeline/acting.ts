import { z } from 'zod';
import type { RecordParts } from '../../../../core/connector/record-parts.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { act } from '../../../../worker/pipeline/act/act.ts';
import { asking, type UnitContext, useManual } from '../../manual.ts';
import { ToyVendor } from '../../toy-connector.ts';

export const unhappy = `{ name: unhappy, when: answer.grade <= 2, settle: 0,
  do: [{ reopen: { group: Escalations } }, { note: '"Graded " & answer.grade & ": " & answer.comment' }, { followUp: { due: 4h } }] }`;

interface Options {
  parts?: RecordParts;
  answers?: string;
  general?: string;
  rule?: string;
}

/** Tests of what answers lead to, on the Redis and the service of `useManual`. */
export function useActing() {
  const manual = useManual();
  /** A source whose vendor can reopen, note and tag, with a journey that was asked. */
  const asked = async ({ answers = `[${unhappy}]`, parts, ...options }: Options = {}) => {
    const vendor = new ToyVendor();
    const reopen = z.strictObject({ group: z.string() });
    vendor.parts = parts;
    vendor.actions = { reopen, note: z.string(), tag: z.array(z.string()) };
    const unit = manual.unitContext({ vendor, answers, ...options });
    await asking(unit, 'p');
    const job = { journeyId: 'p.1' };
    return {
      unit,
      vendor,
      job,
      run: () => act(job, unit.context),
      trace: () => unit.trace('p.1'),
      get: () => unit.store.get('p.1'),
    };
  };
  return { asked, standin: () => manual.standin };
}

/** The customer's answer to that request, on the record unless `isWritten` says otherwise. */
export const answered = (
  { store }: UnitContext,
  grade: number,
  { version = 1, ago = 0, comment = 'no' as string | null, isWritten = true } = {},
) =>
  store.update('p.1', (now) => {
    const answer = { grade, comment, seenAt: new Date(Date.now() - ago), version };
    const journey = step(now, 'answered', new Date(), { answer });
    // Actions keep off a record that the answer is being put on.
    return {
      journey: isWritten ? step(journey, 'written', new Date(), { writtenVersion: version }) : journey,
      trace: [],
    };
  });

export const lost = new CloseloopError('no answer in 30 s', { kind: 'transient' }, { outcome: 'unknown' });
export const refused = new CloseloopError('the vendor asks us to wait', { kind: 'transient' }, { outcome: 'refused' });
