import { CloseloopError } from '../../core/errors.ts';
import type { Proof } from '../journey/erasures.ts';
import type { SourceContext } from '../pipeline/context.ts';
import { begin } from '../pipeline/erase/erase.ts';
import { noteRequested } from '../pipeline/erase/requested.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';

/** The queue of a source that takes erasures: a source that is being renamed, or has another name now, takes none. */
export async function takingErasures(
  pipelines: Iterable<Pick<SourcePipeline, 'context' | 'isGated'>>,
): Promise<SourceContext> {
  for (const pipeline of pipelines) if (!(await pipeline.isGated())) return pipeline.context;
  throw new CloseloopError(
    'Every source of this configuration is being renamed, or has another name now: nothing was erased. Say this again when that is over, with the configuration that the workers have.',
    { kind: 'config' },
  );
}

/**
 * Stores an operator's request to erase a contact: it is masked at the service, and forgotten here.
 * @param what who asked, in words without personal data
 * @returns its id; `attempt` or the source's queue does it
 */
export async function beginMasking(contact: string, what: string, context: SourceContext): Promise<string> {
  const at = new Date();
  const event = { kind: 'erase' as const, at, key: `${what}:${at.toISOString()}`, what, contacts: [contact] };
  const id = await begin({ ...event, receivedAt: at, personIds: [], recordIds: [], everybody: false }, context);
  await noteRequested([event], at, context);
  return id;
}

/** Nobody is known by the contact, at the service or here: it may have been written otherwise. */
export function foundNobody({ journeys, requestsMasked }: Pick<Proof, 'journeys' | 'requestsMasked'>): boolean {
  return journeys + requestsMasked === 0;
}
