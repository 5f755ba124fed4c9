import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { errorAt, manualStep, namesOf, warningAt } from '../../core/connector/check.ts';
import { defineConnector, type Events, type PreflightContext } from '../../core/connector/contract.ts';
import { noEvent, oneEvent } from '../../core/connector/delivery.ts';
import { noteAction } from '../../core/connector/desk/act.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { closingOf, pollWindow } from '../../core/connector/desk/poll.ts';
import { comparedFields, type DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { putTogether } from '../../core/connector/desk/together.ts';
import { inPlainForm } from '../../core/connector/desk/write.ts';
import { typesByPart } from '../../core/connector/fields.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { isClosing, Order, placedAt, presented, shapeOf, stateOf, type VendureShape } from './record.ts';
import { settings, stateAt, type VendureSettings } from './settings.ts';
import { isRefusal, openShop, type Shop } from './shop.ts';

const proof: HmacScheme = {
  ...{ header: 'x-vendure-signature', algorithm: 'sha256', encoding: 'hex' },
  timestamp: { header: 'x-vendure-timestamp', as: 'seconds', toleranceMs: 300_000 },
  signed: ({ raw }, timestamp) => [`${timestamp}.`, raw],
};
const word = z.string().regex(/^[\w-]{1,64}$/);
const Moved = z.object({ orderId: word, from: word, to: word, at: z.coerce.date() });

function eventsIn(body: unknown, closedStates: readonly string[]): Events {
  const { data } = Moved.safeParse(body);
  if (data === undefined) return { ok: false, why: "no delivery of closeloop's plugin" };
  const { orderId: recordId, from, to, at } = data;
  const event = { recordId, at, key: `${recordId}|${to}|${at.toISOString()}`, what: `state ${to}, was ${from}` };
  if (isClosing(data, closedStates)) return oneEvent({ kind: 'closed', certain: true, ...event });
  if (isClosing({ from: to, to: from }, closedStates)) return oneEvent({ kind: 'changed', ...event });
  return noEvent(event.what, 'closes nothing');
}

/** The poll's window, by the time of the last change of the state; without the plugin by the latest time at which an order may close. */
function windowOf({ closedStates: states, plugin, deliveredWithin }: VendureSettings, { list }: Shop) {
  const isNoted = plugin !== 'none';
  const [by, backMs] = isNoted ? [stateAt, 0] : ['orderPlacedAt', deliveredWithin];
  const sort = `sort: { ${by}: ASC, id: ASC }, skip: $skip`;
  const which = `filter: { state: { in: $states }, ${by}: { after: $after } }, ${sort}`;
  return {
    async page(from: Date, page: number) {
      // `after` is strict, and some databases compare fractions of a second as text.
      const variables = { states, after: new Date(from.getTime() - backMs - 1_000), skip: (page - 1) * 100 };
      const rows = await list('$states: [String!], $after: DateTime!, $skip: Int', which, variables, 'background');
      return { rows, isFull: rows.length === 100 };
    },
    changedAt: (order: Order) => new Date(isNoted ? String(order.fields[stateAt]) : Number(placedAt(order)) + backMs),
    events: (order: Order) => closingOf(order.id, stateOf(order, states)),
    // Without the plugin the overlap is longer, as orders close while a long list is read.
    overlapMs: isNoted ? 120_000 : 3_600_000,
  };
}

const Channel = z.object({ activeChannel: z.object({ token: z.string() }) });
const example = { id: '', state: '', totalWithTax: 0, createdAt: '2026-01-01T00:00:00Z', history: { items: [] } };
const names = namesOf(shapeOf(Order.parse({ ...example, lines: [{ quantity: 1, item: {} }] })));
const [grade, others] = [{ whole: 'int', fraction: 'float' }, ['text', 'string'] as const];
const types = typesByPart({ grade, comment: others, answeredAt: ['datetime'], others });
// No order has this id, so the call changes nothing, and only a missing right becomes an error.
const tryToWrite = 'mutation { setOrderCustomFields(input: { id: "0" }) { id } }';

function preflightOf(settings: VendureSettings, { api, fieldsOf, list }: Shop) {
  const { channelToken, plugin, closedStates: states, writeBack } = settings;
  const credential = settings.apiKey === undefined ? 'username' : 'apiKey';
  const isStandin = isLoopback(settings.address);

  async function fields(grades: readonly number[]) {
    const found = await fieldsOf('Order');
    const typeOf = ({ type, list }: (typeof found)[number]) => (list ? `${type} list` : type);
    const current = async () => found.map((one) => ({ ...one, type: typeOf(one), required: false }));
    const words = { of: 'orders', field: 'custom field', place: "customFields.Order in the shop's code" };
    const compared = await comparedFields({ ...words, list: current, types }, writeBack, grades);
    if (plugin === 'none' || found.some(({ name }) => name === stateAt)) return compared;
    const problem = `orders have no custom field ${stateAt}: the plugin is not in the shop's code`;
    const lacks = errorAt('plugin', problem, 'closeloop setup tells how, or set plugin: none');
    return { ...compared, findings: [lacks, ...compared.findings] };
  }

  const probes: DeskPreflight['probes'] = [
    {
      ...{ at: 'address', what: 'the channel' },
      async read() {
        const { activeChannel } = await api.call('the channel', '{ activeChannel { token } }', Channel);
        if (channelToken === undefined || channelToken === activeChannel.token) return [];
        return [errorAt('channelToken', 'no channel has it', 'take it from Settings > Channels')];
      },
    },
    { ...{ at: credential, what: 'the right to write' }, tries: () => api.callEach('the right to write', tryToWrite) },
    {
      ...{ at: 'closedStates', what: 'the orders' },
      async read() {
        const closed = await list('$states: [String!]', 'filter: { state: { in: $states } }', { states });
        const remedy = 'name the states in which your orders end: Shipped, perhaps';
        return closed.length > 0 ? [] : [warningAt('closedStates', 'no order is in any of them', remedy)];
      },
    },
  ];
  async function setup({ grades, hookUrl = '…' }: PreflightContext) {
    const { findings } = await fields(grades);
    const lines = [
      'Copy examples/vendure-plugin/closeloop.plugin.ts (of the package), and add to `plugins` of the configuration:',
      `  CloseloopPlugin.init({ url: '${hookUrl}', secret: process.env.CLOSELOOP_SECRET }),`,
      `It has feedbackGrade, feedbackComment, feedbackAt, ${stateAt}. Other fields go into \`customFields.Order\`:`,
      "  { name: 'feedbackStatus', type: 'string', nullable: true, public: false },",
      'Generate and run a migration, and start server and worker again. What is wrong now:',
      ...findings.map(({ problem }) => `- ${problem}`),
    ];
    const what = "put closeloop's plugin and custom fields into the shop's code";
    return findings.length === 0 ? [] : [manualStep(what, ...lines)];
  }
  const shape = { names, hint: 'custom fields are under order.fields and customer.fields' };
  return { preflight: { credential, shape, probes, fields, isStandin }, setup };
}

/**
 * Vendure: orders that have arrived. Vendure sends no webhooks, and does not change `updatedAt` when a state changes. closeloop's plugin in
 * the shop's code (examples/vendure-plugin) sends webhooks, and stores the time in a custom field, by which the poll finds missed closings.
 */
export const vendure = defineConnector({
  name: 'vendure',
  settings,
  account: ({ address }) => address,
  actions: { note: noteAction },
  parts: { openedAt: ['order.placedAt'], customer: ['customer.email', 'customer.phone', 'shipping.phone'] },
  open(settings, ports) {
    const { closedStates, webhookSecrets: secrets, writeBack, dashboard } = settings;
    const shop = openShop(settings, ports);
    const { preflight, setup } = preflightOf(settings, shop);
    return desk<Order, VendureShape, string | number, Order>({
      ...{ vendor: 'Vendure', record: 'order', preflight, poll: pollWindow(windowOf(settings, shop), ports) },
      ...(secrets && { intake: { secrets, proof, events: (body) => eventsIn(body, closedStates) } }),
      read: {
        isId: (id) => word.safeParse(id).success,
        async many(ids) {
          const found = await shop.list('$ids: [String!]', 'filter: { id: { in: $ids } }', { ids });
          return new Map(found.map((order) => [order.id, order]));
        },
        present: async () => (order) => presented(order, settings),
      },
      write: {
        ...{ settings: writeBack, at: ({ fields }, place) => fields[place], notes: shop.notes },
        written: (part, own) => (part.value instanceof Date ? part.value.toISOString() : inPlainForm(part, own)),
        putMany: putTogether({ vendor: 'Vendure', put: shop.put, mostBytes: 60_000, isRefusal }),
      },
      own: { setup, ...(dashboard && { recordUrl: (id) => `${dashboard}/orders/${encodeURIComponent(id)}` }) },
    });
  },
});
