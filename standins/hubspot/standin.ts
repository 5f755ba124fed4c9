import { randomUUID } from 'node:crypto';
import { type Command, command, nothing, soon } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { starterOf } from '../kit/server.ts';
import { HubspotAccount } from './account.ts';
import { type Context, missingScopes, notFound, rateLimited, unauthenticated } from './context.ts';
import { accountZone } from './defaults.ts';
import type { HubspotStandinOptions } from './definitions.ts';
import * as define from './definitions.ts';
import { engagementRoutes } from './engagement-endpoints.ts';
import { tokenPath } from './oauth.ts';
import { objectRoutes } from './object-endpoints.ts';
import { introspection, otherRoutes } from './other-endpoints.ts';
import { propertyRoutes } from './property-endpoints.ts';
import { searchRoutes } from './search-endpoints.ts';
import { webhookApi, webhookRoutes } from './webhook-endpoints.ts';

export const guide: Guide = {
  about: 'A HubSpot account with its two usual pipelines, and no records.',
  configuration: (url) => `sources:
  crm:
    connector: hubspot
    baseUrl: ${url}
    accessToken: hubspot-token
    webhookSecrets: [hubspot-client-secret]
    rules: [{ name: everybody, campaign: 12, contact: contact.email }]
    writeBack: { grade: feedback_grade, comment: feedback_comment }      # setup creates both`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'PUT', path: 'webhook', body: { url: `${hooks}/crm` } },
    {
      what: 'a customer',
      method: 'POST',
      path: 'contacts',
      body: { id: 71, properties: { firstname: 'Carl', email: sampleEmail } },
    },
    {
      what: 'a ticket',
      method: 'POST',
      path: 'tickets',
      body: { id: 41960, contacts: [71], properties: { subject: 'Router', hs_pipeline: '0', hs_pipeline_stage: '1' } },
    },
    { what: 'close it', method: 'POST', path: 'tickets/41960/close' },
    { what: 'look at it', method: 'GET', path: 'tickets/41960' },
  ],
};

const one = '{type:tickets|deals|contacts}/{id:\\d+}';

const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone: accountZone });

/** Rolling ten seconds and a day, which ends at midnight in the account's zone; both for the whole account. */
class RateLimits {
  #recent: number[] = [];
  #searches: number[] = [];
  #day = '';
  #today = 0;

