import { defineConnector, type RecordEvent } from 'closeloop';
import { z } from 'zod';

const Delivered = z.array(z.string());
const closedAt = new Date('2026-11-20T10:00:00Z');

/**
 * A vendor whose records are whatever is asked for, closed. Reading the record `poison` kills the process, as a bug in a
 * parser would; reading `moody` always fails.
 */
export default defineConnector({
  name: 'poisoned',
  settings: z.strictObject({}),
  open: () => ({
    verify: () => ({ ok: true }),
    events: ({ raw }) => ({
      ok: true,
      ignored: [],
      events: Delivered.parse(JSON.parse(Buffer.from(raw).toString())).map(
        (recordId): RecordEvent => ({ kind: 'closed', recordId, at: closedAt, key: recordId, what: 'closed' }),
      ),
    }),
    read: async (ids) => {
      if (ids.includes('poison')) process.kill(process.pid, 'SIGKILL');
      return ids.map((id) =>
        id === 'moody'
          ? { ok: false, why: 'error', error: new Error('this record is never well') }
          : {
              ok: true,
              record: {
                id,
                currentId: id,
                state: { is: 'closed', closing: 'first', closedAt },
                shape: { email: `${id}@example.com` },
              },
            },
      );
    },
    writeBack: async (items) => items.map(() => ({ ok: true, findings: [] })),
    batchSize: 100,
    taken: { status: 202 },
  }),
});
