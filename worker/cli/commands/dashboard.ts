import type { Command } from 'commander';
import { example } from './options.ts';
import { run } from './run.ts';

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
