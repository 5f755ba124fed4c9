import type { Proof } from '../journey/erasures.ts';
import { begin } from '../pipeline/erase/erase.ts';
import type { EraseContext } from '../pipeline/erase/find.ts';
import { noteRequested } from '../pipeline/erasure-guard.ts';

/** Any source can take an erasure, as an erasure searches all sources. */
export function takingErasures<Context>(pipelines: Iterable<{ context: Context }>): Context {
  for (const { context } of pipelines) return context;
  throw new Error('every configuration has a source');
}

/**
 * Stores an operator's request to erase a contact: it is masked at the service, and forgotten here.
 * @param what who asked, in words without personal data
 * @returns its id; `attempt` or the source's queue does it
 */
export async function beginMasking(contact: string, what: string, context: EraseContext): Promise<string> {
  const at = new Date();
  const event = { kind: 'erase' as const, at, key: `${what}:${at.toISOString()}`, what, contacts: [contact] };
  const id = await begin({ ...event, receivedAt: at, personIds: [], recordIds: [], everybody: false }, context);
  await noteRequested([event], at, context);
  return id;
}

/** The reason why an erasure erased nothing: the contact may be written in another way, or may be masked already. */
export type NothingErased = 'nobody known' | 'masked before';

/** The reason why no data was erased; undefined if data was erased. */
export function nothingErased({
  journeys,
  requestsMasked,
  maskedBefore = 0,
}: Pick<Proof, 'journeys' | 'requestsMasked' | 'maskedBefore'>): NothingErased | undefined {
  if (journeys + requestsMasked > 0) return undefined;
  return maskedBefore > 0 ? 'masked before' : 'nobody known';
}

export const nothingErasedWords: Readonly<Record<NothingErased, string>> = {
  'nobody known': 'Nobody was known by this contact, at the service or here. Write it as the service shows it.',
  'masked before': 'This contact was masked before: nothing of it was left to mask, at the service or here.',
};
