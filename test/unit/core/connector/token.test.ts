import { describe, expect, test } from 'vitest';
import type { Vault } from '../../../../core/connector/contract.ts';
import {
  basicCredentials,
  clientCredentials,
  type GrantedToken,
  refreshedToken,
  staticToken,
  TokenGrant,
} from '../../../../core/connector/token.ts';
import { memoryVault } from '../../../support/contract/memory-vault.ts';

/** Tokens t1, t2, … that live 1,000 ms, at an hour that a test sets. */
function granted() {
  const state = { now: 0, fetches: 0, fails: false };
  const tokens = clientCredentials(
    async () => {
      state.fetches += 1;
      if (state.fails) throw new Error('no grant');
      return { token: `t${state.fetches}`, lifeMs: 1_000 };
    },
    () => new Date(state.now),
  );
  return { state, tokens };
}

test('user and password go into every call as one token, in UTF-8', async () => {
  const { credentials, authorize } = basicCredentials('kösti', 'X');
  const token = await credentials.current();
  expect(authorize(token)).toEqual({ authorization: 'Basic a8O2c3RpOlg=' });
  expect(await credentials.instead(token)).toBeUndefined();
});

describe('a token of client credentials', () => {
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
    const tokens = clientCredentials(
      async () => {
        fetches += 1;
        now += 500;
        return { token: `t${fetches}`, lifeMs: 1_000 };
      },
      () => new Date(now),
    );
    await tokens.current();
    now = 760;
    expect(await tokens.current()).toBe('t2');
  });

  test('a refused one is fetched anew, a newer one is kept', async () => {
    const { tokens } = granted();
    expect(await tokens.instead(await tokens.current())).toBe('t2');
    expect(await tokens.instead('t1')).toBe('t2');
    expect(await tokens.current()).toBe('t2');
  });

  test('one that two callers were refused is fetched anew once', async () => {
    const { state, tokens } = granted();
    const token = await tokens.current();
    expect(await Promise.all([tokens.instead(token), tokens.instead(token)])).toEqual(['t2', 't2']);
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

test('a token that is fixed has none instead', async () => {
  const token = staticToken('t');
  expect([await token.current(), await token.instead('t')]).toEqual(['t', undefined]);
});

describe('a token that is traded for a refresh token', () => {
  /** Each refresh gives `a1`, `a2` … and replaces the refresh token by `r1`, `r2` …; two processes share the vault. */
  function connected(more: { replaces?: boolean; vault?: Vault } = {}) {
    const { replaces = true, vault = memoryVault() } = more;
    const state = { now: 0, traded: [] as string[] };
    const refresh = async (refreshToken: string): Promise<GrantedToken> => {
      state.traded.push(refreshToken);
      const n = state.traded.length;
      return { token: `a${n}`, lifeMs: 1_000, ...(replaces && { refreshToken: `r${n}` }) };
    };
    const open = (configured = 'r0') =>
      refreshedToken({ name: 'toy', configured }, refresh, { vault, now: () => new Date(state.now) });
    return { state, open };
  }

  test('it is looked up once, and again when it is used up or refused', async () => {
    const vault = memoryVault();
    let looked = 0;
    const counted: Vault = {
      ...vault,
      get(name) {
        looked += 1;
        return vault.get(name);
      },
    };
    const { state, open } = connected({ vault: counted });
    const one = open();
    for (let i = 0; i < 3; i++) expect(await one.current()).toBe('a1');
    expect(looked).toBe(1);
    state.now = 750;
    expect([await one.current(), await one.current(), looked]).toEqual(['a2', 'a2', 2]);
  });

  test('a renewal that had begun before the refusal may bring the refused one: it is renewed once more', async () => {
    const { state, open } = connected();
    const one = open();
    const [first, instead] = await Promise.all([one.current(), one.instead('a1')]);
    expect([first, instead, state.traded]).toEqual(['a1', 'a2', ['r0', 'r1']]);
    expect([await one.instead('a1'), state.traded.length]).toEqual(['a2', 2]);
  });

  test('it is traded once for all processes, and anew with the refresh token that came last', async () => {
    const { state, open } = connected();
    const [one, two] = [open(), open()];
    expect(await Promise.all([one.current(), two.current(), one.current()])).toEqual(['a1', 'a1', 'a1']);
    state.now = 750;
    expect([await two.current(), await one.current()]).toEqual(['a2', 'a2']);
    expect(state.traded).toEqual(['r0', 'r1']);
  });

  test('it keeps a refresh token that the vendor does not replace', async () => {
    const { state, open } = connected({ replaces: false });
    await open().current();
    state.now = 750;
    await open().current();
    expect(state.traded).toEqual(['r0', 'r0']);
  });

  test('one that is refused is replaced once for all', async () => {
    const { state, open } = connected();
    const [one, two] = [open(), open()];
    await Promise.all([one.current(), two.current()]);
    expect(await Promise.all([one.instead('a1'), two.instead('a1')])).toEqual(['a2', 'a2']);
    expect(state.traded).toEqual(['r0', 'r1']);
  });

  test('a configuration with another refresh token begins anew', async () => {
    const { state, open } = connected();
    await open().current();
    expect(await open('connected-anew').current()).toBe('a2');
    expect(state.traded).toEqual(['r0', 'connected-anew']);
  });

  test('nothing is traded where its successor could not be kept', async () => {
    const vault: Vault = { ...memoryVault(), set: () => Promise.reject(new Error('no key')) };
    const { state, open } = connected({ vault });
    await expect(open().current()).rejects.toThrow('no key');
    expect(state.traded).toEqual([]);
  });
});

test.each([
  [{ access_token: 'a' }, { token: 'a', refreshToken: undefined, lifeMs: undefined }],
  [
    { access_token: 'a', refresh_token: 'r', expires_in: 60 },
    { token: 'a', refreshToken: 'r', lifeMs: 60_000 },
  ],
  [{ access_token: 'a', refresh_token: null, expires_in: null }, { token: 'a' }],
])('a grant %j is read', (grant, expected) => expect(TokenGrant.parse(grant)).toEqual(expected));

test.each([{ access_token: '' }, { access_token: 'a', refresh_token: '' }, { access_token: 'a', expires_in: 0 }])(
  'a grant %j is refused',
  (grant) => expect(TokenGrant.safeParse(grant).success).toBe(false),
);
