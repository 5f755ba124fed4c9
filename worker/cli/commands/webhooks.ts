import type { Command } from 'commander';
import { instantHelp } from '../instant-help.ts';
import { example, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `webhooks`. */
export function addWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('who is told of what happens: see, test, send again');
  withConfig(webhooks.command('list'))
    .description('each webhook of the configuration, with the events that it has not taken')
    .addHelpText('after', example('webhooks list --config closeloop.yaml'))
    .action(runs(async () => (await import('../webhooks.ts')).listWebhooks));

  withConfig(webhooks.command('test [name]'))
    .description('send a signed event of the type webhook.test to one of them, or to all')
    .addHelpText('after', example('webhooks test warehouse --config closeloop.yaml'))
    .action(runs(async () => (await import('../webhooks.ts')).testWebhooks));

  withConfig(webhooks.command('replay <name>'))
    .description(
      'send events that were given up, once the receiver is mended: in their order, before what has come since',
    )
    .option('--since <when>', `only what happened since: ${instantHelp}`)
    .addHelpText('after', example('webhooks replay warehouse --since 2026-11-01 --config closeloop.yaml'))
    .action(runs(async () => (await import('../webhooks.ts')).replayWebhooks));
}
