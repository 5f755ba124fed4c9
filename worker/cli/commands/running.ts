import { type Command, Option } from 'commander';
import { configHelp, defaultConfig, dryRunHelp, example, instantHelp, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `start`. */
export function addStart(program: Command): void {
  program
    .command('start')
    .description('run the loop; where there is no configuration the demo, which needs no account and no server')
    .option('--config <file>', configHelp, defaultConfig())
    .option('--demo', 'the demo, also where there is a configuration', false)
    .addOption(
      new Option('--role <role>', 'what this process does').choices(['intake', 'worker', 'all']).default('all'),
    )
    .option('--once', 'do everything that is due, then end: exit code 0 when it went well', false)
    .option(
      '--dry-run',
      'decide and remember as in earnest, and send nothing; "closeloop dry-run" tells what would have been',
      false,
    )
    .option(
      '--adopt-account',
      'go on with this Redis in the account that "feedback" names, though it belongs to another',
      false,
    )
    .option('--data <dir>', 'where the embedded Redis keeps its data when the configuration names none', '.closeloop')
    .addHelpText('after', example('start --config closeloop.yaml --role worker'))
    .action(runs(async () => (await import('../start.ts')).start));
}

/** Adds the commands about running processes: `status`, `dry-run`, `collect`. */
export function addRunning(program: Command): void {
  withConfig(program.command('status'), 'status --config closeloop.yaml')
    .description(
      'each source: journeys by state, what is stopped, what webhooks missed; ends with 1 where nothing runs',
    )
    .option('--dry-run', dryRunHelp, false)
    .action(runs(async () => (await import('../status.ts')).status));

  withConfig(program.command('dry-run'), 'dry-run --since 2026-11-16 --config closeloop.yaml')
    .description(
      'what "start --dry-run" would have done: closings by what became of them, and by name those to look at before going live',
    )
    .option('--source <name>', 'only of this source')
    .option('--since <when>', `only what closed since: ${instantHelp}`)
    .option('--until <when>', 'and before; left out: now')
    .action(runs(async () => (await import('../dry-run.ts')).showDryRun));

  withConfig(program.command('collect'), 'collect --once --config closeloop.yaml')
    .description('collect the grades of every campaign now and write them back, then end')
    .option('--once', 'the only way there is: "start" collects all the time', true)
    .action(runs(async () => (await import('../collect.ts')).collectOnce));
}
