import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';

// What the machine and its processes have done, from /proc: Linux only.

/** Linux counts CPU in hundredths of a second. */
const ticksPerSecond = 100;

/** What others (or a hypervisor) may take of the machine while something is measured: more, and nothing is claimed. */
const quietShare = 0.05;

export interface ProcessUse {
  /** User and system, its threads included, its children not. Seconds. */
  cpu: number;
  /** Bytes. */
  resident: number;
  /** The most it ever had. Bytes. */
  peak: number;
}

/** @throws Error when there is no such process */
export function processUse(pid: number): ProcessUse {
  const { own } = statOf(pid);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024;
  return { cpu: own, resident: bytes('VmRSS'), peak: bytes('VmHWM') };
}

export const allCores = `0-${availableParallelism() - 1}`;

/** Has these processes, with all their threads, run on these cores from now on. */
export function runOn(cores: string | number, pids: readonly number[]): void {
  for (const pid of pids) execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cores), String(pid)]);
}

/** CPU seconds of all children of this process that have ended. */
export function endedChildrenCpu(): number {
  return statOf(process.pid).ended;
}

/** How busy the machine was, and with what. */
export interface MachineUse {
  cores: number;
  model: string;
  /** Of the last minute, as it began. */
  loadBefore: number;
  /** Of the machine's CPU, what processes took that the bench did not start; 0 to 1. */
  othersShare: number;
  /** They took too much: the figures say nothing. */
  isBusy: boolean;
}

/** Watches the machine from now until the returned function is called. */
export function watchMachine(): () => MachineUse {
  const before = { ...machineCpu(), ours: treeCpu(), load: loadavg()[0] ?? 0 };
  return () => {
    const after = { ...machineCpu(), ours: treeCpu() };
    const others = after.busy - before.busy - (after.ours - before.ours);
    const othersShare = Math.max(0, others / Math.max(after.total - before.total, 1 / ticksPerSecond));
    return {
      cores: availableParallelism(),
      model: cpus()[0]?.model ?? 'unknown',
      loadBefore: before.load,
      othersShare,
      isBusy: othersShare > quietShare,
    };
  };
}

/** Of all cores together, since it was started. Seconds. */
function machineCpu(): { busy: number; total: number } {
  const [, line = ''] = /^cpu\s+(.*)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  // user nice system idle iowait irq softirq steal; guests are within user.
  const ticks = line.split(/\s+/).slice(0, 8).map(Number);
  const total = ticks.reduce((sum, one) => sum + one, 0);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  return { busy: (total - idle) / ticksPerSecond, total: total / ticksPerSecond };
}

/** Of this process and everything it started, ended or not. Seconds. */
function treeCpu(): number {
  const parents = new Map<number, number>();
  const spent = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const pid = Number(name);
    try {
      const { parent, own, ended } = statOf(pid);
      parents.set(pid, parent);
      spent.set(pid, own + ended);
    } catch {
      // It has ended since the folder was read: its parent counts it.
    }
  }
  const isOurs = (pid: number | undefined): boolean =>
    pid === process.pid || (pid !== undefined && pid > 1 && isOurs(parents.get(pid)));
  return [...spent].reduce((sum, [pid, seconds]) => sum + (isOurs(pid) ? seconds : 0), 0);
}

function statOf(pid: number): { parent: number; own: number; ended: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const seconds = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) / ticksPerSecond;
  return { parent: Number(fields[1]), own: seconds(11), ended: seconds(13) };
}
