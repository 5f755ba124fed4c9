import { refOf } from '../../journey/refs.ts';
import type { PlanJob } from '../jobs.ts';
import { withoutMentions } from '../people-in-snapshot.ts';
import type { EraseContext, Found } from './find.ts';

/**
 * Erases the snapshots of the people's records, and removes the people from events that wait to be planned. In snapshots of other
 * people's records only the mentions of a contact are removed.
 */
export async function wipeSnapshots(found: Found, held: ReadonlySet<string>, context: EraseContext): Promise<void> {
  const isContact = (key: string) => found.hasContact(key);
  for (const of of await context.sources()) {
    const waiting = new Set<string>();
    await of.changeEvents(async (event) => {
      const part = await found.partIn(event, of);
      if (part === 'none') return undefined;
      if (part === 'mention')
        return 'snapshot' in event && event.snapshot
          ? { ...event, snapshot: await withoutMentions(event.snapshot, isContact, of) }
          : undefined;
      if ('recordId' in event && held.has(refOf(of.storedAs, event.recordId))) return undefined;
      if ('snapshot' in event && event.snapshot) waiting.add(event.recordId);
      return withoutPerson(event);
    });
    // Erasing needs a stored snapshot: then the older snapshot that a worker may be about to store is ignored.
    for (const recordId of waiting) await of.snapshots.save(recordId, new Date(0), {}, { onlyFirst: true });
    for (const recordId of waiting) await of.snapshots.erase(recordId, found.until);
  }
  for (const [ref, { recordId, of }] of found.mentions) {
    if (!found.snapshots.has(ref))
      await of.snapshots.change(recordId, (snapshot) => withoutMentions(snapshot, isContact, of));
  }
  for (const [ref, { recordId, of }] of found.snapshots) {
    if (!held.has(ref)) await of.snapshots.erase(recordId, found.until);
  }
}

/** The event without personal data; undefined where it holds none. */
function withoutPerson(event: PlanJob): PlanJob | undefined {
  if (event.kind === 'revoked') return undefined;
  if (event.kind === 'survey') return Object.keys(event.answers).length === 0 ? undefined : { ...event, answers: {} };
  const { snapshot, ...rest } = event;
  if (rest.kind === 'external-grade') return snapshot || rest.comment !== null ? { ...rest, comment: null } : undefined;
  return snapshot ? rest : undefined;
}
