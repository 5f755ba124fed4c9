import { runCommand } from '../../worker/cli/main.ts';
import type { Finished } from './processes.ts';

let last: Promise<unknown> = Promise.resolve();

/**
 * One closeloop command in this process, to its end, with these variables of the environment: a fifth of the work of a process
 * of its own (`command` in processes.ts), which is for what is about processes. One at a time, as there is one standard output.
 */
export function commandHere(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  const ended = last.then(() => runHere(args, env));
  last = ended.catch(() => undefined);
  return ended;
}

async function runHere(args: readonly string[], env: Record<string, string>): Promise<Finished> {
  const before = { ...process.env };
  const [out, err] = [captured(process.stdout), captured(process.stderr)];
  Object.assign(process.env, env);
  try {
    const code = await runCommand(args);
    return { code, out: out.text(), err: err.text() };
  } finally {
    for (const stream of [out, err]) stream.end();
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

/** What is written to it from now on, in place of writing it. */
function captured(stream: NodeJS.WriteStream) {
  const { write } = stream;
  let text = '';
  stream.write = (piece: string | Uint8Array) => {
    text += String(piece);
    return true;
  };
  return {
    text: () => text,
    end: () => {
      stream.write = write;
    },
  };
}
