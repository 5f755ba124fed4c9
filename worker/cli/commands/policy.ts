import type { Command } from 'commander';
import { dryRunHelp, example, withConfig } from './options.ts';
import { run } from './run.ts';
import { positiveNumber } from './values.ts';

/** `preview`, `why`, `windows`. */
export function addPolicy(program: Command): void {
  withConfig(program.command('preview'))
    .description(
      'what would be sent about a record, to whom, when and why, or why not; without a record: what each condition gave over the latest closings. Sends nothing',
    )
    .requiredOption('--source <name>', 'the source')
    .option('--record <id>', 'the record, as its journeys name it')
    .option('--show-record', 'also what rules and fields see of it', false)
    .addHelpText('after', example('preview --config closeloop.yaml --source support --record 41960'))
    .action((options) =>
      run(import('../preview.ts'), ({ preview }, connectors) => preview({ ...options, connectors })),
    );

  withConfig(program.command('why'))
    .description(
      'why a customer was asked or not, closing by closing, and what would be sent now; 1 when closeloop has never heard of them',
    )
    .argument('<about>', 'an e-mail address, phone number or identifier of the customer, a record, or a journey')
    .option('--source <name>', 'only of this source')
    .option('--stored', 'only what is stored: reads no record at its vendor, and asks nothing of the service', false)
    .option('--dry-run', dryRunHelp, false)
    .addHelpText('after', example('why carl@example.com --config closeloop.yaml'))
    .action((about: string, options) =>
      run(import('../why.ts'), ({ why }, connectors) => why({ ...options, about, connectors })),
    );

  withConfig(program.command('windows'))
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
    .addHelpText(
      'after',
      example('windows --rule "phone team" --zone America/New_York --from 2026-12-21 --config closeloop.yaml'),
    )
    .action((options) =>
      run(import('../windows.ts'), ({ windows }, connectors) => windows({ ...options, connectors })),
    );
}
