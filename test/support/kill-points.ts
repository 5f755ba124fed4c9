/*
 * Where a test has a process under test killed: just after something has happened outside of the process, before the program learns of it.
 * `kill-at.ts`, which the process loads first, watches for that; the program itself knows nothing of it.
 *
 * What happens is said in a line: `redis <command> <keys>`, with `gives a job` behind it where a queue hands one out; `call <method>
 * <path>` for a call that was answered; `taken <path>` for a delivery that has come and is not stored.
 */

const moves = (from: string, to: string): RegExp =>
  new RegExp(`^redis eval \\S+:journey:\\S+ \\S+:state:${from} \\S+:state:${to} `);
const begins = (queue: string): RegExp => new RegExp(`^redis eval \\S+:${queue}:wait .*gives a job$`);
const adds = (queue: string): RegExp =>
  new RegExp(`^redis eval (?=.*:${queue}:(?:wait|marker) )(?=.*:${queue}:meta)(?=.*:${queue}:id )`);

/** In the order in which a journey passes them. */
export const killPoints = {
  // intake
  'event-received': /^taken \/hooks\//,
  'event-stored': adds('plan'),
  // plan
  'plan-begun': begins('plan'),
  'record-read': /^call GET \/api\/v2\/tickets\/show_many/,
  'decision-saved': moves('received', 'waiting'),
  'ask-queued': adds('ask'),
  // ask
  'ask-begun': begins('ask'),
  'record-read-again': /^call GET \/api\/v2\/tickets\/show_many/,
  'contact-locked': /^redis (?:eval|set) \S+:person:\S+:lock/,
  'last-asked-noted': /^redis eval \S+:address:\S+ \S+:notes:/,
  // Of a customer who is due at once the journey is stored with the intent.
  'intent-saved': new RegExp(`${moves('waiting', 'creating').source}|:merges:\\S+ \\S+:state:creating$`),
  'create-answered': /^call POST \/api\/appeals\/$/,
  'campaign-noted': /^redis zadd \S+:asked-in/,
  'asked-saved': moves('creating', 'asked'),
  // a create whose outcome is unknown
  'unknown-noted': moves('creating', 'creating'),
  searched: /^call GET \/api\/appeals\/\?/,
  'back-to-waiting': moves('creating', 'waiting'),
  // collect
  'collect-begun': /^call GET \/api\/appeals\/campaigns\/\d+$/,
  'answer-saved': moves('asked', 'answered'),
  'write-back-queued': adds('write-back'),
  'collected-noted': /^redis eval \S+:campaign:\d+ \S+:campaign:\d+:pass/,
  // write back
  'write-back-begun': begins('write-back'),
  'vendor-written': /^call PUT \/api\/v2\/tickets\/update_many/,
  'written-saved': moves('answered', 'written'),
  // other ends of a journey
  'withdrawing-saved': moves('asked', 'asked'),
  'request-cancelled': /^call POST \/api\/appeals\/\d+\/cancel/,
  'cancelled-saved': moves('\\w+', 'cancelled'),
  'expired-saved': moves('asked', 'expired'),
  // polls
  'poll-events-queued': adds('plan'),
  'poll-cursor-saved': /^redis hset \S+:poll cursor/,
} as const satisfies Record<string, RegExp>;

export type KillPoint = keyof typeof killPoints;

/** What a process gets in its environment to be killed there, the n-th time. A record is read again the second time. */
export function killedAt(point: KillPoint, nth = point === 'record-read-again' ? 2 : 1): Record<string, string> {
  const watcher = new URL('./kill-at.ts', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${watcher}`, TEST_KILL_AT: killPoints[point].source, TEST_KILL_NTH: `${nth}` };
}
