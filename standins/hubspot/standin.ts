import { randomUUID } from 'node:crypto';
import { command, createControlSurface, nothing, soon } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import { type Context, missingScopes, notFound, rateLimited, unauthenticated } from './context.ts';
import { accountZone } from './defaults.ts';
import type { HubspotStandinOptions } from './definitions.ts';
import * as define from './definitions.ts';
import { engagementRoutes } from './engagement-endpoints.ts';
import { type OAuthGrant, tokenPath } from './oauth.ts';
import { objectRoutes } from './object-endpoints.ts';
import { accountRoutes, introspection, otherRoutes } from './other-endpoints.ts';
import { propertyRoutes } from './property-endpoints.ts';
import { HubspotRecords } from './records.ts';
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

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createHubspotControl(standin: HubspotRecords): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'tickets', define.recordDefinition, (input) => ({ id: standin.addTicket(input).id })),
    command('POST', 'deals', define.recordDefinition, (input) => ({ id: standin.addDeal(input).id })),
    command('POST', 'contacts', define.recordDefinition, (input) => ({ id: standin.addContact(input).id })),
    command('POST', 'owners', define.ownerDefinition, (input) => standin.addOwner(input)),
    command('POST', 'pipelines', define.pipelineDefinition, (input) => standin.addPipeline(input)),
    command('POST', 'properties', define.propertyDefinition, (input) => standin.addProperty(input)),
    command('POST', 'properties/archive', define.propertyName, (input) => standin.archiveProperty(input)),
    command('POST', 'labels', define.labelDefinition, (input) => standin.addLabel(input)),
    command('POST', 'feedback', define.feedbackSubmission, (input) => standin.addFeedback(input)),
    command('GET', 'webhook', nothing, () => standin.webhook),
    command('GET', 'records', nothing, () => standin.records()),
    command('GET', one, define.recordName, ({ type, id }) => standin.record(type, id)),
    command('PATCH', one, define.recordChange, (input) => soon(standin.change(input))),
    command('POST', `${one}/stage`, define.stageChange, (input) => soon(standin.setStage(input))),
    command('POST', `${one}/close`, define.recordName, ({ type, id }) => soon(standin.close(id, type))),
    command('POST', `${one}/reopen`, define.recordName, ({ type, id }) => soon(standin.reopen(id, type))),
    command('POST', `${one}/delete`, define.recordAction, (input) => soon(standin.deleteRecord(input))),
    command('POST', `${one}/restore`, define.recordAction, (input) => soon(standin.restore(input))),
    command('POST', `${one}/privacy-delete`, define.recordName, ({ id }) => soon(standin.privacyDelete(id))),
    command('POST', `${one}/associate`, define.associationChange, (input) => soon(standin.associate(input))),
    command('GET', `${one}/notes`, define.recordName, ({ type, id }) => standin.notesOn(type, id)),
    command('POST', 'oauth/revoke', nothing, () => standin.oauth.revoke()),
    command('POST', 'oauth/end-access', nothing, () => standin.oauth.endAccess()),
    command('POST', 'close-all', define.massChange, (input) => soon(standin.closeAll(input))),
    command('POST', 'merge', define.mergeAction, async (input) => {
      const { id, deliveries } = standin.merge(input);
      return { id, deliveries: await soon(deliveries) };
    }),
    command('PUT', 'webhook', define.webhookTarget, (input) => standin.setWebhook(input)),
    command('DELETE', 'webhook', nothing, () => standin.removeWebhook()),
    command('POST', 'deliveries', define.delivery, (input) => soon(standin.fireWebhook(input))),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => soon(standin.idle())),
    ...vendorCommands(standin),
  ]);
}

export interface Credentials {
  developerApiKey: string;
  oauth: OAuthGrant;
  /** Static tokens and their scopes; null: whatever the settings say. */
  tokens: Readonly<Record<string, readonly string[] | null>>;
}

/**
 * What the caller of an endpoint may do: scopes, null for all. `usual`: of a token that has none of its own.
 * @throws Problem 401
 */
export function scopesFor(
  endpoint: string,
  { query, headers }: StandinRequest,
  { developerApiKey, oauth, tokens }: Credentials,
  usual: readonly string[] | null,
  now: number,
): readonly string[] | null {
  if (endpoint.startsWith(introspection)) return null;
  if (endpoint.startsWith(webhookApi)) {
    // The key is all there is, and a token beside it is one too many.
    if (query.get('hapikey') !== developerApiKey || headers.authorization !== undefined) throw unauthenticated();
    return null;
  }
  const [scheme = '', token = ''] = (headers.authorization ?? '').split(' ');
  if (scheme.toLowerCase() !== 'bearer') throw unauthenticated();
  if (oauth.knows(token, now)) return usual;
  if (!Object.hasOwn(tokens, token)) throw unauthenticated();
  return tokens[token] ?? usual;
}

const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone: accountZone });

/** Rolling ten seconds and a day, which ends at midnight in the account's zone; both for the whole account. */
export class RateLimits {
  #recent: number[] = [];
  #searches: number[] = [];
  #day = '';
  #today = 0;

