import type { Command } from 'commander';
import { instantHelp, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `alerts`. */
export function addAlerts(program: Command): void {
  const alerts = program.command('alerts').description('who is told when a person has to act');
  withConfig(alerts.command('test'), 'alerts test --config closeloop.yaml')
    .description('send an alert that says it is a test to everybody whom "alerts" names')
    .action(runs(async () => (await import('../alerts.ts')).testAlerts));
}

/** `webhooks`. */
export function addWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('who is told of what happens: see, test, send again');
  withConfig(webhooks.command('list'), 'webhooks list --config closeloop.yaml')
    .description('each webhook of the configuration, with the events that it has not taken')
    .action(runs(async () => (await import('../webhooks.ts')).listWebhooks));

  withConfig(webhooks.command('test [name]'), 'webhooks test warehouse --config closeloop.yaml')
    .description('send a signed event of the type webhook.test to one of them, or to all')
    .action(runs(async () => (await import('../webhooks.ts')).testWebhooks));

  withConfig(webhooks.command('replay <name>'), 'webhooks replay warehouse --since 2026-11-01 --config closeloop.yaml')
    .description(
      'send events that were given up, once the receiver is mended: in their order, before what has come since; what waits for its next try is tried at once',
    )
    .option('--since <when>', `only what happened since: ${instantHelp}`)
    .action(runs(async () => (await import('../webhooks.ts')).replayWebhooks));
}
