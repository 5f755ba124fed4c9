import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { programOnPath } from '../../worker/redis/server-binary.ts';
import { fetchPackage } from './debian-packages.ts';

/** Chromium: of the PATH, or Debian's package with the libraries that the system lacks, fetched once (124 MB). */
export async function startChromium(): Promise<Browser> {
  const installed = await programOnPath(['chromium', 'chromium-browser', 'google-chrome'], process.env.PATH ?? '');
  const { executablePath, env } = installed === undefined ? await fetched() : { executablePath: installed, env: {} };
  // Its sandbox needs what containers rarely give, and it opens our own pages alone.
  return await chromium.launch({ executablePath, args: ['--no-sandbox'], env: { ...process.env, ...env } });
}

async function fetched(): Promise<{ executablePath: string; env: Record<string, string> }> {
  const root = await fetchPackage('chromium', { alone: false });
  const base = join(root, 'usr/lib');
  const folders = (await readdir(base, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const libraries = folders.flatMap(({ name }) => [join(base, name), join(base, name, 'pulseaudio')]);
  return {
    executablePath: join(base, 'chromium/chromium'),
    env: { LD_LIBRARY_PATH: libraries.join(delimiter) },
  };
}
