import { type Command, Option } from 'commander';
import { mailPeriods } from '../../config/mail-periods.ts';
import { example, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `mail`. */
export function addMail(program: Command): void {
  const mail = program
    .command('mail')
    .description('mails about the results, which "reports" in the configuration names');
  withConfig(mail.command('preview'))
    .description('what one says about the last period: personal data; sends nothing')
    .option('--name <name>', 'which; left out: the first')
    .addOption(new Option('--every <period>', 'left out: the first of the mail').choices(mailPeriods))
    .option('--out <file>', 'where its HTML is written to', 'mail.html')
    .addHelpText('after', example('mail preview --out mail.html --config closeloop.yaml'))
    .action(runs(async () => (await import('../mail.ts')).previewMail));
}
