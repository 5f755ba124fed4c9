import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { refusal } from '../../../core/errors.ts';

/** A person at a terminal. */
export interface Person {
  say(text: string): void;
  ask(question: string): Promise<string>;
  /** The answer is not shown while it is typed. */
  askHidden(question: string): Promise<string>;
  close(): void;
}

/** The person at this terminal; undefined where input or output is no terminal. Questions go to standard error. */
export function personAt(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Person | undefined {
  if (!input.isTTY) return undefined;
  let isHidden = false;
  const shown = new Writable({
    write(text: Buffer, _encoding, done) {
      if (!isHidden) output.write(text);
      done();
    },
  });
  const lines = createInterface({ input, output: shown, terminal: true });
  const gone = new AbortController();
  lines.on('SIGINT', () => {
    lines.close();
    process.kill(process.pid, 'SIGINT');
  });
  lines.on('close', () => gone.abort());
  const ask = async (question: string) => {
    try {
      return (await lines.question(question, { signal: gone.signal })).trim();
    } catch (cause) {
      if (!gone.signal.aborted) throw cause;
      throw refusal('Nothing was written: the input ended.', cause);
    }
  };
  return {
    say: (text) => void output.write(`${text}\n`),
    ask,
    askHidden: async (question) => {
      output.write(question);
      isHidden = true;
      try {
        return await ask('');
      } finally {
        isHidden = false;
        output.write('\n');
      }
    },
    close: () => lines.close(),
  };
}
