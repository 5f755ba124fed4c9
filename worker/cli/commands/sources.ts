import { type Command, Option } from 'commander';
import { pausableSteps } from '../../operations/pausable-steps.ts';
import { instantHelp, positiveNumber, withConfig, withRemoved } from './options.ts';
import { run, runs } from './run.ts';

/** `source`. */
export function addSources(program: Command): void {
  const source = program.command('source').description('sources as a whole');
  paused(
    source.command('pause <name>'),
    'source pause support --step ask --why "wrong text in campaign 12" --config closeloop.yaml',
  )
    .description(
      'stop work on a source, in all processes, until "source resume": its deliveries are stored and wait; what runs already ends',
    )
    .option('--why <text>', 'shown by "status" to everybody who looks: no names of customers')
    .action(runs(async () => (await import('../source.ts')).pauseSource));

  paused(source.command('resume <name>'), 'source resume support --config closeloop.yaml')
    .description(
      'go on with what "source pause" has stopped; what stopped itself for a configuration error is tried at once',
    )
    .action(runs(async () => (await import('../source.ts')).resumeSource));

  withConfig(source.command('rename <old> <new>'), 'source rename support helpdesk --config closeloop.yaml')
    .description(
      'tell that a source was called otherwise before: it goes on with what is stored by that name; say so before the first start with the new one',
    )
    .action((from: string, to: string, options) =>
      run(import('../source.ts'), ({ renameSource }, connectors) => renameSource({ ...options, from, to, connectors })),
    );
}

/** `backfill`. */
export function addBackfill(program: Command): void {
  withRemoved(
    withConfig(program.command('backfill'), 'backfill --config closeloop.yaml --source support --since 2026-11-01'),
    {
      'dry-run': '"closeloop preview --since" shows what would become of them',
    },
  )
    .description('ask about closings of the past; interrupted, the same command goes on')
    .requiredOption('--source <name>', 'the source')
    .requiredOption('--since <when>', `closings from then on: ${instantHelp}`)
    .option('--until <when>', 'and before; left out: now')
    .option('--limit <n>', 'at most so many', positiveNumber)
    .option('--per-hour <n>', 'so many an hour, at most', positiveNumber, 200)
    .action(runs(async () => (await import('../backfill.ts')).backfill));
}

function paused(command: Command, call: string): Command {
  return withConfig(command, call).addOption(
    new Option('--step <step>', 'only this step; left out: all').choices([...pausableSteps]),
  );
}
