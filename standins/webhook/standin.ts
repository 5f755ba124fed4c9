import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type Command, command, held, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { jsonBody, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { starterOf } from '../kit/server.ts';
import { type VendorOptions, VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult, Message, RetryPolicy } from '../kit/webhook-sender.ts';
import * as define from './definitions.ts';

/** Standard Webhooks 1.0.0: the secret is base64 after `whsec_`, signed is `id.timestamp.body`. */
export function signature(secret: string, id: string, timestamp: string, body: string | Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

export function isSigned(
  headers: Readonly<Record<string, string | undefined>>,
  body: Buffer,
  secret: string,
  now: Date,
): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': given = '' } = headers;
  if (id === '' || id.includes('.') || !/^\d{10}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > 300) return false;
  const expected = Buffer.from(signature(secret, id, timestamp, body));
  return given.split(' ').some((one) => {
    const bytes = Buffer.from(one);
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
}

interface JobboardOptions extends VendorOptions {
  /** Signs what comes back. Default: `answerSecret` below. */
  answerSecret?: string;
}

/** One job of a craftsman, and what became of it. */
export interface Job {
  id: string;
  title: string;
  status: 'open' | 'done';
  doneAt: string | null;
  customer: { id: string; email?: string; phone?: string };
  /** The newest answer that came back. */
  feedback: { grade: number | null; comment: string | null; answeredAt: string; answers: object } | null;
  unanswered: boolean;
  /** Answers taken, repetitions left out. */
  taken: number;
}

/** What comes back: an answer, or that those of a job are to be forgotten. */
const Erased = z.object({
  type: z.literal('feedback.erased'),
  timestamp: z.iso.datetime(),
  data: z.strictObject({ record: z.string() }),
});
const Answer = z.object({
  type: z.enum(['feedback.answered', 'feedback.unanswered']),
  timestamp: z.iso.datetime(),
  data: z.strictObject({
    record: z.string(),
    request: z.string().nullable(),
    campaign: z.string(),
    grade: z.number().nullable(),
    maxGrade: z.number().nullable(),
    comment: z.string().nullable(),
    answers: z.record(z.string(), z.unknown()),
    answeredAt: z.iso.datetime(),
  }),
});

export const answerSecret = `whsec_${Buffer.alloc(32, 'jobboard answers').toString('base64')}`;

/** The example schedule of Standard Webhooks, to its third repetition. */
const retries: RetryPolicy = {
  timeoutMs: 15_000,
  pauseMs(attempts) {
    const last = attempts.at(-1);
    const isGone = last?.met === 'answer' && last.status === 410;
    return isGone ? undefined : [5_000, 300_000, 1_800_000][attempts.length - 1];
  },
};

/**
 * "Anybody": a small job board that no connector was written for. It tells of its jobs by webhooks (Standard Webhooks) and
 * takes answers at `POST /answers`, signed the same way, once for each id. Its control surface is under `/_control`.
 */
export class JobboardStandin extends VendorStandin {
  readonly answerSecret: string;
  readonly #jobs = new Map<string, Job>();
  readonly #sent = new Map<string, { id: string; body: string }>();
  readonly #seen = new Set<string>();
  #hook: z.output<typeof define.hook> | undefined;
  #refused = 0;

  constructor(options: JobboardOptions = {}) {
    super(retries, options);
    this.answerSecret = options.answerSecret ?? answerSecret;
  }

  protected override commands(): Command[] {
    return [
      command('PUT', 'hook', define.hook, (input) => this.setHook(input)),
      command('DELETE', 'hook', nothing, () => this.removeHook()),
      command('POST', 'jobs', define.jobDefinition, (input) => this.addJob(input)),
      command('GET', 'jobs/{id}', define.jobName, ({ id }) => this.job(id)),
      command('PATCH', 'jobs/{id}', define.jobChange, (input) => this.change(input)),
      command('POST', 'jobs/{id}/finish', define.jobName, ({ id }) => this.finish(id)),
      command('POST', 'jobs/{id}/reopen', define.jobName, ({ id }) => this.reopen(id)),
      command('POST', 'jobs/{id}/rate', define.rating, (input) => this.rate(input)),
      command('POST', 'jobs/{id}/forget', define.jobName, ({ id }) => this.forget(id)),
      command('POST', 'survey', define.surveyAnswers, (input) => this.sendSurvey(input)),
      command('POST', 'redeliver', define.redelivery, ({ id }) => this.redeliver(id)),
      command('GET', 'sent', nothing, () => this.sent()),
    ];
  }

  protected override async answer(req: StandinRequest): Promise<StandinResponse> {
    this.note(req, req.path, this.now());
    if (req.path !== '/answers') return { status: 404, body: 'Cannot find that.' };
    if (req.method !== 'POST') return { status: 405, body: '' };
    if (!isSigned(req.headers, req.raw, this.answerSecret, new Date(this.now()))) {
      this.#refused += 1;
      return { status: 401, body: { error: 'bad signature' } };
    }
    const answer = z.discriminatedUnion('type', [Answer, Erased]).safeParse(jsonBody(req));
    if (!answer.success) return { status: 422, body: { error: z.prettifyError(answer.error) } };
    const job = this.#jobs.get(answer.data.data.record);
    if (job === undefined) return { status: 404, body: { error: 'no such job' } };
    const id = req.headers['webhook-id'] ?? '';
    if (answer.data.type === 'feedback.erased') Object.assign(job, { feedback: null, unanswered: false });
    else await this.#take(job, id, answer.data);
    return { status: 204 };
  }

  /** Its events are kept, for `redeliver`. */
  removeHook(): void {
    this.#hook = undefined;
  }

  setHook(hook: z.input<typeof define.hook>): void {
    this.#hook = define.hook.parse(hook);
  }

  addJob(input: z.input<typeof define.jobDefinition> = {}): Job {
    const { id = String(this.#jobs.size + 1), title, customer } = define.jobDefinition.parse(input);
    const job: Job = {
      id,
      title,
      status: 'open',
      doneAt: null,
      customer: { ...customer, id: customer.id ?? `customer-of-${id}` },
      feedback: null,
      unanswered: false,
      taken: 0,
    };
    this.#jobs.set(id, job);
    return structuredClone(job);
  }

  job(id: string): Job {
    return structuredClone(this.#job(id));
  }

  refusedCalls(): number {
    return this.#refused;
  }

  /** Somebody edits the job: its title, or whose it is. */
  async change(input: z.input<typeof define.jobChange>): Promise<DeliveryResult | undefined> {
    const { id, title, customer = {} } = define.jobChange.parse(input);
    const job = this.#job(id);
    if (title !== undefined) job.title = title;
    Object.assign(job.customer, customer);
    return await this.#notify('job.updated', this.#view(job));
  }

  async finish(id: string): Promise<DeliveryResult | undefined> {
    const job = this.#job(id);
    job.status = 'done';
    job.doneAt = new Date(this.now()).toISOString();
    return await this.#notify('job.done', this.#view(job));
  }

  async reopen(id: string): Promise<DeliveryResult | undefined> {
    const job = this.#job(id);
    job.status = 'open';
    job.doneAt = null;
    return await this.#notify('job.reopened', this.#view(job));
  }

  /** The customer rates the job on the board itself. */
  async rate(input: z.input<typeof define.rating>): Promise<DeliveryResult | undefined> {
    const { id, stars, words } = define.rating.parse(input);
    return await this.#notify('job.rated', { ...this.#view(this.#job(id)), stars, words });
  }

  async forget(id: string): Promise<DeliveryResult | undefined> {
    const { customer } = this.#job(id);
    return await this.#notify('customer.forget', { customer });
  }

  /** The Feedback service's survey event, as it is assumed to be. */
  async sendSurvey(input: z.input<typeof define.surveyAnswers>): Promise<DeliveryResult | undefined> {
    const { request, answers } = define.surveyAnswers.parse(input);
    const list = Object.entries(answers).map(([question, answer]) => ({ question: asNumber(question), answer }));
    return await this.#notify('survey.completed', { appeal: asNumber(request), answers: list });
  }

  /** The same event again, under its id. */
  async redeliver(id: string): Promise<DeliveryResult> {
    return await this.#send(held(this.#sent, id, 'event'));
  }

  /** Ids of everything sent, first to last. */
  sent(): string[] {
    return [...this.#sent.keys()];
  }

  async #take(job: Job, id: string, { type, data }: z.output<typeof Answer>): Promise<void> {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const held = job.feedback?.answeredAt ?? '';
    if (type === 'feedback.unanswered') job.unanswered = job.feedback === null;
    else if (data.answeredAt >= held) {
      const { grade, comment, answeredAt, answers } = data;
      job.feedback = { grade, comment, answeredAt, answers };
      job.unanswered = false;
    }
    job.taken += 1;
    // As other systems do, the job board sends an event for every change, closeloop's own included.
    void this.#notify('job.updated', this.#view(job));
  }

  #job(id: string): Job {
    return held(this.#jobs, id, 'job');
  }

  #view({ id, title, status, doneAt, customer }: Job): object {
    return { job: { id, title, status, doneAt }, customer };
  }

  async #notify(type: string, data: object): Promise<DeliveryResult | undefined> {
    const id = `msg_${this.#sent.size + 1}_${Math.floor(this.random() * 1e9)}`;
    const event = { id, body: JSON.stringify({ type, timestamp: new Date(this.now()).toISOString(), data }) };
    this.#sent.set(id, event);
    return this.#hook === undefined ? undefined : await this.#send(event);
  }

  async #send({ id, body }: { id: string; body: string }): Promise<DeliveryResult> {
    return await this.sender.send((): Message => {
      const { url, secret } = this.#hook ?? { url: '', secret: '' };
      const timestamp = String(Math.floor(this.now() / 1000));
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signature(secret, id, timestamp, body),
      };
      return { method: 'POST', url, headers, body };
    });
  }
}

const asNumber = (text: string): string | number => (/^\d{1,15}$/.test(text) ? Number(text) : text);

export const startWebhookStandin = starterOf(JobboardStandin);

const secret = `whsec_${Buffer.alloc(32, 'jobboard events').toString('base64')}`;

export const guide: Guide = {
  about: 'A job board that no connector was written for: it sends signed webhooks, and takes answers at /answers.',
  configuration: (url) => `sources:
  jobs:
    connector: webhook
    signature: { kind: standard, secrets: [${secret}] }
    event:
      record: data.job.id
      closed: type = "job.done"
      changed: type = "job.reopened"
      closedAt: data.job.doneAt
      shape: data
    rules: [{ name: everybody, campaign: 12, contact: customer.email }]
    writeBack: { url: "${url}/answers", secrets: [${answerSecret}], allowPrivate: true }`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'PUT', path: 'hook', body: { url: `${hooks}/jobs`, secret } },
    { what: 'a job', method: 'POST', path: 'jobs', body: { id: 41960, customer: { email: sampleEmail } } },
    { what: 'finish it', method: 'POST', path: 'jobs/41960/finish' },
    { what: 'look at it', method: 'GET', path: 'jobs/41960' },
  ],
};
