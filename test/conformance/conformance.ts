import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readRecorded } from './recorded.ts';
import { exitCode, judgeAll, reportText } from './report.ts';
import { undescribed, vendors } from './vendors.ts';

/**
 * `npm run conformance -- --specs ../shared/specs`: runs the connectors' scenarios against the stand-ins, records every
 * request and judges it by the vendor's own description. The descriptions stay outside: their licences don't let us ship them.
 * Exit codes: 0 all is as described or explained; 1 a mismatch, or the scenarios failed; 2 a mistake of the caller.
 */
const root = resolve(import.meta.dirname, '../..');

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { specs: { type: 'string' }, recorded: { type: 'string' }, help: { type: 'boolean' } },
  });
  const usage = 'npm run conformance -- --specs ../shared/specs [--recorded <folder of an earlier run>]';
  if (values.help) return say(usage, 0);
  if (values.specs === undefined)
    return say(`--specs is missing: the folder of the vendors' descriptions.\n${usage}`, 2);
  const specs = resolve(values.specs);
  if (!existsSync(specs)) return say(`There is no folder ${specs}.\n${usage}`, 2);
  const missing = vendors.flatMap(({ files }) => files).filter((file) => !existsSync(join(specs, file)));
  if (missing.length > 0) return say(`${specs} lacks ${missing.join(', ')}.`, 2);
  if (values.recorded !== undefined && !existsSync(values.recorded)) return say(`There is no ${values.recorded}.`, 2);

  const folder = values.recorded ?? mkdtempSync(join(tmpdir(), 'closeloop-conformance-'));
  const failed = values.recorded === undefined ? await record(folder) : 0;
  const { judged, findings } = judgeAll(readRecorded(folder), vendors, specs);
  if (values.recorded === undefined) rmSync(folder, { recursive: true });
  say(reportText(judged, findings, undescribed));
  if (failed !== 0) say('The scenarios did not pass, so something may not have been sent at all.');
  return failed === 0 ? exitCode(judged, findings) : 1;
}

/** Runs the scenarios, record.ts loaded into every process of theirs. */
async function record(folder: string): Promise<number> {
  const recorder = new URL('record.ts', import.meta.url);
  recorder.search = encodeURIComponent(pathToFileURL(folder).href);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const scenarios = new Set(vendors.flatMap((row) => row.scenarios));
  process.stderr.write('Running the scenarios; this takes a minute or two.\n');
  // What is sent is of interest here, not how fast: recording takes time, too.
  const options = ['--reporter=dot', '--testTimeout=300000', '--hookTimeout=300000'];
  const child = spawn(process.execPath, [vitest, 'run', ...options, ...scenarios], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${recorder.href}` },
  });
  const [code] = await once(child, 'close');
  return typeof code === 'number' ? code : 1;
}

function say(text: string, code = 0): number {
  process.stdout.write(`${text}\n`);
  return code;
}

process.exitCode = await main();
