import { z } from 'zod';
import { refOf, type SourceContext } from '../context.ts';
import { step } from '../journey/transitions.ts';
import type { StageResult } from './stage.ts';

export const WriteBackJob = z.object({ journeyId: z.string() });

/**
 * Puts the newest answer on the record. The job holds only the journey's id: what is written is read now, so that a
 * later grade replaces an earlier one and never the other way round.
 */
export async function writeBack(
  { journeyId }: z.output<typeof WriteBackJob>,
  context: SourceContext,
): Promise<StageResult> {
  const { store, clock } = context;
  const journey = await store.get(journeyId);
  const answer = journey?.answer;
  if (journey?.state !== 'answered' || !answer) return { do: 'done' };
  const ref = refOf(context.name, journey.id);

  const result = await context.write({
    recordId: journey.recordId,
    outcome: 'answered',
    marker: `${ref}.v${answer.version}`,
    grade: answer.grade,
    comment: answer.comment,
    answeredAt: answer.seenAt,
    campaign: journey.campaignName ?? `campaign ${journey.campaign}`,
    ...(journey.maxGrade === undefined ? {} : { maxGrade: journey.maxGrade }),
  });
  if (!result.ok && result.why === 'error') throw result.error;
  if (!result.ok) {
    const why = `the grade can't be put on the record and is kept here: ${result.message}`;
    await store.update(journeyId, (now) =>
      now.state === 'answered'
        ? { journey: step(now, 'parked', clock.now(), { why }), trace: [`parked: ${why}`] }
        : undefined,
    );
    context.log.warn({ journey: ref, why }, 'parked');
    return { do: 'done' };
  }
  for (const finding of result.findings) context.log.warn({ journey: ref, finding }, 'the vendor did not take all');
  const after = await store.update(journeyId, (now) => {
    if (now.state !== 'answered' && now.state !== 'written') return undefined;
    const findings = result.findings.map((finding) => `not taken: ${finding}`);
    const written = { writtenVersion: answer.version };
    // A newer answer came while this one was on its way, or another worker, ours being slow, has written one: the
    // record may show the older now.
    if (now.answer?.version !== answer.version) {
      return { journey: step(now, 'answered', clock.now(), written), trace: findings };
    }
    if (now.state === 'written') return undefined;
    return {
      journey: step(now, 'written', clock.now(), written),
      trace: [...findings, `written on the record (answer ${answer.version})`],
    };
  });
  context.log.info({ journey: ref, answer: answer.version }, 'written');
  return after?.state === 'answered' ? { do: 'wait', delayMs: 0 } : { do: 'done' };
}

export async function giveUpWriteBack(
  { journeyId }: z.output<typeof WriteBackJob>,
  why: string,
  context: SourceContext,
): Promise<void> {
  await context.store.update(journeyId, (now) =>
    now.state === 'answered'
      ? { journey: step(now, 'failed', context.clock.now(), { why }), trace: [`failed: ${why}`] }
      : undefined,
  );
}
