import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, test } from 'vitest';
import { z } from 'zod';
import { vendure } from '../../connectors/vendure/vendure.ts';
import { type HmacScheme, signHmac } from '../../core/connector/signature.ts';
import { FaultQueue } from '../../standins/kit/faults.ts';
import { serve } from '../../standins/kit/server.ts';
import { fault, hookUrl, plantOneOf, posted, preflight } from '../support/connectors/vendor-account.ts';
import { type ConnectorSample, connectorContract, customer } from '../support/contract.ts';
import { until } from '../support/loop.ts';
import { startReceiver } from './systems/receiver.ts';
import { useSystem } from './systems/use-system.ts';
import { startVendure } from './systems/vendure.ts';

const receiver = startReceiver();
const system = useSystem(async () => startVendure({ hook: await receiver.url() }));
let shared: Awaited<ReturnType<typeof addUser>>;
beforeAll(async () => {
  shared = await addUser(['ReadOrder', 'UpdateOrder']);
  const { person } = system.running;
  await person.deliver(await person.placeOrder({ email: 'first@example.net' }));
});

const Id = z.object({ id: z.string() });
const Ids = z.object({ items: z.array(Id) });
const Order = z.object({
  customFields: z.record(z.string(), z.unknown()),
  history: z.object({ items: z.array(z.object({ isPublic: z.boolean(), data: z.object({ note: z.string() }) })) }),
});
const lookUp = `query($id: ID!) { order(id: $id) {
  customFields { feedbackGrade feedbackComment feedbackAt feedbackShort }
  history(options: { filter: { type: { eq: "ORDER_NOTE" } }, sort: { id: ASC } }) { items { isPublic data } } } }`;

const scheme: HmacScheme = {
  ...{ header: 'x-vendure-signature', algorithm: 'sha256', encoding: 'hex' },
  signed: ({ raw }, at) => [`${at}.`, raw],
};
const sign = (raw: Uint8Array, secret: string, at = String(Math.floor(Date.now() / 1000))) => {
  const signature = signHmac(secret, { method: 'POST', url: hookUrl, raw }, scheme, at);
  return posted(raw, { 'x-vendure-signature': signature, 'x-vendure-timestamp': at });
};

/** The order as it is now. Another process makes the call: the suite asks synchronously. */
function now(address: string, token: string, id: string): z.output<typeof Order> {
  const script = `fetch(process.argv[1], { method: 'POST', body: process.argv[3],
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.argv[2] },
  }).then((response) => response.text()).then((text) => process.stdout.write(text))`;
  const body = JSON.stringify({ query: lookUp, variables: { id } });
  const answer = execFileSync(process.execPath, ['-e', script, address, token, body], { encoding: 'utf8' });
  return z.object({ data: z.object({ order: Order }) }).parse(JSON.parse(answer)).data.order;
}

const makeRole = 'mutation($i: CreateRoleInput!) { createRole(input: $i) { id } }';
const makeUser = 'mutation($i: CreateAdministratorInput!) { createAdministrator(input: $i) { id } }';
const changeUser = 'mutation($i: UpdateAdministratorInput!) { updateAdministrator(input: $i) { id } }';
const logIn =
  'mutation($u: String!, $p: String!) { login(username: $u, password: $p, rememberMe: true) { __typename } }';

/** An administrator of closeloop's own, who can be changed without harm to other tests. */
async function addUser(permissions: readonly string[]) {
  const { person, baseUrl } = system.running;
  const name = `c${randomBytes(6).toString('hex')}`;
  const [username, password] = [`${name}@example.com`, randomBytes(12).toString('hex')];
  const role = await person.call(Id, makeRole, { i: { code: name, description: name, permissions } });
  const input = { firstName: 'C', lastName: 'L', emailAddress: username, password, roleIds: [role.id] };
  const { id } = await person.call(Id, makeUser, { i: input });
  const response = await fetch(`${baseUrl}/admin-api`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: logIn, variables: { u: username, p: password } }),
  });
  return { id, username, password, token: response.headers.get('vendure-auth-token') ?? '' };
}

/** Nobody else has this address from now on. */
async function freeEmail(email: string): Promise<void> {
  const { call } = system.running.person;
  const find = 'query($e: String!) { customers(options: { filter: { emailAddress: { eq: $e } } }) { items { id } } }';
  for (const { id } of (await call(Ids, find, { e: email })).items) {
    const emailAddress = `${randomBytes(6).toString('hex')}@example.net`;
    await call(z.unknown(), changeCustomer, { i: { id, emailAddress } });
  }
}
const changeCustomer = 'mutation($i: UpdateCustomerInput!) { updateCustomer(input: $i) { __typename } }';

async function customerOn(id: string): Promise<string> {
  const find = 'query($id: ID!) { order(id: $id) { customer { id } } }';
  return (await system.running.person.call(z.object({ customer: Id }), find, { id })).customer.id;
}

async function moveTo(id: string, state: string): Promise<void> {
  const move = 'mutation($id: ID!, $s: String!) { transitionOrderToState(id: $id, state: $s) { ... on Order { id } } }';
  await system.running.person.call(Id, move, { id, s: state });
}

