import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * Left alone V8 keeps memory for speed: up to 134 MB for what is new, and four times what is in use for the rest. Of 50 MB in use under
 * load that made half a gigabyte. Its own limits (docs/deploy.md) are read before a program begins; these are taken up while it runs.
 */

/** Bytes of both halves of the space of new objects. A process that works has 10 MB at once that are soon garbage. */
const mostYoung = 70e6;
/** Percent of what is in use that may be added to it before all of it is searched for garbage. */
const growth = 75;
/** The space doubles while it is used, and shrinks at rest. Real time. */
const lookEveryMs = 100;
/**
 * How much WebAssembly runs before V8 compiles it anew to run faster: 150 times what V8 would let it. What reads HTTP responses takes
 * 23 MB to compile, of which the process keeps half; that is worth it at work, which comes to it within seconds, and not at rest.
 */
const beforeOptimizing = 2e9;
/** A process that is busy for less of a second than this rests; after so many in a row its start is over. Real time. */
const restMs = 1_000;
const restingShare = 0.05;
const restsBefore = 2;

/** By what V8 may multiply the space of new objects, which has so many bytes. */
export function youngGrowth(bytes: number): 1 | 2 {
  return bytes * 2 <= mostYoung ? 2 : 1;
}

/** How many times in a row a process has rested, which did before and was busy for this share of the time since. */
export function restsAfter(rests: number, busyShare: number): number {
  return busyShare < restingShare ? rests + 1 : 0;
}

/** Before the first request of the process is sent: the limit is taken up then. */
export function optimizeLate(): void {
  setFlagsFromString(`--wasm-tiering-budget=${beforeOptimizing}`);
}

/** Gives back what the start needed, and limits what V8 keeps in this process from now on. */
export function limitHeap(): void {
  collectAll();
  setFlagsFromString(`--heap-growing-percent=${growth}`);
  limitYoung();
  collectAfterStart();
}

/** Limits the space of new objects alone, for a command that makes much garbage and keeps little. */
export function limitYoung(): void {
  // V8 would search it between two tasks once four fifths of it are used: a third more searches, which cost the same each.
  setFlagsFromString('--no-minor-gc-task');
  let factor = 2;
  const look = (): void => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const next = youngGrowth(space?.space_size ?? 0);
    if (next !== factor) setFlagsFromString(`--semi-space-growth-factor=${next}`);
    factor = next;
  };
  setInterval(look, lookEveryMs).unref();
}

/**
 * Once more when the first sweep and the first reading of grades are done, as what they needed stays else for long. Not whenever work ends:
 * V8 would optimize the program anew for the next, which took a fifth of its CPU.
 */
function collectAfterStart(): void {
  let before = performance.eventLoopUtilization();
  let rests = 0;
  const looking = setInterval(() => {
    rests = restsAfter(rests, performance.eventLoopUtilization(before).utilization);
    before = performance.eventLoopUtilization();
    if (rests < restsBefore) return;
    clearInterval(looking);
    collectAll();
  }, restMs).unref();
}

/** Takes some 30 ms, and leaves a third of the heap that a start has grown. */
function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') Reflect.apply(collect, undefined, [{ type: 'major', flavor: 'last-resort' }]);
}
