import type { BuiltIn } from '../../../core/connector/built-in.ts';

let exitCode = 0;

/** The exit code of the command that ran last in this process. */
export function lastExitCode(): number {
  return exitCode;
}

/** Only the command that runs is loaded, so that each starts fast. */
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
