import { afterAll, afterEach, beforeAll } from 'vitest';

interface System {
  log: string;
  stop(options: { keepLog: boolean }): Promise<void>;
}

/** A system of its own for this test file: started before its tests, ended after them. Its log is kept where one failed. */
export function useSystem<S extends System>(start: () => Promise<S>): { readonly running: S } {
  let running: S | undefined;
  let keepLog = false;
  beforeAll(async () => {
    running = await start();
  });
  afterEach(({ task }) => {
    keepLog ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    await running?.stop({ keepLog });
    if (running && keepLog) process.stderr.write(`What the system said: ${running.log}\n`);
  });
  return {
    get running() {
      if (!running) throw new Error('the system has not started');
      return running;
    },
  };
}
