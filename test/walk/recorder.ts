import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';
import { instrumented } from './functions.ts';
import { type Entry, isOurs } from './record.ts';

/*
 * Node loads this file before the program: `node --import file:///…/recorder.ts?<file>`. From then on each call of a function of core,
 * connectors or worker adds a line to <file>, with the function and the file that called it. SIGUSR2 empties <file>.
 */
const root = resolve(import.meta.dirname, '../..');
const record = fileURLToPath(new URL(decodeURIComponent(new URL(import.meta.url).search.slice(1))));
const written = new Set<string>();
const counts: number[][] = [];
/** More calls than this of one function say nothing new about who calls it. */
const mostCalls = 200;
/** Between a function and its caller there may be those of libraries, and of the language. */
const frames = 30;

function recorderOf(file: string): (index: number) => void {
  const calls: number[] = [];
  counts.push(calls);
  return (index) => {
    const count = (calls[index] ?? 0) + 1;
    calls[index] = count;
    if (count > mostCalls) return;
    const from = callerOf();
    const entry: Entry = from === undefined ? { file, index } : { file, index, from };
    const line = JSON.stringify(entry);
    if (written.has(line)) return;
    written.add(line);
    appendFileSync(record, `${line}\n`);
  };
}

/** The file of ours that called, if one did: what a library or a timer calls, nobody of ours does. */
function callerOf(): string | undefined {
  const sites = getCallSites(frames).map(({ scriptName }) => scriptName);
  // The first three are this function, what it is called by, and the function that was entered.
  return sites.slice(3).map(pathOf).find(isOurs);
}

function pathOf(script: string): string {
  return script.startsWith('file:') ? relative(root, fileURLToPath(script)) : script;
}

process.on('SIGUSR2', () => {
  for (const calls of counts) calls.length = 0;
  written.clear();
  truncateSync(record);
});

const global = globalThis as { closeloopWalk?: (file: string) => (index: number) => void };
global.closeloopWalk = recorderOf;

registerHooks({
  load(url, context, nextLoad) {
    const file = pathOf(url);
    if (!isOurs(file)) return nextLoad(url, context);
    const text = readFileSync(fileURLToPath(url), 'utf8');
    const enter = '__enter';
    // On the first line, so that no other moves.
    const source = `const ${enter} = globalThis.closeloopWalk(${JSON.stringify(file)});${instrumented(text, enter)}`;
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});