const sample: ConnectorSample = {
  connector: vendure,
  signatureHeaders: ['x-vendure-signature', 'x-vendure-timestamp'],
  goesStale: true,
  missingId: '999999999',
  // The login, the custom fields, the orders; and one document for all answers, and each note.
  callsFor100: { read: 3, writeBack: 104 },
  pollPage: 100,
  does: ['poll', 'check', 'no-answer', 'echo', 'forget', 'replace'],
  planted: ['a wrong password', 'no right to orders', 'another address', 'no order in the closed states'],
  lacks: {
    swallow: 'Vendure keeps what it takes',
    dropdown: 'a custom field with options takes texts',
    lock: 'every order takes answers',
  },
  async start() {
    const { person, baseUrl } = system.running;
    let user = shared;
    const faults = new FaultQueue();
    let [calls, closedStates] = [0, ['Delivered']];
    const proxy = await serve(
      async ({ raw, headers, path, method }) => {
        calls += 1;
        const sent = ['content-type', 'authorization', 'vendure-token', 'vendure-api-key'];
        const kept = sent.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]));
        const body = Buffer.from(raw);
        const answer = await fetch(baseUrl + path, { method, headers: Object.fromEntries(kept), body });
        const token = answer.headers.get('vendure-auth-token');
        const type = answer.headers.get('content-type') ?? '';
        const more = { 'content-type': type, ...(token !== null && { 'vendure-auth-token': token }) };
        return { status: answer.status, headers: more, body: await answer.text() };
      },
      { faults },
    );
    let address = `${proxy.url}/admin-api`;
    const at = (id: string) => now(`${baseUrl}/admin-api`, user.token, id);
    const toldOf = async (id: string, secret: string, skip = 0) => {
      const isIt = ({ orderId, to }: { orderId?: string; to?: string }) => orderId === id && to === 'Delivered';
      const found = () => receiver.told.filter(({ body }) => isIt(JSON.parse(body)))[skip];
      await until(() => found() !== undefined);
      const { body = '', headers } = found() ?? {};
      return sign(Buffer.from(body), secret, String(headers?.['x-vendure-timestamp']));
    };
    let seen = receiver.told.length;
    return {
      settings: (secrets) => ({
        ...{ address, username: user.username, password: user.password, closedStates },
        ...(secrets && { webhookSecrets: secrets }),
        writeBack: {
          ...{ grade: 'feedbackGrade', comment: 'feedbackComment', answeredAt: 'feedbackAt', status: 'feedbackShort' },
          ...{ note: true, noAnswer: true },
        },
      }),
      async closeRecord(secret) {
        const person = system.running.person;
        const recordId = await person.placeOrder({ email: customer.email, lastName: customer.comment });
        await person.deliver(recordId);
        return { recordId, delivery: await toldOf(recordId, secret) };
      },
      async closeAtOnce(count) {
        const ids: string[] = [];
        for (const _ of Array(count)) ids.push(await person.placeOrder({ email: customer.email }));
        for (const id of ids) await person.deliver(id);
        // In one call: the shop's clock goes on by a second or two.
        for (const state of ['Returned', 'Delivered']) {
          const moves = ids.map(
            (id) => `o${id}: transitionOrderToState(id: "${id}", state: "${state}") { __typename }`,
          );
          await person.call(z.unknown(), `mutation { ${moves.join(' ')} }`);
        }
        return ids;
      },
      reopen: (id) => moveTo(id, 'Returned'),
      async closeAgain(id, secret) {
        await moveTo(id, 'Delivered');
        return await toldOf(id, secret, 1);
      },
      async correctEmail(id, email) {
        await freeEmail(email);
        const changed = { id: await customerOn(id), emailAddress: email };
        await person.call(z.unknown(), changeCustomer, { i: changed });
      },
      async replaceCustomer(id, email) {
        await freeEmail(email);
        const make = 'mutation($i: CreateCustomerInput!) { createCustomer(input: $i) { ... on Customer { id } } }';
        const input = { emailAddress: email, firstName: 'A', lastName: 'B' };
        const other = await person.call(Id, make, { i: input });
        const put = 'mutation($i: SetOrderCustomerInput!) { setOrderCustomer(input: $i) { id } }';
        await person.call(Id, put, { i: { orderId: id, customerId: other.id } });
      },
      sign: (raw, secret) => sign(raw, secret),
      gradeOn: (id) => z.number().nullable().parse(at(id).customFields.feedbackGrade),
      commentOn: (id) => z.string().nullable().parse(at(id).customFields.feedbackComment),
      notesOn: (id) => at(id).history.items.map(({ isPublic, data }) => ({ text: data.note, isHtml: false, isPublic })),
      traces: (id) => at(id),
      breakVendor: (how, words) => void faults.add(fault(how, words, { statusCode: 1, message: words })),
      calls: () => calls,
      close: () => proxy.close(),
      settle: () => sleep(2_100 - (Date.now() % 1_000)),
      preflight: () => preflight,
      async delivered(secret) {
        await sleep(300);
        const fresh = receiver.told.slice(seen);
        seen = receiver.told.length;
        return fresh.map(({ body, headers }) =>
          sign(Buffer.from(body), secret, String(headers['x-vendure-timestamp'])),
        );
      },
      async plant(what) {
        const plants = {
          'a wrong password': () => person.call(Id, changeUser, { i: { id: user.id, password: 'another-password' } }),
          async 'no right to orders'() {
            const other = { code: user.id, description: 'none', permissions: ['ReadCatalog'] };
            const role = await person.call(Id, makeRole, { i: other });
            await person.call(Id, changeUser, { i: { id: user.id, roleIds: [role.id] } });
          },
          'another address': () => {
            address = `${proxy.url}/somewhere`;
          },
          'no order in the closed states': () => {
            closedStates = ['Lost'];
          },
        };
        user = await addUser(['ReadOrder', 'UpdateOrder']);
        await plantOneOf(plants, what);
      },
    };
  },
};

connectorContract(sample, { describe, test, beforeEach, afterEach });
