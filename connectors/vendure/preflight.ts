import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { errorAt, manualStep, namesOf, warningAt } from '../../core/connector/check.ts';
import type { PreflightContext, SetupStep } from '../../core/connector/contract.ts';
import { comparedFields, type DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { typesByPart } from '../../core/connector/fields.ts';
import { Order, shapeOf } from './record.ts';
import { stateAt, type VendureSettings } from './settings.ts';
import type { Shop } from './shop.ts';

const Channel = z.object({ activeChannel: z.object({ token: z.string() }) });
const example = { id: '', state: '', totalWithTax: 0, createdAt: '2026-01-01T00:00:00Z', history: { items: [] } };
const names = namesOf(shapeOf(Order.parse({ ...example, lines: [{ quantity: 1, productVariant: {} }] })));
const shape = { names, hint: 'custom fields are under order.fields and customer.fields' };
/** Nobody can look whether the plugin delivers. */
const hooks = async () => ({ findings: [], missing: [] });
const [grade, others] = [{ whole: 'int', fraction: 'float' }, ['text', 'string'] as const];
const types = typesByPart({ grade, comment: others, answeredAt: ['datetime'], others });
// There is no such order: nothing but a missing right is told.
const tryToWrite = 'mutation { setOrderCustomFields(input: { id: "0" }) { id } }';

export function preflightOf(settings: VendureSettings, { api, fieldsOf, list }: Shop) {
  const { channelToken, plugin, closedStates: states, writeBack } = settings;
  const credential = settings.apiKey === undefined ? 'username' : 'apiKey';
  const isStandin = isLoopback(settings.address);

  async function fields(grades: readonly number[]) {
    const found = await fieldsOf('Order');
    const current = found.map(({ name, type, list }) => ({ name, type: list ? `${type} list` : type, required: false }));
    const words = { of: 'orders', field: 'custom field', place: "customFields.Order in the shop's code" };
    const compared = await comparedFields({ ...words, list: async () => current, types }, writeBack, grades);
    if (plugin === 'none' || current.some(({ name }) => name === stateAt)) return compared;
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
  /** The plugin and the fields are code of the shop. */
  async function setup({ grades, hookUrl = '…' }: PreflightContext): Promise<SetupStep[]> {
    const { findings } = await fields(grades);
    if (findings.length === 0) return [];
    return [
      manualStep(
        "put closeloop's plugin and custom fields into the shop's code",
        'Copy examples/vendure-plugin/closeloop.plugin.ts of the package there, and add to `plugins` of its configuration:',
        `  CloseloopPlugin.init({ url: '${hookUrl}', secret: process.env.CLOSELOOP_SECRET }),`,
        `It has feedbackGrade, feedbackComment, feedbackAt and ${stateAt}. Other fields go into \`customFields.Order\`:`,
        "  { name: 'feedbackStatus', type: 'string', nullable: true, public: false },",
        'Generate and run a migration, and start server and worker again. What is wrong now:',
        ...findings.map(({ problem }) => `- ${problem}`),
      ),
    ];
  }
  return { preflight: { credential, shape, probes, fields, isStandin, ...(plugin === 'delivers' && { hooks }) }, setup };
}