  /** Takes one, unless a limit is reached. Headers describe what is left either way. */
  take(
    limits: { per10s: number; daily: number },
    now: number,
    kind: 'search' | 'other' = 'other',
  ): { refusedBy?: string; headers: Record<string, string> } {
    const day = dayIn.format(now);
    if (day !== this.#day) {
      this.#day = day;
      this.#today = 0;
    }
    if (kind === 'search') return this.#takeSearch(limits.daily, now);
    const from = this.#recent.findIndex((at) => at > now - 10_000);
    this.#recent = from === -1 ? [] : this.#recent.slice(from);
    const refusedBy =
      this.#today >= limits.daily ? 'DAILY' : this.#recent.length >= limits.per10s ? 'TEN_SECONDLY_ROLLING' : undefined;
    if (refusedBy === undefined) {
      this.#recent.push(now);
      this.#today += 1;
    }
    const headers = {
      'x-hubspot-ratelimit-max': String(limits.per10s),
      'x-hubspot-ratelimit-remaining': String(Math.max(0, limits.per10s - this.#recent.length)),
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
      'x-hubspot-ratelimit-daily': String(limits.daily),
      'x-hubspot-ratelimit-daily-remaining': String(Math.max(0, limits.daily - this.#today)),
    };
    return refusedBy === undefined ? { headers } : { refusedBy, headers };
  }

  /** Five a second for the account, and one of the day's. Answers of a search carry no headers about it. */
  #takeSearch(daily: number, now: number): { refusedBy?: string; headers: Record<string, string> } {
    this.#searches = this.#searches.filter((at) => at > now - 1_000);
    if (this.#today >= daily) return { refusedBy: 'DAILY', headers: {} };
    if (this.#searches.length >= 5) return { refusedBy: 'SECONDLY', headers: {} };
    this.#searches.push(now);
    this.#today += 1;
    return { headers: {} };
  }
}

export type { HubspotStandinOptions } from './definitions.ts';

/**
 * The stand-in of one HubSpot account and the app installed in it. Its API at the vendor's paths, its control surface
 * under `/_control` (control.ts), the same as methods: of what is set up in account.ts, of what people do in records.ts.
 * These take what definitions.ts describes; they throw a ControlError for what isn't there, a ZodError for what is
 * malformed. Built from the facts, not from the connector.
 */
export class HubspotStandin extends HubspotRecords {
  readonly accessToken: string;
  readonly #credentials: Credentials;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Route<Context>>([
    ...engagementRoutes,
    ...otherRoutes,
    ...accountRoutes,
    ...propertyRoutes,
    ...webhookRoutes,
    ...searchRoutes,
    ...objectRoutes,
  ]);
  #limits = new RateLimits();

  constructor(options: HubspotStandinOptions = {}) {
    super(options);
    const { accessToken = 'hubspot-token', developerApiKey = 'hubspot-developer-key', tokens } = options;
    this.accessToken = accessToken;
    this.#credentials = { developerApiKey, oauth: this.oauth, tokens: { [accessToken]: null, ...tokens } };
    this.#control = createHubspotControl(this);
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const now = this.now();
    const found = this.#find(req.method, req.path);
    this.note(req, found?.endpoint ?? req.path, now);
    const correlationId = randomUUID();
    const headers: Record<string, string> = { 'x-hubspot-correlation-id': correlationId };
    try {
      if (req.method === 'POST' && tokenPath.test(req.path)) return this.oauth.answer(req, now);
      const scopes = scopesFor(found?.endpoint ?? '', req, this.#credentials, this.settings.scopes, now);
      const { refusedBy, headers: limits } = this.#limits.take(
        this.settings,
        now,
        found?.endpoint.endsWith('/search') === true ? 'search' : 'other',
      );
      Object.assign(headers, limits);
      if (refusedBy !== undefined) {
        const { status, body } = rateLimited(refusedBy, randomUUID());
        return { status, headers, body: { ...body, correlationId } };
      }
      if (found === undefined) throw notFound();
      const context: Context = {
        req,
        store: this.store,
        now,
        random: this.random,
        portalId: this.portalId,
        appId: this.appId,
        clientSecret: this.clientSecret,
        oauth: this.oauth,
        scopes,
        nextSubscriptionId: () => this.nextSubscriptionId(),
        source: { changeSource: 'INTEGRATION', sourceId: String(this.appId) },
        settings: this.settings,
        need: (...oneOf) => {
          if (scopes !== null && !oneOf.some((scope) => scopes.includes(scope))) throw missingScopes(oneOf);
        },
        changed: (record, names, source) => void this.changed(record, names, source),
      };
      const response = await found.route.answer(context, found.params);
      return { ...response, headers: { ...headers, ...response.headers } };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { status, body } = error.response;
      return { status, headers, body: { ...(typeof body === 'object' && body), correlationId } };
    }
  };

  override reset(): void {
    super.reset();
    this.#limits = new RateLimits();
  }
}

export function createHubspotStandin(options: HubspotStandinOptions = {}): HubspotStandin {
  return new HubspotStandin(options);
}

/** The same over HTTP; `url` stands for `https://api.hubapi.com`. */
export function startHubspotStandin(
  options: HubspotStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: HubspotStandin }> {
  return serveStandin(createHubspotStandin(options), options.port);
}
