import type { Erasure } from '../../journey/erasures.ts';
import { subjectsOf } from '../erasure-guard.ts';
import { type AskedToErase, done, type EraseJob, type JobResult } from '../jobs.ts';
import { type EraseContext, type ErasureFindings, findAll } from './find.ts';
import { forget } from './forget.ts';
import { prove } from './proof.ts';
import { type Held, removeWrittenAnswers } from './written-answers.ts';

/** The waits before the next attempts double from a second to an hour; to a minute where every cause passes by itself. Real time. */
const firstMs = 1_000;
const longestMs = 3_600_000;
const longestPassingMs = 60_000;
/** A person is alerted from this attempt on: by then a request that was being made is known, and a short outage has ended. */
const alertAfter = 5;

export async function erase(job: EraseJob, context: EraseContext): Promise<JobResult> {
  if (job.kind === 'continue') return await attempt(job.erasure, context);
  const id = await begin(job, context);
  const result = await attempt(id, context);
  // The next job holds only the erasure's id, as this job, which holds personal data, is removed.
  if (result.do === 'wait') await context.queueErasure(id, result.delayMs);
  return done;
}

/** Stores the erasure and its subjects, which are kept until the erasure is done. @returns its id */
export async function begin(asked: AskedToErase, context: EraseContext): Promise<string> {
  return await context.erasures.begin(asked, [...subjectsOf(asked, context)]);
}

/**
 * Erases people: finds their data and stores it as the erasure's subjects, masks the contacts at the service, removes the data from
 * journeys, snapshots and waiting events, and removes written answers from records at the vendor. After a kill the next attempt finds
 * the rest. A part that can't be done yet holds up no other part, and is retried for ever. A proof of the erasure stays, without
 * personal data.
 */
export async function attempt(id: string, context: EraseContext): Promise<JobResult> {
  const erasure = await context.erasures.get(id);
  if (!erasure) return done;
  let held: Held[];
  let found: ErasureFindings;
  do {
    found = await findAll(erasure, context);
    held = await forget(found, erasure, context);
    // New data may have come in meanwhile: the erasure is done when a search finds nothing.
  } while (held.length === 0 && found.journeys.size + found.snapshots.size + found.mentions.size > 0);
  held.push(...(await removeWrittenAnswers(id, context)));
  if (held.length > 0) return await postpone(erasure, held, context);
  await prove(erasure, found, context);
  return done;
}

/** Keeps an erasure that is not done, alerts a person where it needs one, and queues the next attempt, with backoff. */
async function postpone(erasure: Erasure, held: readonly Held[], context: EraseContext): Promise<JobResult> {
  const tries = erasure.tries + 1;
  const longest = held.every(({ passes }) => passes) ? longestPassingMs : longestMs;
  const delayMs = Math.min(longest, firstMs * 2 ** Math.min(erasure.tries, 30));
  const groups = Map.groupBy(held, ({ what, why }) => `${what}: ${why}`);
  const said = [...groups].map(([text, { length }]) => (length === 1 ? text : `${length} times ${text}`));
  const nextAt = new Date(context.ports.now().getTime() + delayMs);
  await context.erasures.postpone({ ...erasure, tries, held: said, nextAt });
  const about = { source: context.name, erasure: erasure.id, event: erasure.what, held: said, nextAt };
  context.log.warn(about, 'an erasure is not done yet; it is kept, and tried again');
  if (tries >= alertAfter || held.some(({ passes }) => !passes)) {
    const why = `an erasure is not done yet: ${said.join('; ')}`;
    await context.alert('to-do', why, 'see "closeloop contact erasures list"; it is tried again by itself');
  }
  return { do: 'wait', delayMs };
}

/** Called after a bug of closeloop: the erasure is kept, and the sweep tries it again. */
export async function giveUpErase(job: EraseJob, why: string, context: EraseContext): Promise<void> {
  const id = job.kind === 'continue' ? job.erasure : await begin(job, context);
  context.log.error({ source: context.name, erasure: id, why }, 'an erasure failed; it is kept, and tried again');
}
