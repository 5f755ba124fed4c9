import { defineConnector, type RecordEvent } from 'closeloop';
import { z } from 'zod';

const Delivered = z.array(z.string());
/** Lately, as nobody is asked about what is old; the same in each process that is started. */
const closedAt = new Date();
closedAt.setUTCHours(0, 0, 0, 0);

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
