import { ControlError, type Given, held } from '../kit/control.ts';
import { FaultQueue } from '../kit/faults.ts';
import { buildAccount, buildCampaign, buildSurvey, fill } from './build.ts';
import { normalised } from './contact.ts';
import type { Account, ApiKey, Campaign, FeedbackRequest } from './definitions.ts';
import * as define from './definitions.ts';
import { type RequestReport, reportRequest } from './request-view.ts';
import { Store, statusOf } from './store.ts';

export interface ServiceOptions {
  /** The clock before any shift; left out: the system's. */
  now?: () => Date;
  /** IANA zone of accounts that name none. Default Europe/Tallinn. */
  timeZone?: string;
}

/** What the service holds and what happens in it beside the API: set-up, answers of customers, lists, the clock. */
export class FeedbackService {
  readonly faults = new FaultQueue();
  protected readonly store = new Store();
  protected readonly counts = new Map<string, number>();
  readonly #options: ServiceOptions;
  #shiftMs = 0;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** Adds an account; an account that exists is left as it is. */
  addAccount(given: Given<typeof define.accountDefinition>): void {
    const definition = define.accountDefinition.parse(given);
    if (this.store.accounts.has(definition.name)) return;
    const timeZone = this.#options.timeZone ?? 'Europe/Tallinn';
    this.store.accounts.set(definition.name, buildAccount(definition, timeZone));
  }

