import { createHmac } from 'node:crypto';
import { Inject, type OnApplicationBootstrap } from '@nestjs/common';
import {
  type CustomFieldConfig,
  EventBus,
  type JobQueue,
  JobQueueService,
  type OrderProcess,
  OrderStateTransitionEvent,
  PluginCommonModule,
  VendurePlugin,
} from '@vendure/core';

/*
 * For the code of a Vendure 3 shop: copy this file, and add to `plugins` of the configuration
 *   CloseloopPlugin.init({ url: process.env.CLOSELOOP_URL, secret: process.env.CLOSELOOP_SECRET })
 * It brings custom fields: generate and run a migration.
 */

export interface CloseloopOptions {
  /** What `closeloop setup` shows. Left out: nothing is delivered, and closeloop's poll finds every order. */
  url?: string | undefined;
  /** One of the source's `webhookSecrets`. */
  secret?: string | undefined;
}

/** Nobody sees them in the shop itself. */
const customFields: CustomFieldConfig[] = [
  { name: 'feedbackGrade', type: 'float', nullable: true, public: false },
  { name: 'feedbackComment', type: 'text', nullable: true, public: false },
  { name: 'feedbackAt', type: 'datetime', nullable: true, public: false },
  { name: 'feedbackStateAt', type: 'datetime', nullable: true, public: false, readonly: true },
];

/** Vendure leaves an order's `updatedAt` as it was when its state changes. This notes the time, in the same transaction. */
const noteStateChange: OrderProcess<string> = {
  onTransitionEnd(_from, _to, { order }) {
    order.customFields = { ...order.customFields, feedbackStateAt: new Date() };
  },
};

@VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: '^3.0.0',
  configuration(config) {
    const own = config.customFields.Order ?? [];
    const added = customFields.filter(({ name }) => !own.some((field) => field.name === name));
    config.customFields.Order = [...own, ...added];
    config.orderOptions.process = [...(config.orderOptions.process ?? []), noteStateChange];
    return config;
  },
})
export class CloseloopPlugin implements OnApplicationBootstrap {
  private static options: CloseloopOptions = {};
  @Inject(EventBus) private readonly events!: EventBus;
  @Inject(JobQueueService) private readonly jobs!: JobQueueService;
  private queue!: JobQueue<{ body: string }>;

  static init(options: CloseloopOptions): typeof CloseloopPlugin {
    CloseloopPlugin.options = options;
    return CloseloopPlugin;
  }

  /** The events come when the transaction is committed. The worker delivers, and repeats what fails. */
  async onApplicationBootstrap(): Promise<void> {
    const { url, secret } = CloseloopPlugin.options;
    if (url === undefined || secret === undefined) return;
    const process = ({ data }: { data: { body: string } }) => deliver(url, secret, data.body);
    this.queue = await this.jobs.createQueue({ name: 'closeloop', process });
    this.events.ofType(OrderStateTransitionEvent).subscribe(({ order, fromState, toState, createdAt }) => {
      const told = { v: 1, event: 'order', orderId: String(order.id), from: fromState, to: toState, at: createdAt };
      // What can't be stored is found by closeloop's poll.
      this.queue.add({ body: JSON.stringify(told) }, { retries: 20 }).catch(() => undefined);
    });
  }
}

async function deliver(url: string, secret: string, body: string): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const response = await fetch(url, {
    method: 'POST',
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
    headers: {
      'content-type': 'application/json',
      'x-vendure-timestamp': timestamp,
      'x-vendure-signature': signature,
    },
  });
  if (!response.ok) throw new Error(`closeloop answered ${response.status}`);
}
