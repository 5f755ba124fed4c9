import { describe, expect, test } from 'vitest';
import { renewedToken } from '../../core/connector/token.ts';

/** Tokens t1, t2, … that live 1,000 ms, at an hour that a test sets. */
function granted() {
  const state = { now: 0, fetches: 0, fails: false };
  const tokens = renewedToken(
    async () => {
      state.fetches += 1;
      if (state.fails) throw new Error('no grant');
      return { token: `t${state.fetches}`, lifeMs: 1_000 };
    },
    () => new Date(state.now),
  );
  return { state, tokens };
}

describe('a token that is renewed', () => {
  test.each([
    ['while less than three quarters of its life are over it is kept', 749, 't1'],
    ['when three quarters of its life are over it is fetched anew', 750, 't2'],
    ['long after its life it is fetched anew', 5_000, 't2'],
  ])('%s', async (_name, later, expected) => {
    const { state, tokens } = granted();
    expect(await tokens.current()).toBe('t1');
    state.now = later;
    expect(await tokens.current()).toBe(expected);
  });

  test('callers that come together share one fetch', async () => {
    const { state, tokens } = granted();
    expect(await Promise.all([tokens.current(), tokens.current(), tokens.current()])).toEqual(['t1', 't1', 't1']);
    expect(state.fetches).toBe(1);
  });

  test('its life begins when it was asked for, not when the answer came', async () => {
    let now = 0;
    let fetches = 0;
    const tokens = renewedToken(
      async () => {
        fetches += 1;
        now += 500;
        return { token: fetches, lifeMs: 1_000 };
      },
      () => new Date(now),
    );
    await tokens.current();
    now = 760;
    expect(await tokens.current()).toBe(2);
  });

  test('a refused one is fetched anew, a newer one is kept', async () => {
    const { tokens } = granted();
    tokens.refused(await tokens.current());
    expect(await tokens.current()).toBe('t2');
    tokens.refused('t1');
    expect(await tokens.current()).toBe('t2');
  });

  test('one that two callers were refused is fetched anew once', async () => {
    const { state, tokens } = granted();
    const token = await tokens.current();
    tokens.refused(token);
    tokens.refused(token);
    expect(await tokens.current()).toBe('t2');
    expect(state.fetches).toBe(2);
  });

  test('a fetch that fails is told to those who wait for it, and the next caller tries again', async () => {
    const { state, tokens } = granted();
    state.fails = true;
    await expect(Promise.all([tokens.current(), tokens.current()])).rejects.toThrow('no grant');
    state.fails = false;
    expect(await tokens.current()).toBe('t2');
  });
});
