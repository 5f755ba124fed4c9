import { Argument, type Command } from 'commander';
import type { Shell } from '../completion.ts';
import { example, repeated, withConfig, withRemoved } from './options.ts';
import { loadConnectors, run, runs } from './run.ts';

/** `check`, `setup`. */
export function addChecks(program: Command): void {
  withRemoved(withConfig(program.command('check'), 'check --strict --config closeloop.yaml'), { try: tried })
    .description('everything that would keep it from working, found at the service and the vendors; 1 for an error')
    .option('--source <name>', 'only this source')
    .option('--strict', 'also warnings have an exit code: 3', false)
    .action(runs(async () => (await import('../check.ts')).check));

  withConfig(program.command('setup'), 'setup --config closeloop.yaml --source support')
    .description(
      'create what is missing at the vendors (fields, properties, webhooks), after showing it; safe to repeat',
    )
    .option('--source <name>', 'only this source')
    .option('--yes', 'do not ask; with --json nothing is done without it', false)
    .action(runs(async () => (await import('../setup.ts')).setup));
}

const tried =
  '"closeloop preview" shows who would be asked; "closeloop requests create", "get" and "cancel" try the calls to the service, each by itself';

/** `init`. */
export function addInit(program: Command): void {
  const init = program
    .command('init')
    .description('ask for everything that a first configuration needs, write it, then run setup and check')
    .option('--config <file>', 'what is written; its secrets go into the .env file beside it', 'closeloop.yaml')
    .option('--data <dir>', 'data of the embedded Redis', '.closeloop')
    .option(
      '--vendor <names>',
      'which systems close tickets or orders, separated by commas; also the file or package of a connector of your own',
    )
    .option('--source-name <name>', 'what the source is called')
    .option(
      '--feedback-url <url>',
      "the Feedback Collection Service's API; its key: the environment variable FEEDBACK_API_KEY",
    )
    .option('--time-zone <zone>', "the account's; left out: this machine's")
    .option('--public-url <url>', 'where vendors reach closeloop')
    .option('--redis <url>', 'a Redis of your own')
    .option('--campaign <id>', 'the campaign to ask in')
    .option(
      '--unhappy <how>',
      'what becomes of a bad grade: nobody (is told), list (a follow-up on the page), slack, teams; their webhook: the environment variable UNHAPPY_URL',
    )
    .option('--field <name=expression>', 'what goes into a custom field of the campaign; repeat it', repeated, [])
    .option('--base-url <url>', "a stand-in's address, in place of the vendor's")
    .option('--overwrite', 'also where the file is there already', false)
    .option('--yes', 'take the usual answer where there is one, and create what is missing at the vendor', false);
  init
    .addHelpText('after', example('init --vendor zendesk'))
    .action(runs(async () => (await import('../init/init.ts')).init));

  // The vendors' questions are read only for the command that has a flag for each.
  program.hook('preSubcommand', async (_program, command) => {
    if (command !== init) return;
    const { addQuestions } = await import('../init/flags.ts');
    const { vendorsNamedIn } = await import('../init/flags.ts');
    await addQuestions(init, await vendorsNamedIn(program.args, await loadConnectors()));
  });
}

/** `completion`. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print what a shell reads to complete commands and options: source <(closeloop completion bash)')
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', example('completion bash'))
    .action((shell: Shell) =>
      run(import('../completion.ts'), ({ completion }, connectors) => completion(shell, program, connectors)),
    );
}

/** `dashboard`. */
export function addDashboard(program: Command): void {
  const dashboard = program.command('dashboard').description('the page for people');
  dashboard
    .command('password')
    .description(
      'read a password from the terminal, which does not show it, or from standard input, and print its hash: dashboard.users[].password',
    )
    .addHelpText('after', example('dashboard password'))
    .action(() => run(import('../dashboard-password.ts'), ({ dashboardPassword }) => dashboardPassword(process.stdin)));
}
