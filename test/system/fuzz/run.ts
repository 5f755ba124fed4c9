import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedRedis } from '../../../worker/redis/embedded.ts';
import { serverCache } from '../../support/redis-cache.ts';
import { socketed } from './deliveries.ts';
import { Pipe, raw, type Sent } from './http.ts';
import { beforeStart, chanceFor, type Lab, lab } from './lab.ts';
import { type Order, Report } from './protocol.ts';

export interface FuzzOptions {
  inputs: number;
  seed: number;
  /** Only this class, and of it only this input. */
  only?: { name: string; input: number } | undefined;
  say?: (line: string) => void;
}

export interface FuzzViolation {
  name: string;
  input: number;
  kind: 'crash' | 'forgery' | 'status';
  what: string;
}

export interface FuzzReport {
  /** By class: how often each outcome came. */
  counts: Record<string, Record<string, number>>;
  violations: FuzzViolation[];
  /** Of the process under test, as the operating system saw it. */
  peakBytes: number;
  /** Milliseconds that /healthz took, ascending. */
  health: number[];
}

/** Inputs of one order, so that a report comes now and then. */
const orderSize = 2_000;
const pipes = 8;
/** Requests on their way over one connection. */
const depth = 8;
const healthEveryMs = 50;
/**
 * As README.md advises for a small machine. V8 keeps what it has freed: by default up to three times 32 MiB for young objects alone,
 * and it returns nothing while it is busy. A leak ends the process.
 */
const heapFlags = ['--max-old-space-size=112', '--max-semi-space-size=4'];
/** So many of a kind say enough. */
const mostViolations = 20;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-fuzz-'));
  const redis = await startEmbeddedRedis({ dir, cache: serverCache, say: () => undefined, fsync: 'everysec' });
  const report: FuzzReport = { counts: {}, violations: [], peakBytes: 0, health: [] };
  const target = new Target(redis.socket, report, options.seed);
  const starting = new Target(undefined, report, options.seed);
  try {
    await Promise.all([target.start(), starting.start()]);
    const stop = new AbortController();
    const watching = watchHealth(target, report, stop.signal);
    await Promise.all([
      sockets(target, report, options),
      inProcess(target, lab, report, options),
      inProcess(starting, beforeStart, report, options),
    ]);
    stop.abort();
    await watching;
  } finally {
    await target.stop();
    await starting.stop();
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  report.health.sort((a, b) => a - b);
  return report;
}

/** The process under test. One that dies is a crash, and is started anew. */
class Target {
  url = '';
  readonly #socket: string | undefined;
  readonly #report: FuzzReport;
  readonly #seed: number;
  #child: ChildProcess | undefined;
  #done: ((isWhole: boolean) => void) | undefined;
  #isStopped = false;

  constructor(socket: string | undefined, report: FuzzReport, seed: number) {
    this.#socket = socket;
    this.#report = report;
    this.#seed = seed;
  }

