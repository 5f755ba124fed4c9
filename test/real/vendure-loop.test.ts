import { test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { useRedis } from '../support/redis.ts';
import { playRealLoop, type RealSystem } from './real-loop.ts';
import { useSystem } from './systems/use-system.ts';
import { startVendure, type Vendure } from './systems/vendure.ts';

const redis = useRedis();
const port = await freePort();
const system = useSystem(() => startVendure({ hook: `http://127.0.0.1:${port}/hooks/desk` }));

test('each of 40 customers is asked once, and each answer comes to its order, however often closeloop is killed', async () => {
  const { baseUrl, apiKey, hookSecret } = system.running;
  await playRealLoop({
    redis,
    system: peopleOf(system.running),
    port,
    source: `
connector: vendure
address: ${baseUrl}/admin-api
apiKey: ${apiKey}
webhookSecrets: [${hookSecret}]
writeBack: { grade: feedbackGrade, comment: feedbackComment, answeredAt: feedbackAt, note: true }
`,
    contact: 'customer.email',
    closings: 40,
    foundByPoll: 0,
  });
});

function peopleOf({ person }: Vendure): RealSystem {
  return {
    add: (_, email) => person.placeOrder({ email }),
    close: person.deliver,
    withdraw: person.cancel,
    edit: (id, text) => person.setFields(id, { feedbackShort: text }),
    isEdited: async (id, text) => (await person.read(id)).customFields.feedbackShort === text,
    async written(id) {
      const { feedbackGrade: grade, feedbackComment: comment, feedbackAt: at } = (await person.read(id)).customFields;
      return {
        grade: typeof grade === 'number' ? grade : undefined,
        comment: typeof comment === 'string' ? comment : undefined,
        hasTime: typeof at === 'string',
        notes: (await person.notes(id)).map(({ text, isPublic }) => ({ text, isPrivate: !isPublic })),
      };
    },
  };
}
