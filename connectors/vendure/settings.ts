import { z } from 'zod';
import { deskWriteBack } from '../../core/connector/desk/settings.ts';
import { oneKindOfCredentials, pathAddress, secret, webhookSecrets } from '../../core/connector/settings.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';

const name = z.string().regex(/^[A-Za-z]\w{0,63}$/, 'a name as in the code of the shop');
const plugin = z.enum(['delivers', 'notes', 'none']).default('delivers');
const hookSecrets = webhookSecrets(secret, "needs the plugin's secret").optional();
const address = pathAddress('an https address like https://shop.example.com/admin-api');
/** The longest text that closeloop sends: Vendure takes bodies of at most 100 kB. */
export const mostUnits = 8_000;
/** The custom field in which closeloop's plugin stores when the state of an order changed. */
export const stateAt = 'feedbackStateAt';
const either = 'takes username and password, or apiKey';

/** A Vendure source in the configuration: one channel of one shop. */
export const settings = z
  .strictObject({
    address: address.describe('Of the Admin API: https://shop.example.com/admin-api'),
    channelToken: secret.optional().describe("Of the channel. Left out: the shop's default channel"),
    username: secret.optional().describe('An administrator made for closeloop: its role has ReadOrder and UpdateOrder'),
    password: secret.optional().describe('Of that administrator'),
    apiKey: secret.optional().describe('In place of a login. Vendure takes 0.2 s longer for each call with it'),
    closedStates: z.array(name).min(1).default(['Delivered']).describe('An order in any of them is closed'),
    plugin: plugin.describe("What our plugin does: it delivers, it only notes changes, or it isn't in the shop's code"),
    webhookSecrets: hookSecrets.describe('What the plugin signs with; two while one replaces the other'),
    deliveredWithin: Duration.prefault('30d').describe('Without the plugin a poll lists orders placed so long ago'),
    languageField: name.optional().describe("The customers' custom field that holds their language (BCP 47)"),
    timeZoneField: name.optional().describe("The customers' custom field that holds their time zone (IANA)"),
    dashboard: address.optional().describe('Of the dashboard, for links to orders: https://shop.example.com/dashboard'),
    writeBack: deskWriteBack(name, {
      takes: 'a custom field of orders',
      note: 'Adds a private note to the history of the order: one more call per answer',
      commentLength: { most: mostUnits, initial: 2_000 },
    }),
  })
  .refine(...oneKindOfCredentials([['username', 'password'], ['apiKey']], { none: either, mixed: either }))
  .refine(({ plugin, webhookSecrets }) => (plugin === 'delivers') === (webhookSecrets !== undefined), {
    path: ['webhookSecrets'],
    error: 'what the plugin signs with; nothing where it does not deliver (`plugin: notes` or `none`)',
  });
export type VendureSettings = z.output<typeof settings>;
