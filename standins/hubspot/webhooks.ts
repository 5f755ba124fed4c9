import { createHash, createHmac } from 'node:crypto';
import type { DeliveryResult, Message, RetryPolicy, WebhookSender } from '../kit/webhook-sender.ts';
import {
  type EventKind,
  type ObjectType,
  objectTypeIds,
  type Source,
  singular,
  type WebhookTarget,
} from './definitions.ts';
import { shuffled } from './views.ts';

/** The only escapes that are decoded before a v3 signature is made; `%20`, `%26`, `%3D` and all others stay. */
const decoded: Readonly<Record<string, string>> = {
  '%3A': ':',
  '%2F': '/',
  '%3F': '?',
  '%40': '@',
  '%21': '!',
  '%24': '$',
  '%27': "'",
  '%28': '(',
  '%29': ')',
  '%2A': '*',
  '%2C': ',',
  '%3B': ';',
};

export function signedUri(uri: string): string {
  return uri.replace(/%[0-9A-F]{2}/gi, (code) => decoded[code.toUpperCase()] ?? code);
}

/** SHA-256 of secret + body, lower-case hex. */
export function signV1(secret: string, body: string): string {
  return createHash('sha256').update(secret).update(body).digest('hex');
}

/** SHA-256 of secret + method + full address + body, lower-case hex. */
export function signV2(secret: string, method: string, uri: string, body: string): string {
  return createHash('sha256').update(secret).update(method).update(uri).update(body).digest('hex');
}

/** HMAC-SHA256 of method + address (12 escapes decoded) + body + timestamp header, base64. */
export function signV3(secret: string, method: string, uri: string, body: string, timestamp: string): string {
  return createHmac('sha256', secret)
    .update(method)
    .update(signedUri(uri))
    .update(body)
    .update(timestamp)
    .digest('base64');
}

/** Any failure is retried, up to ten times, at random within a day. Five seconds for an answer. */
export const hubspotRetries: RetryPolicy = {
  timeoutMs: 5_000,
  pauseMs: (attempts, random) => (attempts.length <= 10 ? (0.5 + random() / 2) * 8_640_000 : undefined),
};

/** An event as apps subscribe to it, before it gets its wire form. */
export interface Occurrence {
  event: EventKind;
  object: ObjectType;
  objectId: number;
  source: Source;
  at: number;
  propertyName?: string;
  sensitive?: boolean;
  /** What is peculiar to the kind of event, as on the wire. */
  more: Record<string, unknown>;
}

export interface WebhookPorts {
  sender: WebhookSender;
  portalId: number;
  appId: number;
  random: () => number;
  /** For the signatures' timestamps. */
  wallClock: () => Date;
}

const batchSize = 100;

/** Gathers events that happen together and delivers them in batches of up to 100, each attempt signed afresh. */
export class Outbox {
  readonly #ports: WebhookPorts;
  readonly #open = new Set<Promise<unknown>>();
  #waiting: { event: Record<string, unknown>; done: (result: DeliveryResult) => void }[] = [];
  #target: WebhookTarget | undefined;
  #turn = 0;
  #eventId = 3_816_279_000;

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  /** One delivery for each subscription that wants the event. */
  announce(target: WebhookTarget | undefined, occurrence: Occurrence): Promise<DeliveryResult>[] {
    if (target === undefined) return [];
    const { event, object, propertyName } = occurrence;
    return target.subscriptions
      .filter((one) => one.event === event && one.object === object && one.propertyName === propertyName)
      .filter(({ active = true }) => active)
      .map((one) => this.push(target, this.#wire(one.form ?? target.form, one.id, occurrence)));
  }

  /** Delivers an event as it is. */
  push(target: WebhookTarget, event: Record<string, unknown>): Promise<DeliveryResult> {
    const result = new Promise<DeliveryResult>((done) => this.#waiting.push({ event, done }));
    this.#open.add(result);
    void result.finally(() => this.#open.delete(result));
    if (this.#target !== undefined && this.#target !== target) this.#flush();
    if (this.#target === undefined) setImmediate(() => this.#flush());
    this.#target = target;
    return result;
  }

  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #flush(): void {
    const target = this.#target;
    this.#target = undefined;
    const { sender, random } = this.#ports;
    const all = sender.settings.reorder === true ? shuffled(this.#waiting, random) : this.#waiting;
    this.#waiting = [];
    if (target === undefined) return;
    for (let from = 0; from < all.length; from += batchSize) {
      const batch = all.slice(from, from + batchSize);
      const events = batch.map(({ event }) => event);
      void sender.send(this.#messages(target, events)).then((result) => {
        for (const { done } of batch) done(result);
      });
    }
  }

  #messages(target: WebhookTarget, events: Record<string, unknown>[]): (attempt: number) => Message {
    const secret = target.secrets[this.#turn % target.secrets.length] ?? '';
    this.#turn += 1;
    return (attempt) => {
      const body = JSON.stringify(events.map((event) => ({ ...event, attemptNumber: attempt })));
      const timestamp = String(this.#ports.wallClock().getTime());
      return {
        method: 'POST',
        url: target.url,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'HubSpot Connect 2.0 (http://dev.hubspot.com/) (namespace: webhooks-nio-http-client)',
          'x-hubspot-signature-version': 'v1',
          'x-hubspot-signature': signV1(secret, body),
          'x-hubspot-request-timestamp': timestamp,
          'x-hubspot-signature-v3': signV3(secret, 'POST', target.publicUrl ?? target.url, body, timestamp),
        },
        body,
      };
    };
  }

  #wire(form: WebhookTarget['form'], subscriptionId: number, occurrence: Occurrence): Record<string, unknown> {
    const { event, object, objectId, source, at, propertyName, sensitive = false, more } = occurrence;
    // Privacy deletions have no generic form.
    const generic = form === 'generic' && event !== 'privacyDeletion';
    this.#eventId += 1;
    return {
      eventId: this.#eventId,
      subscriptionId,
      portalId: this.#ports.portalId,
      appId: this.#ports.appId,
      occurredAt: at,
      subscriptionType: `${generic ? 'object' : singular[object]}.${event}`,
      attemptNumber: 0,
      // An association has two ends instead.
      ...(event === 'associationChange' ? ends(generic, object) : { objectId }),
      ...(generic && event !== 'associationChange' ? { objectTypeId: objectTypeIds[object] } : {}),
      ...(propertyName === undefined ? {} : { propertyName }),
      ...more,
      ...(sensitive && !generic ? { propertyValue: 'REDACTED' } : {}),
      ...source,
      ...(generic ? { isSensitive: sensitive } : {}),
    };
  }
}

function ends(generic: boolean, from: ObjectType): Record<string, string> {
  return generic ? { fromObjectTypeId: objectTypeIds[from], toObjectTypeId: objectTypeIds.contacts } : {};
}
