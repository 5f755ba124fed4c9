import { afterEach, beforeEach, expect } from 'vitest';

interface Opened<Standin, Reply> {
  standin: Standin;
  url: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  close(): Promise<unknown>;
}

/** An account at a stand-in for a file of tests: opened anew for each of them, at 10:00 on its clock. */
export function accountOfEachTest<Standin, Reply>(open: (now: () => Date) => Promise<Opened<Standin, Reply>>) {
  const clock = { now: 0 };
  let current: Opened<Standin, Reply> | undefined;
  const now = () => new Date(clock.now);
  const account = () => current ?? expect.fail('no test is running');
  beforeEach(async () => {
    clock.now = Date.parse('2026-11-21T10:00:00Z');
    current = await open(now);
  });
  afterEach(async () => {
    await account().close();
    current = undefined;
  });
  return {
    clock,
    now,
    get standin() {
      return account().standin;
    },
    get url() {
      return account().url;
    },
    call: (...call: Parameters<Opened<Standin, Reply>['call']>) => account().call(...call),
  };
}
