import { Argument, type Command } from 'commander';
import type { Shell } from '../completion.ts';
import { example } from './options.ts';
import { run } from './run.ts';

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
