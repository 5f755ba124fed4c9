import { hash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';

// A process of Vendure with all its data in memory, run in the folder that has its packages. It lives until it is killed.
const options = z
  .object({ port: z.number(), password: z.string(), hook: z.string(), hookSecret: z.string(), plugin: z.string() })
  .parse(JSON.parse(process.argv[2] ?? ''));

// Its packages are not this project's: what they export has no types here.
const packages = createRequire(join(process.cwd(), 'package.json'));
const vendure = packages('@vendure/core');

const { CloseloopPlugin } = packages(options.plugin);
const plugin = CloseloopPlugin.init({
  url: options.hook === '' ? undefined : options.hook,
  secret: options.hookSecret,
});

const paidAtOnce = new vendure.PaymentMethodHandler({
  code: 'test-payments',
  description: [{ languageCode: 'en', value: 'Paid at once' }],
  args: {},
  createPayment: (_: unknown, order: { code: string }, amount: number) => {
    return { amount, state: 'Settled', transactionId: order.code };
  },
  settlePayment: () => ({ success: true }),
});

const config = vendure.mergeConfig(vendure.defaultConfig, {
  logger: new vendure.DefaultLogger({ level: vendure.LogLevel.Error }),
  apiOptions: { port: options.port, hostname: '127.0.0.1' },
  authOptions: {
    tokenMethod: ['bearer', 'api-key'],
    superadminCredentials: { identifier: 'superadmin', password: options.password },
    // Its own takes 0.2 s for each login, on purpose.
    passwordHashingStrategy: {
      hash: async (password: string) => hash('sha256', password),
      check: async (password: string, hashed: string) => hash('sha256', password) === hashed,
    },
    requireVerification: false,
    cookieOptions: { secret: randomBytes(16).toString('hex') },
  },
  dbConnectionOptions: { type: 'sqljs', synchronize: true, autoSave: false, logging: false },
  paymentOptions: { paymentMethodHandlers: [paidAtOnce] },
  customFields: {
    Order: [
      { name: 'feedbackRating', type: 'int', nullable: true, min: 0, max: 10, public: false },
      { name: 'feedbackShort', type: 'string', nullable: true, public: false, length: 20 },
      {
        name: 'feedbackChoice',
        type: 'string',
        nullable: true,
        public: false,
        options: [{ value: 'good' }, { value: 'neutral' }, { value: 'bad' }],
      },
      { name: 'feedbackTags', type: 'string', list: true, nullable: true, public: false },
    ],
    Customer: [
      { name: 'language', type: 'string', nullable: true },
      { name: 'timeZone', type: 'string', nullable: true },
    ],
  },
  // A state of the shop's own: what was delivered comes back, and is delivered again.
  orderOptions: {
    process: [
      ...vendure.defaultConfig.orderOptions.process,
      { transitions: { Delivered: { to: ['Returned'], mergeStrategy: 'merge' }, Returned: { to: ['Delivered'] } } },
    ],
  },
  plugins: [plugin, vendure.DefaultJobQueuePlugin.init({ pollInterval: 20 })],
});
const app = await vendure.bootstrap(config);
// The plugin delivers where the shop's jobs run.
await app.get(vendure.JobQueueService).start();
