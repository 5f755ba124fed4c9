import { type Command, Option } from 'commander';
import { dryRunHelp, grade, instantHelp, positiveNumber, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `preview`, `why`, `windows`. */
export function addPolicy(program: Command): void {
  withConfig(program.command('preview'), 'preview support/41960 --config closeloop.yaml')
    .description(
      'what would be sent about a record, or about the closings since a day, to whom, when and why, or why not; 3 where no closing of a source would be asked about. Sends nothing',
    )
    .argument('[record]', 'the record: <source>/<record>')
    .option('--source <name>', 'the source of the record, or the only one whose closings are shown')
    .option('--since <when>', `the closings from then on, however old: ${instantHelp}`)
    .option('--until <when>', 'and before; left out: now')
    .option('--limit <n>', 'at most so many of each source', positiveNumber)
    .addOption(new Option('--record <id>', 'the record, as the argument').hideHelp())
    .option('--answer <grade>', 'also what the answer rules would do if its customer gave this grade', grade)
    .option('--comment <text>', 'with this comment')
    .option('--show-record', 'also what rules and fields see of it', false)
    .action(runs(async () => (await import('../preview.ts')).preview));

  withConfig(program.command('why'), 'why carl@example.com --config closeloop.yaml')
    .description(
      'why a customer was asked or not, closing by closing, and what would be sent now; 1 when closeloop has never heard of them',
    )
    .argument('<about>', 'an e-mail address, phone number or identifier of the customer, a record, or a journey')
    .option('--source <name>', 'only of this source')
    .option('--stored', 'only what is stored: reads no record at its vendor, and asks nothing of the service', false)
    .option('--dry-run', dryRunHelp, false)
    .action(runs(async () => (await import('../why.ts')).why));

  withConfig(
    program.command('windows'),
    'windows --rule "phone team" --zone America/New_York --from 2026-12-21 --config closeloop.yaml',
  )
    .description('the coming weeks: when each rule may ask, on the clock of a recipient; 1 where it never may')
    .option('--source <name>', 'only rules of this source')
    .option('--rule <name>', 'only this rule')
    .option('--zone <zone>', "of the recipient; left out: the account's")
    .option(
      '--country <country>',
      'of the recipient: its public holidays, and its zone if it has one and --zone is left out',
    )
    .option('--from <day>', 'the first day; left out: today')
    .option('--weeks <n>', 'so many', positiveNumber, 2)
    .action(runs(async () => (await import('../windows.ts')).windows));
}