  /** Takes one call from the limit. @param headers get the calls that are left, also when the call is refused. @throws Problem 429 */
  take(
    { per10s, daily }: { per10s: number; daily: number },
    now: number,
    kind: 'search' | 'other',
    headers: Record<string, string>,
  ): void {
    const day = dayIn.format(now);
    if (day !== this.#day) {
      this.#day = day;
      this.#today = 0;
    }
    if (kind === 'search') {
      this.#takeSearch(daily, now);
      return;
    }
    this.#recent = this.#recent.filter((at) => at > now - 10_000);
    const refusedBy =
      this.#today >= daily ? 'DAILY' : this.#recent.length >= per10s ? 'TEN_SECONDLY_ROLLING' : undefined;
    if (refusedBy === undefined) {
      this.#recent.push(now);
      this.#today += 1;
    }
    Object.assign(headers, {
      'x-hubspot-ratelimit-max': String(per10s),
      'x-hubspot-ratelimit-remaining': String(Math.max(0, per10s - this.#recent.length)),
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
      'x-hubspot-ratelimit-daily': String(daily),
      'x-hubspot-ratelimit-daily-remaining': String(Math.max(0, daily - this.#today)),
    });
    if (refusedBy !== undefined) throw rateLimited(refusedBy);
  }

  /** Five a second for the account, and one of the day's. Answers of a search carry no headers about it. */
  #takeSearch(daily: number, now: number): void {
    this.#searches = this.#searches.filter((at) => at > now - 1_000);
    if (this.#today >= daily) throw rateLimited('DAILY');
    if (this.#searches.length >= 5) throw rateLimited('SECONDLY');
    this.#searches.push(now);
    this.#today += 1;
  }
}

export type { HubspotStandinOptions } from './definitions.ts';

/**
 * The stand-in of one HubSpot account and the app installed in it. Its API at the vendor's paths, its control surface under `/_control`,
 * the same as methods in account.ts. These take what definitions.ts describes; they throw a ControlError for what isn't there, a ZodError
 * for what is malformed. Built from the facts, not from the connector.
 */
export class HubspotStandin extends HubspotAccount {
  readonly accessToken: string;
  readonly #developerApiKey: string;
  /** Static tokens and their scopes; null: whatever the settings say. */
  readonly #tokens: Readonly<Record<string, readonly string[] | null>>;
  readonly #find = createRouter<Route<Context>>([
    ...engagementRoutes,
    ...otherRoutes,
    ...propertyRoutes,
    ...webhookRoutes,
    ...searchRoutes,
    ...objectRoutes,
  ]);
  readonly #limits = new RateLimits();

  constructor(options: HubspotStandinOptions = {}) {
    super(options);
    const { accessToken = 'hubspot-token', developerApiKey = 'hubspot-developer-key', tokens } = options;
    this.accessToken = accessToken;
    this.#developerApiKey = developerApiKey;
    this.#tokens = { [accessToken]: null, ...tokens };
  }

  protected override commands(): Command[] {
    return [
      command('POST', 'tickets', define.recordDefinition, (input) => ({ id: this.addTicket(input).id })),
      command('POST', 'deals', define.recordDefinition, (input) => ({ id: this.addDeal(input).id })),
      command('POST', 'contacts', define.recordDefinition, (input) => ({ id: this.addContact(input).id })),
      command('POST', 'owners', define.ownerDefinition, (input) => this.addOwner(input)),
      command('POST', 'pipelines', define.pipelineDefinition, (input) => this.addPipeline(input)),
      command('POST', 'properties', define.propertyDefinition, (input) => this.addProperty(input)),
      command('POST', 'properties/archive', define.propertyName, (input) => this.archiveProperty(input)),
      command('POST', 'labels', define.labelDefinition, (input) => this.addLabel(input)),
      command('POST', 'feedback', define.feedbackSubmission, (input) => this.addFeedback(input)),
      command('GET', 'webhook', nothing, () => this.webhook),
      command('GET', 'records', nothing, () => this.records()),
      command('GET', one, define.recordName, ({ type, id }) => this.record(type, id)),
      command('PATCH', one, define.recordChange, (input) => this.change(input)),
      command('POST', `${one}/stage`, define.stageChange, (input) => this.setStage(input)),
      command('POST', `${one}/close`, define.recordName, ({ type, id }) => this.close(id, type)),
      command('POST', `${one}/reopen`, define.recordName, ({ type, id }) => this.reopen(id, type)),
      command('POST', `${one}/delete`, define.recordAction, (input) => this.deleteRecord(input)),
      command('POST', `${one}/privacy-delete`, define.recordName, ({ id }) => this.privacyDelete(id)),
      command('POST', `${one}/associate`, define.associationChange, (input) => this.associate(input)),
      command('GET', `${one}/notes`, define.recordName, ({ type, id }) => this.notesOn(type, id)),
      command('POST', 'oauth/revoke', nothing, () => this.oauth.revoke()),
      command('POST', 'close-all', define.massChange, (input) => this.closeAll(input)),
      command('POST', 'merge', define.mergeAction, async (input) => {
        const { id, deliveries } = this.merge(input);
        return { id, deliveries: await soon(deliveries) };
      }),
      command('PUT', 'webhook', define.webhookTarget, (input) => this.setWebhook(input)),
      command('DELETE', 'webhook', nothing, () => this.removeWebhook()),
      command('POST', 'deliveries', define.delivery, (input) => this.fireWebhook(input)),
      command('PATCH', 'settings', define.settingsChange, (input) => this.changeSettings(input)),
    ];
  }

  protected override async answer(req: StandinRequest, headers: Record<string, string>): Promise<StandinResponse> {
    const now = this.now();
    const found = this.#find(req.method, req.path);
    this.note(req, found?.endpoint ?? req.path, now);
    if (req.method === 'POST' && tokenPath.test(req.path)) return this.oauth.answer(req, now);
    const correlationId = randomUUID();
    headers['x-hubspot-correlation-id'] = correlationId;
    try {
      const scopes = this.#scopesFor(found?.endpoint ?? '', req, now);
      const kind = found?.endpoint.endsWith('/search') === true ? 'search' : 'other';
      this.#limits.take(this.settings, now, kind, headers);
      if (found === undefined) throw notFound();
      const context: Context = {
        ...{ req, now, scopes, account: this, store: this.store, settings: this.settings, random: this.random },
        source: { changeSource: 'INTEGRATION', sourceId: String(this.appId) },
        need: (...oneOf) => {
          if (scopes !== null && !oneOf.some((scope) => scopes.includes(scope))) throw missingScopes(oneOf);
        },
        changed: (record, names, source) => void this.changed(record, names, source),
      };
      return await found.route.answer(context, found.params);
    } catch (error) {
      if (error instanceof Problem) Object.assign(error.response.body ?? {}, { correlationId });
      throw error;
    }
  }

  /** What the caller of an endpoint may do: scopes, null for all. @throws Problem 401 */
  #scopesFor(endpoint: string, { query, headers }: StandinRequest, now: number): readonly string[] | null {
    if (endpoint.startsWith(introspection)) return null;
    if (endpoint.startsWith(webhookApi)) {
      // The key is all there is, and a token beside it is one too many.
      if (query.get('hapikey') !== this.#developerApiKey || headers.authorization !== undefined)
        throw unauthenticated();
      return null;
    }
    const [scheme = '', token = ''] = (headers.authorization ?? '').split(' ');
    if (scheme.toLowerCase() !== 'bearer') throw unauthenticated();
    if (this.oauth.knows(token, now)) return this.settings.scopes;
    if (!Object.hasOwn(this.#tokens, token)) throw unauthenticated();
    return this.#tokens[token] ?? this.settings.scopes;
  }
}

/** The same over HTTP; `url` stands for `https://api.hubapi.com`. */
export const startHubspotStandin = starterOf(HubspotStandin);
