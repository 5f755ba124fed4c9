import { ControlError, type Given } from '../kit/control.ts';
import { FaultQueue, type StandinRequest, type StandinResponse, type StandinServer, serveStandin } from '../kit/server.ts';
import { createApi, prefix } from './api.ts';
import { buildAccount, buildCampaign, buildSurvey, fill } from './build.ts';
import { normalised } from './contact.ts';
import type { ContactCounts } from './contact-endpoints.ts';
import { createControl } from './control.ts';
import * as define from './definitions.ts';
import type { Account, ApiKey, Campaign, FeedbackRequest } from './model.ts';
import { defaultForm, type OperationsForm } from './operations-form.ts';
import { type RequestReport, reportRequest } from './request-view.ts';
import { plant } from './seed.ts';
import { Store, statusOf } from './store.ts';

export interface FeedbackStandinOptions {
  /** The clock before any shift; left out: the system's. */
  now?: () => Date;
  /** IANA zone of accounts that name none. Default Europe/Tallinn. */
  timeZone?: string;
  /** Public base address ending in /api, for `next` and `previous`; left out: made of the Host header. */
  baseUrl?: string;
  /** Wire form of the five operations the specification doesn't show. */
  form?: OperationsForm;
  /** Which requests a contact's `num_appeals` counts. Default 'created'. */
  contactCounts?: ContactCounts;
  /** Start, and start again after `reset`, with the demo's account, keys and campaigns (seed.ts). Default false. */
  seed?: boolean;
}

/**
 * The stand-in of the Feedback Collection Service: its API under `/api`, its control surface under `/_control` (control.ts)
 * and, for a test in the same process, in these methods. All of them take what definitions.ts describes and throw a
 * ControlError for what isn't there, a ZodError for what is malformed.
 */
export class FeedbackStandin {
  readonly faults = new FaultQueue();
  readonly #options: FeedbackStandinOptions;
  readonly #control: (req: StandinRequest) => StandinResponse;
  #api: (req: StandinRequest) => StandinResponse;
  #store = new Store();
  #calls = new Map<string, number>();
  #shiftMs = 0;

  constructor(options: FeedbackStandinOptions = {}) {
    this.#options = options;
    this.#control = createControl(this);
    this.#api = this.#openApi();
    if (options.seed === true) this.seed();
  }

  handle(req: StandinRequest): StandinResponse {
    if (req.path.startsWith(`${prefix}/`)) return this.#api(req);
    if (req.path.startsWith('/_control/')) return this.#control(req);
    return { status: 404, body: { detail: 'Not found.' } };
  }

