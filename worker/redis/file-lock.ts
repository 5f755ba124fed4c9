import { randomUUID } from 'node:crypto';
import { link, readFile, unlink, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { isCode } from '../../core/errors.ts';

const Holder = z.object({
  pid: z.int().positive(),
  /** When the process began, where the system reports it: a process id may have been given to another process since. */
  born: z.string(),
});
type Holder = z.output<typeof Holder>;

export type Lock = { free: true; release(): Promise<void> } | { free: false /** Who holds it. */; pid: number };

/**
 * Takes the lock file `path`, or says which live process has the lock. The lock of a process that has ended, for whatever
 * reason, is taken over. The folder of the file must exist.
 */
export async function takeLock(path: string): Promise<Lock> {
  const own: Holder = { pid: process.pid, born: await bornOf(process.pid) };
  for (;;) {
    const draft = `${path}.${randomUUID()}.tmp`;
    await writeFile(draft, JSON.stringify(own));
    try {
      // A link appears whole or not at all, so no process reads half a lock.
      await link(draft, path);
      return { free: true, release: () => removeFile(path) };
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    } finally {
      await removeFile(draft);
    }
    const text = await readIfThere(path);
    const holder = text === undefined ? undefined : parseHolder(text);
    if (holder && (await isAlive(holder))) return { free: false, pid: holder.pid };
    if (text !== undefined) await removeStale(path, text);
  }
}

export async function isHeld(path: string): Promise<boolean> {
  const text = await readIfThere(path);
  const holder = text === undefined ? undefined : parseHolder(text);
  return holder !== undefined && (await isAlive(holder));
}

/**
 * Removes a stale lock, under a second lock (`.takeover`). Without the second lock, if two processes have read the stale lock, the slower
 * process would remove the new lock of the faster process. If a process dies here, its `.takeover` is stale, and is taken over in the same way.
 */
async function removeStale(path: string, text: string): Promise<void> {
  const turn = await takeLock(`${path}.takeover`);
  if (!turn.free) return;
  try {
    if ((await readIfThere(path)) === text) await removeFile(path);
  } finally {
    await turn.release();
  }
}

/** The text of a file; undefined where there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function isAlive({ pid, born }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process lives, under another user.
    if (!isCode(error, 'EPERM')) return false;
  }
  return (await bornOf(pid)) === born;
}

/** When a process began: field 22 of /proc/<pid>/stat (proc(5)); empty where there is no /proc. */
async function bornOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in brackets, may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!isCode(error, 'ENOENT')) throw error;
  });
}
