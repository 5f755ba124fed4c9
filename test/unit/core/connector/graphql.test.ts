import { expect, test } from 'vitest';
import { z } from 'zod';
import { config, permanent } from '../../../../core/connector/classify.ts';
import { createGraphqlApi, type GraphqlAccount } from '../../../../core/connector/graphql.ts';
import { openPorts } from '../../../support/contract/bench.ts';

const words = ['a problem', 'a remedy'] as const;
const codes: GraphqlAccount['codes'] = {
  document: { FORBIDDEN: config(...words) },
  operation: { NOT_FOUND: permanent(...words), BAD_VALUE: permanent(...words) },
  ...{ token: ['FORBIDDEN'], gone: 'NOT_FOUND' },
};

function opened(answers: readonly object[], more: Partial<GraphqlAccount> = {}) {
  const left = [...answers];
  const sent: (string | undefined)[] = [];
  const { ports } = openPorts({
    fetch: async (_, { headers }) => {
      sent.push(new Headers(headers).get('authorization') ?? undefined);
      return new Response(JSON.stringify(left.shift()));
    },
  });
  return { api: createGraphqlApi({ name: 'Shop', baseUrl: 'https://shop.example/api', codes, ...more }, ports), sent };
}

const failed = (code: string | undefined, path?: unknown[]) => ({
  ...{ message: 'words of the vendor', ...(path && { path }) },
  ...(code !== undefined && { extensions: { code } }),
});

test('operations fail each for itself, those on what is gone as gone', async () => {
  const errors = [failed('NOT_FOUND', ['i1']), failed('NEW_CODE', ['i2', 0]), failed(undefined, ['i3'])];
  const { api } = opened([{ data: { i0: { id: 1 }, i1: null }, errors }]);
  const mutation = { field: 'put', input: 'In!', selection: 'id' };
  const [one, gone, unknown, nameless] = await api.callMany('writing', mutation, [{}, {}, {}, {}]);
  expect(one).toEqual({ id: 1 });
  expect(gone).toMatchObject({ isGone: true, code: 'NOT_FOUND', advice: { kind: 'permanent' } });
  expect(unknown).toMatchObject({ code: '', advice: { kind: 'transient' }, outcome: 'unknown' });
  expect(nameless).toMatchObject({ code: '', advice: { kind: 'transient' } });
});

test('one operation that fails fails a call that is whole, and repeats no word of the vendor', async () => {
  const { api } = opened([{ data: null, errors: [failed('BAD_VALUE', ['add'])] }]);
  const error = await api.call('adding', 'mutation { add }', z.object({})).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: 'Shop: adding: a problem; a remedy.', advice: { kind: 'permanent' } });
});

test.each([
  ['a code of the document, whatever its path', failed('FORBIDDEN', ['a']), 'config'],
  ['another code without a path', failed('SYNTAX'), 'transient'],
  ['an error without code and path', failed(undefined), 'transient'],
])('%s fails all', async (_, one, kind) => {
  const { api } = opened([{ data: { a: null }, errors: [one] }]);
  const error = await api.callEach('reading', '{ a }').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ advice: { kind } });
});

test('a token that is refused with status 200 is replaced once', async () => {
  const tokens = ['old', 'new'];
  const credentials = { current: async () => 'old', instead: async () => tokens[1] };
  const { api, sent } = opened([{ data: null, errors: [failed('FORBIDDEN', ['a'])] }, { data: { a: 1 } }], {
    credentials,
  });
  expect(await api.call('reading', '{ a }', z.object({ a: z.number() }))).toEqual({ a: 1 });
  expect(sent).toEqual(['Bearer old', 'Bearer new']);
});
