import type { Command, OptionValues } from 'commander';
import type { BuiltIn } from '../../../core/connector/built-in.ts';

let exitCode = 0;

/** The exit code of the command that ran last in this process. */
export function lastExitCode(): number {
  return exitCode;
}

/**
 * The action of a command. The command's code is loaded when the command runs, so that every command starts fast. It is given its options,
 * its arguments by their names, and the connectors.
 */
export function runs<Options extends OptionValues>(
  load: () => Promise<(options: Options) => Promise<number>>,
): (this: Command) => Promise<void> {
  return async function () {
    const named = this.registeredArguments.map((one, i) => [one.name(), this.processedArgs[i]] as const);
    const given = Object.fromEntries(named.filter(([, value]) => value !== undefined));
    await run(load(), (command, connectors) => command({ ...this.opts<Options>(), ...given, connectors }));
  };
}

/** Runs a command whose function takes other arguments. */
export async function run<Module>(
  loading: Promise<Module>,
  command: (module: Module, connectors: readonly BuiltIn[]) => Promise<number>,
): Promise<void> {
  const [module, { finish }, connectors] = await Promise.all([loading, import('../finish.ts'), loadConnectors()]);
  exitCode = await finish(() => command(module, connectors));
}

/** The one place of the worker that knows the list of connectors. */
export async function loadConnectors(): Promise<readonly BuiltIn[]> {
  return (await import('../../../connectors/built-in.ts')).builtIn;
}