  addKey(given: Given<typeof define.keyDefinition>): void {
    const { account, key, active, expiresAt } = define.keyDefinition.parse(given);
    this.store.keys.set(key, { account: this.#account(account), active, expiresAt: expiresAt?.getTime() ?? null });
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
    this.store.keys.delete(key);
  }

  addCampaign(given: Given<typeof define.campaignDefinition>): { id: number } {
    const definition = define.campaignDefinition.parse(given);
    if (definition.id !== undefined && this.store.campaigns.has(definition.id)) {
      throw new ControlError(`there is a campaign ${definition.id} already`);
    }
    const account = this.#account(definition.account);
    const campaign = buildCampaign(definition, account, this.store);
    this.store.campaigns.set(campaign.id, campaign);
    account.campaigns.push(campaign);
    return { id: campaign.id };
  }

  /** Changes state, name, window and delay. A new window holds for requests that haven't gone out, a new delay for new requests. */
  changeCampaign(given: Given<typeof define.campaignChange>): void {
    const { id, ...changes } = define.campaignChange.parse(given);
    const campaign = this.#campaign(id);
    const { name, state, sendFrom, sendUntil, sendDelay } = changes;
    if (name !== undefined) campaign.name = name;
    if (state !== undefined) campaign.state = state;
    if (sendDelay !== undefined) campaign.sendDelay = sendDelay;
    if (sendFrom === undefined && sendUntil === undefined) return;
    const now = this.instant();
    const waiting = campaign.requests.filter((request) => statusOf(request, now) === 'Scheduled');
    if (sendFrom !== undefined) campaign.sendFrom = sendFrom;
    if (sendUntil !== undefined) campaign.sendUntil = sendUntil;
    this.store.reschedule(waiting, now);
  }

  addSurvey(given: Given<typeof define.surveyDefinition>): { id: number } {
    const definition = define.surveyDefinition.parse(given);
    const survey = buildSurvey(definition, this.store);
    this.#account(definition.account).surveys.push(survey);
    return { id: survey.id };
  }

  /** A customer answers what they were sent. @throws ControlError when nothing has been sent to them. */
  answer(given: Given<typeof define.customerAnswer>): RequestReport {
    const { request: id, contact, grade, comment, survey, ip } = define.customerAnswer.parse(given);
    const now = this.instant();
    const request = id === undefined ? this.#lastSentTo(contact ?? '', now) : this.store.request(id);
    if (request === undefined) throw new ControlError('no such feedback request has been sent');
    const status = statusOf(request, now);
    if (status !== 'Sent') throw new ControlError(`feedback request ${request.id} is ${status}: nobody can answer it`);
    if (grade !== undefined) {
      if (!request.campaign.gradeList.includes(grade))
        throw new ControlError(`${grade} is not a grade of the campaign`);
      this.store.grade(request, grade, now);
    }
    if (comment !== undefined) this.store.comment(request, comment, now);
    if (survey) this.store.completeSurvey(request, now);
    if (ip !== undefined && !request.masked) request.ip = ip;
    return reportRequest(request, now);
  }

  blacklist(given: Given<typeof define.blacklistEntry>): void {
    const { account, contact } = define.blacklistEntry.parse(given);
    const entry = normalised(contact);
    this.#account(account).blacklist.set(entry, { entry, at: this.instant() });
  }

  graylist(given: Given<typeof define.graylistEntry>): void {
    const { contact, campaign: id } = define.graylistEntry.parse(given);
    const campaign = this.#campaign(id);
    const entry = normalised(contact);
    const { graylist } = campaign.account;
    const known = graylist.get(entry) ?? { entry, campaigns: new Map() };
    known.campaigns.set(campaign, this.instant());
    graylist.set(entry, known);
  }

  addAccess(given: Given<typeof define.accessEntry>): void {
    const { account, contact, user, action, at } = define.accessEntry.parse(given);
    const { accessLog } = this.#account(account);
    const entries = accessLog.get(normalised(contact)) ?? [];
    entries.push({ user, action, at: at?.getTime() ?? this.instant() });
    accessLog.set(normalised(contact), entries);
  }

  /** Everything about requests of all accounts, oldest first. */
  requests(given: Given<typeof define.requestFilter> = {}): RequestReport[] {
    const { campaign, contact, limit } = define.requestFilter.parse(given);
    const now = this.instant();
    const ofCampaign = campaign === undefined ? this.store.requests : this.#campaign(campaign).requests;
    const ofContact = contact === undefined ? undefined : this.#requestsOf(contact);
    const found = ofContact === undefined ? ofCampaign : ofCampaign.filter((request) => ofContact.has(request));
    return found.slice(0, limit).map((request) => reportRequest(request, now));
  }

  /** The API calls the next requests by these ids, which may be longer than a number of JavaScript can be. */
  giveLongIds(given: Given<typeof define.longIds>): void {
    this.store.nextLongIds.push(...define.longIds.parse(given).ids.map(BigInt));
  }

  /** Adds a request that was made before now, past the API. */
  addPast(given: Given<typeof define.pastRequest>): { id: number } {
    const { campaign: id, email, askedAt, values, answer } = define.pastRequest.parse(given);
    const campaign = this.#campaign(id);
    const at = askedAt.getTime();
    const inOrder = campaign.fields.map(({ name }) => values[name] ?? null);
    const draft = { phone: null, email, identifier: null, scheduledAt: at, values: inOrder };
    const request = this.store.add(campaign, draft, at);
    if (answer) this.store.grade(request, answer.grade, answer.at.getTime());
    if (answer?.comment !== undefined) this.store.comment(request, answer.comment, answer.at.getTime());
    return { id: request.id };
  }

  /** Adds many requests at once, past the API. */
  fill(given: Given<typeof define.fillOrder>): void {
    const order = define.fillOrder.parse(given);
    fill(this.store, this.#campaign(order.campaign), order, this.instant());
  }

  now(): Date {
    return new Date(this.instant());
  }

  /** Shifts the clock against the injected clock, which goes on running. */
  moveClock(given: Given<typeof define.clockChange>): Date {
    const change = define.clockChange.parse(given);
    this.#shiftMs += 'advanceMs' in change ? change.advanceMs : change.now.getTime() - this.instant();
    return this.now();
  }

  /** Calls per endpoint name ("campaigns.list", "requests.create" …), refused ones included. */
  calls(): Record<string, number> {
    return Object.fromEntries(this.counts);
  }

  clearCalls(): void {
    this.counts.clear();
  }

  /** Epoch milliseconds on the service's clock. */
  protected instant(): number {
    return (this.#options.now?.() ?? new Date()).getTime() + this.#shiftMs;
  }

  #account(name: string): Account {
    return held(this.store.accounts, name, 'account');
  }

  #key(key: string): ApiKey {
    const known = this.store.keys.get(key);
    if (known === undefined) throw new ControlError('there is no such key');
    return known;
  }

  #campaign(id: number): Campaign {
    return held(this.store.campaigns, id, 'campaign');
  }

  #requestsOf(contact: string): Set<FeedbackRequest> {
    return new Set([...this.store.accounts.values()].flatMap((account) => this.store.matching(account, contact)));
  }

  #lastSentTo(contact: string, now: number): FeedbackRequest | undefined {
    return [...this.#requestsOf(contact)].findLast((request) => statusOf(request, now) === 'Sent');
  }
}
