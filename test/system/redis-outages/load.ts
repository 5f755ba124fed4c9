import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Loop, until } from '../../support/loop.ts';

/** What became of a stream of closings, through whatever happened to Redis meanwhile. */
export interface Verdict {
  closings: number;
  /** Deliveries that were answered with anything but 2xx, and came again. */
  refused: number;
  /** Of those, what wasn't "503, come again then". Nothing else may be said. */
  wronglyRefused: string[];
  slowestAnswerMs: number;
  /** Acknowledged, and nobody was asked. */
  lost: string[];
  askedTwice: string[];
  /** Journeys that ended as if something were wrong with them, `id: state`. */
  fallen: string[];
}

export interface Load {
  /** Resolves when so many more have been acknowledged. */
  acknowledged(more: number): Promise<void>;
  /** What has been acknowledged. */
  taken(): string[];
  /** Resolves when so many more have been refused. */
  refused(more: number): Promise<void>;
  /** Goes on until every closing was acknowledged, then until the customers were asked, and tells how it went. */
  finish(): Promise<Verdict>;
  /** Stops at once: for a test that fails. */
  stop(): void;
}

/** A vendor that tells of `closings` at this pace, and again of what was refused, until everything is acknowledged. */
export function startLoad(loop: Loop, options: { closings: number; everyMs: number; name?: string }): Load {
  const { closings, everyMs, name = 'l' } = options;
  const left = Array.from({ length: closings }, (_, i) => ({ id: `${name}${i}`, delivery: '' }));
  for (const one of left) one.delivery = loop.vendor.close(one.id).delivery;
  const taken = new Set<string>();
  const wronglyRefused = new Set<string>();
  let refused = 0;
  let slowestAnswerMs = 0;

  async function tell(one: { id: string; delivery: string }): Promise<void> {
    const begun = performance.now();
    const answer = await loop.post(one.delivery).catch((error: unknown) => String(error));
    slowestAnswerMs = Math.max(slowestAnswerMs, Math.round(performance.now() - begun));
    if (typeof answer !== 'string') await answer.text();
    if (typeof answer !== 'string' && answer.ok) {
      taken.add(one.id);
      return;
    }
    refused += 1;
    const isRight = typeof answer !== 'string' && answer.status === 503 && answer.headers.has('retry-after');
    if (!isRight) wronglyRefused.add(typeof answer === 'string' ? answer : `${answer.status}`);
    left.push(one);
  }
  // Told of from the begin of the outage on: where that takes long, nothing would be left to be refused.
  let kept = Math.ceil(closings / 10);
  const timer = setInterval(() => {
    const one = left.length > kept ? left.shift() : undefined;
    if (one) void tell(one);
  }, everyMs);

  return {
    acknowledged: async (more) => {
      const enough = Math.min(closings, taken.size + more);
      await until(() => taken.size >= enough);
    },
    taken: () => [...taken],
    refused: async (more) => {
      kept = 0;
      const enough = refused + more;
      await until(() => refused >= enough);
    },
    stop: () => clearInterval(timer),
    finish: async () => {
      await until(() => taken.size === closings);
      clearInterval(timer);
      await quiet(loop);
      const requests = loop.feedback.standin.requests();
      const counts = Map.groupBy(requests, ({ email }) => String(email).replace('@example.com', ''));
      const count = (id: string) => counts.get(id)?.length ?? 0;
      const fallen: string[] = [];
      for await (const journey of loop.store.queries.newest(['failed', 'parked', 'cancelled', 'skipped', 'expired'])) {
        fallen.push(`${journey.id}: ${journey.state} (${journey.why})`);
      }
      return {
        closings,
        refused,
        wronglyRefused: [...wronglyRefused],
        slowestAnswerMs,
        lost: [...taken].filter((id) => count(id) === 0),
        askedTwice: [...taken].filter((id) => count(id) > 1),
        fallen,
      };
    },
  };
}

/** Nothing waits, runs or is on its way: whatever was going to happen has. */
async function quiet(loop: Loop): Promise<void> {
  await until(async () => {
    // A closing whose planning was put off, as its vendor did not answer for a while, has no journey yet. Counted in one look, as
    // a job goes from one list to another meanwhile.
    for (const { jobs } of loop.app.engine.pipelines.values())
      if ((await jobs.plan.queue.getJobCountByTypes('waiting', 'active', 'prioritized', 'delayed')) > 0) return false;
    if ((await loop.app.engine.busy()) > 0) return false;
    const { received, waiting, creating } = await loop.store.lists.counts();
    return received + waiting + creating === 0;
  });
}

/** Bytes on the heap that somebody still holds. */
export function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}
