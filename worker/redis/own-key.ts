import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CloseloopError, isCode } from '../../core/errors.ts';
import { readIfThere } from './file-lock.ts';

const form = /^[A-Za-z0-9+/]{43}=$/;

/**
 * The key of the embedded Redis, from the file `secrets-key` in `dir`: 32 random bytes in base64, as in `secretsKey`. Creates the file
 * where it is missing; if two processes start at once, only one of them creates it. `dir` must exist.
 */
export async function ownKey(dir: string): Promise<Uint8Array> {
  const path = join(dir, 'secrets-key');
  const text = ((await readIfThere(path)) ?? (await make(dir, path))).trim();
  if (form.test(text)) return new Uint8Array(Buffer.from(text, 'base64'));
  const message = `${path} holds no key: put back the one that was there (32 bytes in base64), or begin with another --data.`;
  throw new CloseloopError(message, { kind: 'config' });
}

/** Creates the key. The key is on the disk before anything is sealed with it. */
async function make(dir: string, path: string): Promise<string> {
  const draft = `${path}.${randomUUID()}.tmp`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString('base64')}\n`);
    await file.sync();
    // A link appears whole or not at all, and never over another.
    await link(draft, path).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await file.close();
    await unlink(draft);
  }
  const folder = await open(dir, 'r');
  await folder.sync().finally(() => folder.close());
  return (await readIfThere(path)) ?? '';
}
