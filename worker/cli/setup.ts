import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import type { SetupStep } from '../../core/connector/contract.ts';
import { isConnectorBug, messageOf, refusal } from '../../core/errors.ts';
import type { Config } from '../config/config.ts';
import { aboutSource, type CheckedSource } from '../preflight/preflight.ts';
import { type Progress, patiently, progress } from './progress.ts';
import type { CommandOptions, RuntimeOptions } from './runtime.ts';
import { keepSecrets, lostVariables } from './secret-variables.ts';
import { type Sources, withSources } from './with-engine.ts';

/** A setup step of a source. */
interface Planned {
  source: string;
  step: SetupStep;
  done?: Done;
}

/**
 * Shows what is missing at the vendors, then creates it. Repeatable: a second run creates what is still missing. Completed steps go to
 * standard output, questions and progress to standard error. With `json` no question is asked: without `yes` the missing steps are
 * listed. A source that is rate limited waits; a source that fails delays no other. Secrets that vendors tell go into the file beside the
 * configuration. Returns 1 when a step stays undone.
 */
export async function setup(options: CommandOptions & { source?: string; yes: boolean }): Promise<number> {
  const work = async ({ pipelines, runtime }: Sources): Promise<number> => {
    const shown = progress(process.stderr);
    const failed: { source: string; why: string }[] = [];
    /** Each source by itself, all at once. */
    const ofEach = async <T>(work: (context: CheckedSource) => Promise<T>) => {
      const tried = pipelines(options.source).map(({ context }) =>
        work(context).catch((error: unknown) => {
          const why = `${messageOf(error)}${isConnectorBug(error) ? '; correct the connector' : ''}`;
          failed.push({ source: context.name, why });
          shown.say(`${styleText('red', '✗')} ${context.name}: ${why}`);
        }),
      );
      const results = await Promise.all(tried);
      shown.end();
      return results;
    };
    const planned = (await ofEach((context) => missingAt(context, runtime.config, shown))).flatMap((one) => one ?? []);
    const print = () => {
      const missing = planned.filter(({ done }) => !done).map(({ source, step }) => ({ source, what: step.what }));
      const done = planned.flatMap((one) => one.done ?? []);
      const result = { missing, done, ...(failed.length > 0 && { failed }) };
      process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : done.map(toDo).join(''));
    };
    const isUnseen = runtime.config.http.publicUrl === undefined && pipelines(options.source).some(hasWebhooks);
    if (isUnseen) shown.say('Webhooks were not looked at, as http.publicUrl is not set.');
    if (planned.length === 0) {
      if (failed.length === 0) shown.say(`Nothing to do: everything ${isUnseen ? 'else ' : ''}is there.`);
      print();
      return failed.length === 0 ? 0 : 1;
    }
    shown.say(styleText('bold', 'Missing:'));
    for (const { source, step } of planned) shown.say(`  ${source}: ${step.what}`);
    if (!options.yes && (options.json || !(await agreed()))) {
      shown.say(`Nothing was changed${options.json ? ': say --yes to have it done' : ''}.`);
      print();
      return 1;
    }
    const ofSource = Map.groupBy(planned, ({ source }) => source);
    await ofEach(({ name }) => doAll(ofSource.get(name) ?? [], options, shown));
    // Runs after a failed step, too: a secret that could not be written is shown only this time.
    print();
    return failed.length === 0 ? 0 : 1;
  };
  try {
    return await withSources(options, work);
  } catch (error) {
    throw await lostVariables(error, options);
  }
}

const hasWebhooks = ({ context: { source } }: { context: CheckedSource }): boolean =>
  source.setup !== undefined && source.isPolled !== true;

async function missingAt(context: CheckedSource, config: Config, shown: Progress): Promise<Planned[]> {
  const { name: source, source: vendor } = context;
  if (!vendor.setup && !vendor.recover) return [];
  const about = await aboutSource(context, config);
  if (about.grades.length === 0) {
    shown.say(`${source}: its campaigns' grades are not known ("closeloop check" tells why): choices get no options.`);
  }
  const look = async () => [...((await vendor.setup?.(about)) ?? []), ...((await vendor.recover?.(about)) ?? [])];
  const steps = await patiently(source, look, shown);
  return steps.map((step) => ({ source, step }));
}

/** Applies the steps one after the other, as each may need the one before. */
async function doAll(
  planned: readonly Planned[],
  { config, configText }: Pick<RuntimeOptions, 'config' | 'configText'>,
  shown: Progress,
): Promise<void> {
  for (const one of planned) {
    const { source, step } = one;
    const { note, secrets: given } = await patiently(source, () => step.apply(), shown);
    shown.say(`${styleText('green', '✓')} ${source}: ${step.what}`);
    one.done = { source, what: step.what, note };
    if (given === undefined) continue;
    const text = configText ?? readFileSync(config, 'utf8');
    const { file, secrets, next } = keepSecrets({ config, text, source }, given, process.env);
    const variables = Object.keys(secrets);
    if (file !== undefined) shown.say(`${styleText('green', '✓')} ${file}: ${variables.join(', ')}`);
    // The step's own note says where to put the secrets.
    one.done = {
      source,
      what: step.what,
      note: [...(file === undefined ? [note] : [`${variables.join(', ')} is in ${file} now.`]), ...next]
        .join(' ')
        .trim(),
      ...(file === undefined ? { secrets } : { kept: { file, variables } }),
    };
  }
}

interface Done {
  source: string;
  what: string;
  note: string | undefined;
  /** The secrets that closeloop could write into no file, by variable. */
  secrets?: Readonly<Record<string, string>>;
  kept?: { file: string; variables: string[] };
}

/** The text that says what a person has to do now. */
function toDo({ source, note, secrets = {} }: Done): string {
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  return [...(note === undefined ? [] : [`${source}: ${note}\n`]), ...lines].join('');
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw refusal('Nothing was changed: say --yes where nobody can be asked.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Do this? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}
