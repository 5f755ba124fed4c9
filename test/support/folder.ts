import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const make = () => mkdtempSync(join(tmpdir(), 'closeloop-test-'));
const remove = (dir: string) => rmSync(dir, { recursive: true, force: true });

/** A new folder for this test file, removed after its tests. */
export function useFolder(): string {
  const dir = make();
  afterAll(() => remove(dir));
  return dir;
}

/** A new folder for the test that runs, removed when it has finished. */
export function testFolder(): string {
  const dir = make();
  onTestFinished(() => remove(dir));
  return dir;
}