  async start(): Promise<void> {
    const entry = join(import.meta.dirname, 'target.ts');
    const args = this.#socket === undefined ? [entry] : [entry, this.#socket];
    const flags = ['--no-warnings', ...heapFlags];
    const child = spawn(process.execPath, [...flags, ...args], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#child = child;
    let errors = '';
    child.stderr?.on('data', (text: Buffer) => {
      errors = (errors + text.toString()).slice(-2_000);
    });
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message) => {
        const said = Report.parse(message);
        if ('url' in said) {
          this.url = said.url;
          resolve();
        } else this.#hear(said);
      });
      child.once('exit', (code, signal) => {
        if (this.#isStopped) return;
        const what = `the process ended (${code ?? signal}): ${errors}`;
        this.#report.violations.push({ name: 'process', input: 0, kind: 'crash', what });
        this.url = '';
        reject(new Error(what));
        this.#done?.(false);
      });
    });
  }

  /** Tries so many inputs in the process. False: it died of one of them. */
  async work(order: Omit<Order, 'seed'>): Promise<boolean> {
    const ended = new Promise<boolean>((resolve) => {
      this.#done = resolve;
    });
    this.#child?.send({ ...order, seed: this.#seed });
    return await ended;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  #hear(said: Exclude<Report, { url: string }>): void {
    const { violations } = this.#report;
    if ('fault' in said) violations.push({ name: 'process', input: 0, kind: 'status', what: said.fault });
    else {
      for (const [outcome, n] of Object.entries(said.counts)) count(this.#report, said.name, outcome, n);
      for (const one of said.violations) violations.push({ name: said.name, ...one });
      if (this.#socket !== undefined) this.#report.peakBytes = Math.max(this.#report.peakBytes, said.peakBytes);
      this.#done?.(true);
    }
  }
}

function count(report: FuzzReport, name: string, outcome: string, n = 1): void {
  report.counts[name] ??= {};
  const counts = report.counts[name];
  counts[outcome] = (counts[outcome] ?? 0) + n;
}

const isEnough = ({ violations }: FuzzReport): boolean => violations.length >= mostViolations;

/** Of all inputs, those of each class. */
function quotas(
  inputs: number,
  classes: Readonly<Record<string, { share: number }>>,
): [name: string, inputs: number][] {
  const all = [...Object.values(lab), ...Object.values(beforeStart), ...Object.values(socketed)].reduce(
    (sum, { share }) => sum + share,
    0,
  );
  return Object.entries(classes).map(([name, { share }]) => [name, Math.ceil((inputs * share) / all)]);
}

function ordersOf(
  { inputs, only }: FuzzOptions,
  classes: Readonly<Record<string, { share: number }>>,
): Omit<Order, 'seed'>[] {
  if (only) return only.name in classes ? [{ name: only.name, from: only.input, count: 1 }] : [];
  const parts = quotas(inputs, classes).flatMap(([name, total]) =>
    Array.from({ length: Math.ceil(total / orderSize) }, (_, i) => ({
      name,
      from: i * orderSize,
      count: Math.min(orderSize, total - i * orderSize),
      at: i / Math.ceil(total / orderSize),
    })),
  );
  // Side by side, so that they meet.
  return parts.sort((a, b) => a.at - b.at).map(({ at: _, ...order }) => order);
}

async function inProcess(target: Target, classes: Lab, report: FuzzReport, options: FuzzOptions): Promise<void> {
  const orders = ordersOf(options, classes);
  for (const [i, order] of orders.entries()) {
    if (isEnough(report)) return;
    if (!(await target.work(order))) {
      const what = `the process died of an input from ${order.from} to ${order.from + order.count - 1}`;
      report.violations.push({ name: order.name, input: order.from, kind: 'crash', what });
      await target.start();
    }
    if (i % 25 === 0 && classes === lab) options.say?.(`${i} of ${orders.length} orders tried in the process`);
  }
}

async function sockets(target: Target, report: FuzzReport, options: FuzzOptions): Promise<void> {
  const orders = ordersOf(options, socketed);
  const one = async (): Promise<void> => {
    let pipe = new Pipe(target.url);
    let on = target.url;
    for (let order = orders.shift(); order && !isEnough(report); order = orders.shift()) {
      while (target.url === '' && !isEnough(report)) await sleep(50);
      if (on !== target.url) {
        pipe.close();
        pipe = new Pipe(target.url);
        on = target.url;
      }
      await deliver(order, pipe, on, report, options.seed);
    }
    pipe.close();
  };
  await Promise.all(Array.from({ length: pipes }, one));
}

/** The status; 0 where the connection is closed without one. */
async function onItsOwn(url: string, delivery: Sent): Promise<number> {
  const pipe = new Pipe(url);
  const status = await pipe.send(delivery).catch(() => 0);
  pipe.close();
  return status;
}

async function deliver(
  { name, from, count: total }: Omit<Order, 'seed'>,
  pipe: Pipe,
  url: string,
  report: FuzzReport,
  seed: number,
): Promise<void> {
  const make = socketed[name]?.make;
  if (!make) throw new Error(`nothing is called ${name}`);
  let next = from;
  const one = async (): Promise<void> => {
    while (next < from + total && !isEnough(report)) {
      const input = next++;
      const delivery = make(chanceFor(seed, name, input), url);
      const alone = () => raw(url, Buffer.concat([Buffer.from(delivery.head, 'latin1'), delivery.body]));
      // A connection that sends too many requests at once, or bodies in small pieces, is closed: the rest come again by
      // themselves, and wait for their answer, as Node answers nobody who has closed one half.
      const status = delivery.alone ? await alone() : await pipe.send(delivery).catch(() => onItsOwn(url, delivery));
      count(report, name, status === 0 ? 'closed' : String(status));
      if (delivery.right.includes(status)) continue;
      const isTaken = status >= 200 && status < 300 && delivery.genuine !== true;
      const kind = isTaken ? 'forgery' : 'status';
      report.violations.push({ name, input, kind, what: `answered ${status}, right would be ${delivery.right}` });
    }
  };
  await Promise.all(Array.from({ length: depth }, one));
}

async function watchHealth(target: Target, report: FuzzReport, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const begun = performance.now();
    const isWell = await fetch(`${target.url}/healthz`).then(
      async (answer) => (await answer.text()) !== '' && answer.ok,
      () => false,
    );
    if (isWell) report.health.push(performance.now() - begun);
    else if (target.url !== '' && !stop.aborted) count(report, 'health', 'no answer');
    await sleep(healthEveryMs);
  }
}
