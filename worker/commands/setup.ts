import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import type { SetupStep } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import { aboutSource } from '../going-live.ts';
import type { RuntimeOptions } from './runtime.ts';
import { secretVariable } from './secret-variables.ts';
import { withSources } from './with-engine.ts';

/**
 * Shows what is missing at the vendors, then creates it. Running it again does what is still missing. What was done goes to
 * standard output, questions and progress to standard error. With `json` nobody is asked: without `yes` it is a list of what
 * is missing. 1 when something stays missing.
 */
export async function setup(
  options: RuntimeOptions & { source?: string; yes: boolean; json: boolean },
): Promise<number> {
  return await withSources(options, async ({ lanes, runtime }) => {
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const planned: { source: string; step: SetupStep }[] = [];
    for (const { context } of lanes(options.source)) {
      const about = await aboutSource(context, runtime.config);
      const steps = (await context.source.setup?.(about)) ?? [];
      if (context.source.setup && about.grades.length === 0)
        say(
          `${context.name}: its campaigns' grades are not known ("closeloop check" tells why): choices get no options.`,
        );
      for (const step of steps) planned.push({ source: context.name, step });
    }
    const done: Done[] = [];
    const tell = () => {
      const missing = planned.slice(done.length).map(({ source, step }) => ({ source, what: step.what }));
      process.stdout.write(options.json ? `${JSON.stringify({ missing, done })}\n` : done.map(toDo).join(''));
    };
    if (planned.length === 0) {
      say('Nothing to do: everything is there.');
      tell();
      return 0;
    }
    say(styleText('bold', 'Missing:'));
    for (const { source, step } of planned) say(`  ${source}: ${step.what}`);
    if (!options.yes && (options.json || !(await agreed()))) {
      say(`Nothing was changed${options.json ? ': say --yes to have it done' : ''}.`);
      tell();
      return 1;
    }
    try {
      for (const { source, step } of planned) {
        const { note, secrets: told } = await step.apply();
        say(`${styleText('green', '✓')} ${source}: ${step.what}`);
        const secrets = told && byVariable(readFileSync(options.config, 'utf8'), source, told);
        done.push({ source, what: step.what, note, secrets });
      }
    } finally {
      // Also when a step failed: a secret is shown this once.
      tell();
    }
    return 0;
  });
}

interface Done {
  source: string;
  what: string;
  note: string | undefined;
  secrets: Readonly<Record<string, string>> | undefined;
}

/** Sources of one connector may each be told a secret for the same setting. */
function byVariable(text: string, source: string, secrets: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [secretVariable(text, source, name), secret]),
  );
}

/** What a person has to do now. */
function toDo({ source, note, secrets = {} }: Done): string {
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  return [...(note === undefined ? [] : [`${source}: ${note}\n`]), ...lines].join('');
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new CloseloopError('Nothing was changed: say --yes where nobody can be asked.', { kind: 'config' });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Do this? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}
