import { test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { useRedis } from '../support/redis.ts';
import { playRealLoop, type RealSystem } from './real-loop.ts';
import { type RequestTracker, startRequestTracker } from './systems/request-tracker.ts';
import { useSystem } from './systems/use-system.ts';

const redis = useRedis();
const port = await freePort();
const system = useSystem(() => startRequestTracker({ hook: `http://127.0.0.1:${port}/hooks/desk` }));

test('each of 40 customers is asked once, and each answer comes to its ticket, however often closeloop is killed', async () => {
  const { baseUrl, agent, hookSecret } = system.running;
  await playRealLoop({
    redis,
    system: peopleOf(system.running),
    port,
    source: `
connector: request-tracker
address: ${baseUrl}
token: ${agent.token}
webhookSecrets: [${hookSecret}]
writeBack: { grade: Feedback grade, comment: Feedback comment, answeredAt: Feedback at, note: true }
`,
    contact: 'requestor.email',
    closings: 40,
    foundByPoll: 20,
  });
});

function peopleOf({ person, agent }: RequestTracker): RealSystem {
  return {
    add: (subject, customer) => person.addTicket({ subject, customer }),
    close: person.resolve,
    withdraw: person.reopen,
    edit: (id, subject) => person.edit(id, { Subject: subject }),
    isEdited: async (id, subject) => (await person.read(id)).subject === subject,
    merge: person.merge,
    remove: person.remove,
    async written(id) {
      const { fields } = await person.read(id);
      const [grade, comment, at] = ['grade', 'comment', 'at'].map((name) => fields[`Feedback ${name}`]?.[0]);
      const notes = (await person.comments(id)).filter(({ by }) => by === agent.user);
      return {
        grade: grade === undefined ? undefined : Number(grade),
        comment,
        hasTime: at !== undefined,
        // What `comments` gives is of the type that only staff see.
        notes: notes.map(({ content }) => ({ text: content, isPrivate: true })),
      };
    },
  };
}