  /** Adds an account; one that exists is left as it is. */
  addAccount(given: Given<typeof define.accountDefinition>): void {
    const definition = define.accountDefinition.parse(given);
    if (this.#store.accounts.has(definition.name)) return;
    const timeZone = this.#options.timeZone ?? 'Europe/Tallinn';
    this.#store.accounts.set(definition.name, buildAccount(definition, timeZone));
  }

  addKey(given: Given<typeof define.keyDefinition>): void {
    const { account, key, active, expiresAt } = define.keyDefinition.parse(given);
    this.#store.keys.set(key, { account: this.#account(account), active, expiresAt: expiresAt?.getTime() ?? null });
  }

  /** Deactivates, activates, expires a key, or clears its expiry. */
  changeKey(given: Given<typeof define.keyChange>): void {
    const { key, active, expiresAt } = define.keyChange.parse(given);
    const known = this.#key(key);
    if (active !== undefined) known.active = active;
    if (expiresAt !== undefined) known.expiresAt = expiresAt?.getTime() ?? null;
  }

  deleteKey({ key }: Given<typeof define.keyName>): void {
    this.#key(key);
    this.#store.keys.delete(key);
  }

  addCampaign(given: Given<typeof define.campaignDefinition>): { id: number } {
    const definition = define.campaignDefinition.parse(given);
    if (definition.id !== undefined && this.#store.campaigns.has(definition.id)) {
      throw new ControlError(`there is a campaign ${definition.id} already`);
    }
    const account = this.#account(definition.account);
    const campaign = buildCampaign(definition, account, this.#store);
    this.#store.campaigns.set(campaign.id, campaign);
    account.campaigns.push(campaign);
    return { id: campaign.id };
  }

  /** State, name, window and delay. A new window holds for what hasn't gone out; a new delay for new requests. */
  changeCampaign(given: Given<typeof define.campaignChange>): void {
    const { id, ...changes } = define.campaignChange.parse(given);
    const campaign = this.#campaign(id);
    const { name, state, sendFrom, sendUntil, sendDelay } = changes;
    if (name !== undefined) campaign.name = name;
    if (state !== undefined) campaign.state = state;
    if (sendDelay !== undefined) campaign.sendDelay = sendDelay;
    if (sendFrom === undefined && sendUntil === undefined) return;
    const now = this.#now();
    const waiting = campaign.requests.filter((request) => statusOf(request, now) === 'Scheduled');
    if (sendFrom !== undefined) campaign.sendFrom = sendFrom;
    if (sendUntil !== undefined) campaign.sendUntil = sendUntil;
    this.#store.reschedule(waiting, now);
  }

  addSurvey(given: Given<typeof define.surveyDefinition>): { id: number } {
    const definition = define.surveyDefinition.parse(given);
    const survey = buildSurvey(definition, this.#store);
    this.#account(definition.account).surveys.push(survey);
    return { id: survey.id };
  }

  /** A customer answers what they were sent. @throws ControlError when nothing has been sent to them. */
  answer(given: Given<typeof define.customerAnswer>): RequestReport {
    const { request: id, contact, grade, comment, survey, ip } = define.customerAnswer.parse(given);
    const now = this.#now();
    const request = id === undefined ? this.#lastSentTo(contact ?? '', now) : this.#store.request(id);
    if (request === undefined) throw new ControlError('no such feedback request has been sent');
    const status = statusOf(request, now);
    if (status !== 'Sent') throw new ControlError(`feedback request ${request.id} is ${status}: nobody can answer it`);
    if (grade !== undefined) {
      if (!request.campaign.gradeList.includes(grade))
        throw new ControlError(`${grade} is not a grade of the campaign`);
      this.#store.grade(request, grade, now);
    }
    if (comment !== undefined) this.#store.comment(request, comment, now);
    if (survey) this.#store.completeSurvey(request, now);
    if (ip !== undefined && !request.masked) request.ip = ip;
    return reportRequest(request, now);
  }

  blacklist(given: Given<typeof define.blacklistEntry>): void {
    const { account, contact } = define.blacklistEntry.parse(given);
    const entry = normalised(contact);
    this.#account(account).blacklist.set(entry, { entry, at: this.#now() });
  }

  graylist(given: Given<typeof define.graylistEntry>): void {
    const { contact, campaign: id } = define.graylistEntry.parse(given);
    const campaign = this.#campaign(id);
    const entry = normalised(contact);
    const { graylist } = campaign.account;
    const known = graylist.get(entry) ?? { entry, campaigns: new Map() };
    known.campaigns.set(campaign, this.#now());
    graylist.set(entry, known);
  }

  addAccess(given: Given<typeof define.accessEntry>): void {
    const { account, contact, user, action, at } = define.accessEntry.parse(given);
    const { accessLog } = this.#account(account);
    const entries = accessLog.get(normalised(contact)) ?? [];
    entries.push({ user, action, at: at?.getTime() ?? this.#now() });
    accessLog.set(normalised(contact), entries);
  }

  /** Everything about requests of all accounts, oldest first. */
  requests(given: Given<typeof define.requestFilter> = {}): RequestReport[] {
    const { campaign, contact, limit } = define.requestFilter.parse(given);
    const now = this.#now();
    const ofCampaign = campaign === undefined ? this.#store.requests : this.#campaign(campaign).requests;
    const ofContact = contact === undefined ? undefined : this.#requestsOf(contact);
    const found = ofContact === undefined ? ofCampaign : ofCampaign.filter((request) => ofContact.has(request));
    return found.slice(0, limit).map((request) => reportRequest(request, now));
  }

  /** Adds many requests at once, past the API. */
  fill(given: Given<typeof define.fillOrder>): void {
    const order = define.fillOrder.parse(given);
    fill(this.#store, this.#campaign(order.campaign), order, this.#now());
  }

  now(): Date {
    return new Date(this.#now());
  }

  /** Shifts the clock against the injected one, which goes on running underneath. */
  moveClock(given: Given<typeof define.clockChange>): Date {
    const change = define.clockChange.parse(given);
    this.#shiftMs += 'advanceMs' in change ? change.advanceMs : change.now.getTime() - this.#now();
    return this.now();
  }

  /** Calls per endpoint name ("campaigns.list", "requests.create" …), refused ones included. */
  calls(): Record<string, number> {
    return Object.fromEntries(this.#calls);
  }

  clearCalls(): void {
    this.#calls.clear();
  }

  /** How many requests the API has looked at one by one since the start: the cost of a call, without a stop-watch. */
  visited(): number {
    return this.#store.visited;
  }

  seed(): void {
    plant(this);
  }

  /** Back to the state right after construction: data, clock, counts and faults. */
  reset(): void {
    this.#store = new Store();
    this.#calls = new Map();
    this.#shiftMs = 0;
    this.#api = this.#openApi();
    this.faults.clear();
    if (this.#options.seed === true) this.seed();
  }

  #openApi(): (req: StandinRequest) => StandinResponse {
    return createApi({
      store: this.#store,
      form: this.#options.form ?? defaultForm,
      contactCounts: this.#options.contactCounts ?? 'created',
      baseUrl: this.#options.baseUrl,
      now: () => this.#now(),
      count: (name) => this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1),
    });
  }

  #now(): number {
    return (this.#options.now?.() ?? new Date()).getTime() + this.#shiftMs;
  }

  #account(name: string): Account {
    const account = this.#store.accounts.get(name);
    if (account === undefined) throw new ControlError(`there is no account "${name}"`);
    return account;
  }

  #key(key: string): ApiKey {
    const known = this.#store.keys.get(key);
    if (known === undefined) throw new ControlError('there is no such key');
    return known;
  }

  #campaign(id: number): Campaign {
    const campaign = this.#store.campaigns.get(id);
    if (campaign === undefined) throw new ControlError(`there is no campaign ${id}`);
    return campaign;
  }

  #requestsOf(contact: string): Set<FeedbackRequest> {
    return new Set([...this.#store.accounts.values()].flatMap((account) => this.#store.matching(account, contact)));
  }

  #lastSentTo(contact: string, now: number): FeedbackRequest | undefined {
    return [...this.#requestsOf(contact)].findLast((request) => statusOf(request, now) === 'Sent');
  }
}

/** The same over HTTP: the API's base address is `url` + `/api`. */
export function startFeedbackStandin(
  options: FeedbackStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: FeedbackStandin }> {
  return serveStandin(new FeedbackStandin(options), options.port);
}
