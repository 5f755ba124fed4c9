/*
 * Points at which a test kills the process under test: Redis, a vendor or the service has just done something, and the program does not know
 * yet. The process loads `kill-at.ts` before the program, which has no code for this.
 *
 * Each event is a line of text. `redis <command> <keys>`: Redis has answered a command; `gives a job` at its end: the queue returned a job.
 * `call <method> <path>`: a vendor or the service has answered. `taken <path>`: a delivery has arrived, and is not stored yet.
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
  // A customer who is due at once: the journey is stored together with the intent.
  'intent-saved': new RegExp(`${moves('waiting', 'creating').source}|:merges:\\S+ \\S+:state:creating \\S+:answers$`),
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

/** What answer rules lead to, of a journey whose answer is written. */
export const actingPoints = {
  /** What the rules say, an action that begins, or its result. */
  'acting-saved': moves('written', 'written'),
  'answer-read-again': /^call GET \/api\/appeals\/\d+$/,
  /** An answer is written on tickets, or they are opened again, noted and tagged. */
  'tickets-changed': /^call PUT \/api\/v2\/tickets\/(update_many|\d+)\.json$/,
  /** A webhook has taken an event, or refused it (receiver.ts). */
  'event-taken': /^call POST \/in\//,
} as const satisfies Record<string, RegExp>;

export type ActingPoint = keyof typeof actingPoints;

/** The environment of a process that is to be killed the n-th time it passes this point. The second reading of a record is "read again". */
export function killedAt(
  point: KillPoint | ActingPoint,
  nth = point === 'record-read-again' ? 2 : 1,
): Record<string, string> {
  const watcher = new URL('./kill-at.ts', import.meta.url).href;
  const { source } = { ...killPoints, ...actingPoints }[point];
  return { NODE_OPTIONS: `--import ${watcher}`, TEST_KILL_AT: source, TEST_KILL_NTH: `${nth}` };
}
