import { Argument, type Command } from 'commander';
import { standins } from '../../../standins/index.ts';
import { example, wholeNumber } from './options.ts';
import { run } from './run.ts';

/** `standin`. */
export function addStandin(program: Command): void {
  program
    .command('standin')
    .description(`run a local double of somebody's API, and print how to use it: ${Object.keys(standins).join(', ')}`)
    .addArgument(new Argument('<name>', 'whose').choices(Object.keys(standins)))
    .option('--port <n>', 'port on 127.0.0.1; 0 takes a free one', wholeNumber, 0)
    .addHelpText('after', example('standin feedback --port 9100'))
    .action((name: string, options: { port: number }) =>
      run(import('../standin.ts'), ({ standin }) => standin(name, options.port)),
    );
}
