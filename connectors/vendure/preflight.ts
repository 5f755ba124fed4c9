import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { errorAt, hookUrlFindings, manualStep, namesOf, warningAt } from '../../core/connector/check.ts';
import type { PreflightContext, SetupStep } from '../../core/connector/contract.ts';
import { comparedFields, type DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { typesByPart } from '../../core/connector/fields.ts';
import type { GraphqlApi } from '../../core/connector/graphql.ts';
import { Order, shapeOf } from './record.ts';
import { stateAt, type VendureSettings } from './settings.ts';
import type { openFields, openOrders } from './shop.ts';

const Channel = z.object({ activeChannel: z.object({ token: z.string() }) });
const example = { id: '', state: '', totalWithTax: 0, createdAt: '2026-01-01T00:00:00Z', history: { items: [] } };
const names = namesOf(shapeOf(Order.parse({ ...example, lines: [{ quantity: 1, productVariant: {} }] })));
const shape = { names, hint: 'custom fields are under order.fields and customer.fields' };
const others = ['text', 'string'] as const;
const types = typesByPart({
  grade: { whole: 'int', fraction: 'float' },
  comment: others,
  answeredAt: ['datetime'],
  others,
});
// There is no such order: nothing but a missing right is told.
const tryToWrite = 'mutation { setOrderCustomFields(input: { id: "0" }) { id } }';

type Account = Pick<ReturnType<typeof openOrders>, 'list'> & {
  shop: GraphqlApi;
  fieldsOf: ReturnType<typeof openFields>;
};

export function preflightOf(settings: VendureSettings, { shop, fieldsOf, list }: Account) {
  const { channelToken, plugin, closedStates: states, writeBack } = settings;
  const credential = settings.apiKey === undefined ? 'username' : 'apiKey';
  const isStandin = isLoopback(settings.address);

  async function fields(grades: readonly number[]) {
    const current = (await fieldsOf('Order')).found.map(
      ({ name, options, min, max, intMin = min, intMax = max, ...one }) => {
        const inBounds = grades.filter((grade) => grade >= (intMin ?? grade) && grade <= (intMax ?? grade)).map(String);
        const type = [one.readonly && 'readonly', one.type, one.list && 'list'].filter(Boolean).join(' ');
        return { name, type, required: false, values: options?.map(({ value }) => value) ?? inBounds };
      },
    );
    const words = { of: 'orders', field: 'custom field', place: "customFields.Order in the shop's code" };
    const compared = await comparedFields({ ...words, list: async () => current, types }, writeBack, grades);
    if (plugin === 'none' || current.some(({ name }) => name === stateAt)) return compared;
    const problem = `orders have no custom field ${stateAt}: the plugin is not in the shop's code`;
    const lacks = errorAt('plugin', problem, 'closeloop setup tells how, or set plugin: none');
    return { ...compared, findings: [lacks, ...compared.findings] };
  }

  const probes: DeskPreflight['probes'] = [
    {
      ...{ at: credential, what: 'the channel' },
      async read() {
        const { activeChannel } = await shop.call('the channel', '{ activeChannel { token } }', Channel);
        if (channelToken === undefined || channelToken === activeChannel.token) return [];
        return [errorAt('channelToken', 'no channel has it', 'take it from Settings > Channels')];
      },
    },
    { ...{ at: credential, what: 'the right to write' }, tries: () => shop.callEach('the right to write', tryToWrite) },
    {
      ...{ at: 'closedStates', what: 'the orders' },
      async read() {
        const closed = await list('$states: [String!]', 'filter: { state: { in: $states } }', { states });
        const remedy = 'name the states in which your orders end: Shipped, perhaps';
        return closed.length > 0 ? [] : [warningAt('closedStates', 'no order is in any of them', remedy)];
      },
    },
  ];
  const own = ({ hookUrl }: PreflightContext) =>
    plugin === 'delivers' ? hookUrlFindings('the shop', hookUrl, isStandin) : [];

  /** The plugin and the fields are code of the shop. */
  async function setup({ grades, hookUrl = '…' }: PreflightContext): Promise<SetupStep[]> {
    const { findings } = await fields(grades);
    if (findings.length === 0) return [];
    const note = [
      'Copy examples/vendure-plugin/closeloop.plugin.ts of the package there, and add to `plugins` of the configuration:',
      `  CloseloopPlugin.init({ url: '${hookUrl}', secret: process.env.CLOSELOOP_SECRET }),`,
      `It brings feedbackGrade, feedbackComment, feedbackAt and ${stateAt}. Other fields go into \`customFields.Order\`, like:`,
      "  { name: 'feedbackStatus', type: 'string', nullable: true, public: false },",
      'Then generate and run a migration, and start server and worker again. Still wrong:',
      ...findings.map(({ problem }) => `- ${problem}`),
    ];
    return [manualStep("put closeloop's plugin and custom fields into the shop's code", ...note)];
  }
  return { preflight: { credential, shape, probes, fields, isStandin, own }, setup };
}
