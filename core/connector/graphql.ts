import { z } from 'zod';
import { listOf, orElse } from '../entries.ts';
import { lookUp } from '../look-up.ts';
import type { ResponseHeaders } from '../ports.ts';
import { type MeaningTable, transient, VendorError } from './classify.ts';
import type { ConnectorPorts } from './contract.ts';
import type { Urgency } from './quota.ts';
import { createVendorApi, type VendorAccount, type VendorCall } from './vendor-api.ts';

/*
 * A vendor with a GraphQL API: errors come with status 200 and a code, and each operation of one document may fail alone. Error messages are
 * never repeated, as they quote values.
 */

export interface GraphqlAccount extends Omit<VendorAccount, 'rules' | 'refuses' | 'jsonOf'> {
  /** Headers of every call. */
  headers?: Readonly<Record<string, string>>;
  codes: {
    /** Rows by the codes (`extensions.code`) that concern the whole document, and by status. */
    document: MeaningTable;
    /**
     * Rows by the codes that concern one operation. Any other code of an operation counts as a failure of the vendor, and the call is tried
     * again.
     */
    operation: MeaningTable;
    /** The codes of a refused token. */
    token?: readonly string[];
    /** The code of an operation on something that doesn't exist, or no longer does. */
    gone?: string;
  };
}

export interface Operations {
  data: Readonly<Record<string, unknown>>;
  /** The failed operations by alias, or by name for an operation without an alias. */
  failures: ReadonlyMap<string, VendorError>;
  headers: ResponseHeaders;
}

export interface GraphqlApi {
  /** @param place the call in messages. @throws VendorError also if only one of the operations fails */
  call<S extends z.ZodType>(
    place: string,
    document: string,
    data: S,
    options?: { variables?: object; urgency?: Urgency },
  ): Promise<z.output<S>>;
  /** Sends a document whose operations may fail one by one. */
  callEach(place: string, document: string, variables?: object): Promise<Operations>;
  /** Sends one mutation for each input in one document. Returns the result or the error of each, in the order of the inputs. */
  callMany(place: string, mutation: Mutation, inputs: readonly object[]): Promise<readonly unknown[]>;
}

interface Mutation {
  /** 'setOrderCustomFields' */
  field: string;
  /** The type of the mutation's argument `input`: 'UpdateOrderInput!' */
  input: string;
  /** The fields to read from the mutation's result: 'id'. */
  selection: string;
}

const Failure = z.object({
  path: orElse(z.array(z.unknown()).min(1), undefined),
  extensions: orElse(z.object({ code: z.string() }), { code: '' }),
});
const Envelope = z.object({ data: z.record(z.string(), z.unknown()).nullish(), errors: listOf(Failure).optional() });

/** The code for an error of the whole document whose own code is not in the table. */
const unknown = 'UNKNOWN';
const failing = transient('the vendor fails', 'a later attempt may succeed');

export function createGraphqlApi(
  { headers, codes, ...account }: GraphqlAccount,
  ports: Pick<ConnectorPorts, 'fetch' | 'now' | 'budget'>,
): GraphqlApi {
  const table: MeaningTable = { [unknown]: failing, ...codes.document };

  /** Undefined if every operation succeeded or failed alone. */
  function codeOf(json: unknown): string | undefined {
    const { errors = [] } = Envelope.safeParse(json).data ?? {};
    const found = errors.map(({ path, extensions: { code } }) =>
      Object.hasOwn(table, code) ? code : path === undefined ? unknown : undefined,
    );
    return found.find((code) => code !== undefined);
  }

  const refuses: VendorAccount['refuses'] = ({ status, json }) =>
    status === 401 || (codes.token ?? []).includes(codeOf(json) ?? unknown);
  const api = createVendorApi({ ...account, rules: { codeOf, table }, refuses }, ports);

  async function send(place: string, query: string, variables: object = {}, urgency: Urgency = 'work') {
    const body = { query, variables };
    const call: VendorCall = { method: 'POST', path: '', place, body, urgency, ...(headers && { headers }) };
    const response = await api.exchange(call);
    await api.accept(call, response);
    const { data, errors = [] } = api.parse(call, response, Envelope);
    const failures = new Map(
      errors.map(({ path, extensions }) => [
        String(path?.[0]),
        failureOf(`${account.name}: ${place}`, codes, extensions.code),
      ]),
    );
    const parsed = <S extends z.ZodType>(schema: S) => api.parse(call, { ...response, json: data }, schema);
    return { data: data ?? {}, failures, parsed, headers: response.headers };
  }

  return {
    async call(place, document, schema, { variables, urgency } = {}) {
      const { failures, parsed } = await send(place, document, variables, urgency);
      for (const error of failures.values()) throw error;
      return parsed(schema);
    },
    async callMany(place, { field, input, selection }, inputs) {
      const names = inputs.map((_, n) => `i${n}`);
      const parts = names.map((name) => `${name}: ${field}(input: $${name}) { ${selection} }`);
      const document = `mutation(${names.map((name) => `$${name}: ${input}`).join(', ')}) { ${parts.join(' ')} }`;
      const variables = Object.fromEntries(names.map((name, n) => [name, inputs[n]]));
      const { data, failures } = await send(place, document, variables);
      return names.map((name) => failures.get(name) ?? data[name]);
    },
    async callEach(place, document, variables) {
      const { data, failures, headers } = await send(place, document, variables);
      return { data, failures, headers };
    },
  };
}

/** @param place account and call, for messages */
function failureOf(place: string, { operation, gone }: GraphqlAccount['codes'], code: string): VendorError {
  const known = lookUp(operation, code);
  const { kind, problem, remedy } = known ?? failing;
  const isFinal = kind === 'permanent' || kind === 'config';
  return new VendorError(place, {
    advice: { kind: isFinal ? kind : 'transient' },
    outcome: isFinal ? 'refused' : 'unknown',
    ...{ problem, remedy, status: code === gone ? 404 : 200, code: known ? code : '' },
  });
}
