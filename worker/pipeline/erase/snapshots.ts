import { refOf } from '../../journey/refs.ts';
import type { PlanJob } from '../jobs.ts';
import type { EraseContext, Found } from './find.ts';
import { withoutMentions } from './people-in-snapshot.ts';

/**
 * Takes people out of the snapshots that were found, and out of events that wait to be planned; out of
 * snapshots of other people's records only what names a contact of theirs.
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
      if ('recordId' in event && held.has(refOf(of.name, event.recordId))) return undefined;
      if ('snapshot' in event && event.snapshot) waiting.add(event.recordId);
      return withoutPerson(event);
    });
    // Something is held of each of these, which forgetting it then puts before whatever a worker may be about to keep.
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

/** Undefined: there is nothing of anybody in it. */
function withoutPerson(event: PlanJob): PlanJob | undefined {
  if (event.kind === 'revoked') return undefined;
  if (event.kind === 'survey') return Object.keys(event.answers).length === 0 ? undefined : { ...event, answers: {} };
  const { snapshot, ...rest } = event;
  if (rest.kind === 'external-grade') return snapshot || rest.comment !== null ? { ...rest, comment: null } : undefined;
  return snapshot ? rest : undefined;
}
