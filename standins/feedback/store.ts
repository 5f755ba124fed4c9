import { digest, indexKeys, lookupKeys, normalised } from './contact.ts';
import type { Account, Answer, ApiKey, Campaign, FeedbackRequest, FieldValue, Status, Tally } from './definitions.ts';
import { emptyTally, emptyValueTally } from './statistics.ts';
import { firstOpenAt, parseTimeOfDay, type SendWindow } from './zone.ts';

/** What stands where personal data was. */
const maskedValue = '***';

export interface NewRequest {
  phone: string | null;
  email: string | null;
  identifier: string | null;
  /** Epoch milliseconds; null: now and the campaign's delay. */
  scheduledAt: number | null;
  values: (FieldValue | null)[] | null;
}

/**
 * All data of the stand-in. Whatever is asked often is kept up to date instead of computed: requests per campaign and per
 * contact, and tallies per campaign, day and custom field value.
 */
export class Store {
  readonly accounts = new Map<string, Account>();
  readonly keys = new Map<string, ApiKey>();
  readonly campaigns = new Map<number, Campaign>();
  readonly requests: FeedbackRequest[] = [];
  /** What the API calls the next requests, instead of their usual ids; and the requests that were called so. */
  readonly nextLongIds: bigint[] = [];
  readonly #byLongId = new Map<bigint, FeedbackRequest>();
  #lastId = 1000;

  /** Ids of campaigns, fields, surveys and questions: unique over all of them, so that a mixed-up id is noticed. */
  nextId(): number {
    do this.#lastId += 1;
    while (this.campaigns.has(this.#lastId));
    return this.#lastId;
  }

  request(id: number): FeedbackRequest | undefined {
    return this.requests[id - firstRequestId];
  }

  /** By the id that the API shows. */
  requestOfApi(id: bigint): FeedbackRequest | undefined {
    const usual = this.request(Number(id));
    return this.#byLongId.get(id) ?? (usual?.longId === null ? usual : undefined);
  }

  add(campaign: Campaign, draft: NewRequest, now: number): FeedbackRequest {
    const scheduledAt = draft.scheduledAt ?? now + (campaign.sendDelay ?? 0) * 60_000;
    const { account } = campaign;
    const request: FeedbackRequest = {
      id: firstRequestId + this.requests.length,
      longId: this.nextLongIds.shift() ?? null,
      campaign,
      phone: draft.phone,
      email: draft.email,
      identifier: draft.identifier,
      ip: null,
      scheduledAt,
      // A date that has passed means at once, and "at once" still waits for the window.
      dueAt: firstOpenAt(windowOf(campaign), account.zone, Math.max(scheduledAt, now)),
      day: account.zone.day(scheduledAt),
      ended: null,
      masked: false,
      answer: null,
      values: draft.values,
    };
    this.requests.push(request);
    if (request.longId !== null) this.#byLongId.set(request.longId, request);
    campaign.requests.push(request);
    account.requests.push(request);
    for (const key of indexKeys(request)) {
      const known = account.contacts.get(key);
      if (known === undefined) account.contacts.set(key, request);
      else if (Array.isArray(known)) known.push(request);
      else account.contacts.set(key, [known, request]);
    }
    for (const tally of talliesOf(request)) tally.total += 1;
    for (const tally of valueTalliesOf(request, true)) tally.requests += 1;
    return request;
  }

  /** The window of these requests has changed: those that haven't gone out yet go out by the new window. */
  reschedule(waiting: readonly FeedbackRequest[], now: number): void {
    for (const request of waiting) {
      const { campaign } = request;
      request.dueAt = firstOpenAt(windowOf(campaign), campaign.account.zone, Math.max(request.scheduledAt, now));
    }
  }

  grade(request: FeedbackRequest, grade: number, now: number): void {
    const answer = answerOf(request);
    const before = answer.grade;
    answer.grade = grade;
    answer.gradeAt = now;
    if (before === grade) return;
    answer.gradeChangedAt = now;
    const { gradeList } = request.campaign;
    for (const tally of talliesOf(request)) {
      if (before === null) tally.graded += 1;
      else move(tally, gradeList.indexOf(before), -1);
      move(tally, gradeList.indexOf(grade), 1);
    }
    for (const tally of valueTalliesOf(request)) {
      if (before === null) tally.graded += 1;
      tally.sum += grade - (before ?? 0);
    }
  }

  comment(request: FeedbackRequest, comment: string, now: number): void {
    const answer = answerOf(request);
    if (answer.comment === null) for (const tally of talliesOf(request)) tally.commented += 1;
    answer.comment = comment;
    answer.commentAt = now;
  }

  completeSurvey(request: FeedbackRequest, now: number): void {
    answerOf(request).surveyAt = now;
  }

  /** Requests that match a contact as it was sent, oldest first. Masked ones match nothing. */
  matching(account: Account, contact: string): FeedbackRequest[] {
    const found = new Set<FeedbackRequest>();
    for (const key of lookupKeys(contact)) {
      for (const request of [account.contacts.get(key) ?? []].flat()) found.add(request);
    }
    return [...found].sort((a, b) => a.id - b.id);
  }

  /** Was there a request of this contact that has been masked since? */
  wasMasked(account: Account, contact: string): boolean {
    return lookupKeys(contact).some((key) => account.maskedContacts.has(digest(key)));
  }

  /** Irreversible: nothing here remembers what the values were. */
  mask(request: FeedbackRequest, now: number): void {
    const { account, fields } = request.campaign;
    // Without its contact the request can't go out any more, and can't be found on a blacklist later.
    if (request.ended === null && statusOf(request, now) !== 'Sent') request.ended = 'Not sent';
    for (const key of indexKeys(request)) {
      account.maskedContacts.add(digest(key));
      const left = [account.contacts.get(key) ?? []].flat().filter((other) => other !== request);
      if (left.length === 0) account.contacts.delete(key);
      else account.contacts.set(key, left);
    }
    if (request.phone !== null) request.phone = maskedValue;
    if (request.email !== null) request.email = maskedValue;
    if (request.identifier !== null) request.identifier = maskedValue;
    if (request.ip !== null) request.ip = maskedValue;
    if (request.values !== null && fields.some((field) => field.personal)) {
      this.#maskValues(request, request.values);
    }
    request.masked = true;
  }

  /** Moves the counts of a personal value to the masked value: totals stay, the personal value goes. */
  #maskValues(request: FeedbackRequest, values: (FieldValue | null)[]): void {
    const { fields, values: byField } = request.campaign;
    const grade = request.answer?.grade ?? null;
    const count = (sign: 1 | -1): void => {
      for (const tally of valueTalliesOf(request, true)) {
        tally.requests += sign;
        if (grade !== null) tally.graded += sign;
        tally.sum += sign * (grade ?? 0);
      }
    };
    count(-1);
    for (const [index, field] of fields.entries()) {
      const value = values[index] ?? null;
      if (!field.personal || value === null) continue;
      if (byField[index]?.get(value)?.requests === 0) byField[index].delete(value);
      values[index] = maskedValue;
    }
    count(1);
  }
}

/** Request ids start here, so that a request's id taken for a campaign's is noticed. */
const firstRequestId = 500_001;

/** Status at `now`. Nothing has to run for a request to go out: its status follows from the clock. */
export function statusOf(request: FeedbackRequest, now: number): Status {
  if (request.ended !== null) return request.ended;
  if (request.dueAt > now) return 'Scheduled';
  return isStopped(request) ? 'Not sent' : 'Sent';
}

/**
 * The specification doesn't show what happens to a request for a contact on the blacklist or graylist. Assumed: it is
 * accepted, waits as any other, and is not sent when it becomes due.
 */
function isStopped(request: FeedbackRequest): boolean {
  const { account } = request.campaign;
  if (account.blacklist.size === 0 && account.graylist.size === 0) return false;
  return [request.phone, request.email, request.identifier].some((contact) => {
    if (contact === null) return false;
    const key = normalised(contact);
    const black = account.blacklist.get(key)?.at ?? Number.POSITIVE_INFINITY;
    const gray = account.graylist.get(key)?.campaigns.get(request.campaign) ?? Number.POSITIVE_INFINITY;
    return Math.min(black, gray) <= request.dueAt;
  });
}

export const sendTimes = (campaign: Campaign): { sendFrom: string; sendUntil: string } => ({
  sendFrom: campaign.sendFrom ?? campaign.account.sendFrom,
  sendUntil: campaign.sendUntil ?? campaign.account.sendUntil,
});

function windowOf(campaign: Campaign): SendWindow {
  const { sendFrom, sendUntil } = sendTimes(campaign);
  return { from: parseTimeOfDay(sendFrom) ?? 0, until: parseTimeOfDay(sendUntil) ?? 0 };
}

function answerOf(request: FeedbackRequest): Answer {
  request.answer ??= {
    grade: null,
    gradeAt: null,
    gradeChangedAt: null,
    comment: null,
    commentAt: null,
    surveyAt: null,
  };
  return request.answer;
}

function talliesOf({ campaign, day }: FeedbackRequest): Tally[] {
  let ofDay = campaign.days.get(day);
  if (ofDay === undefined) {
    ofDay = emptyTally(campaign.gradeList);
    campaign.days.set(day, ofDay);
  }
  return [campaign.total, ofDay];
}

/** The tallies of the request's values. `intern` also makes equal values one object: a million "Tallinn" are one string. */
function valueTalliesOf({ campaign, values }: FeedbackRequest, intern = false) {
  if (values === null) return [];
  return campaign.values.flatMap((byValue, index) => {
    const value = values[index] ?? null;
    if (byValue === undefined || value === null) return [];
    let tally = byValue.get(value);
    if (tally === undefined) {
      tally = emptyValueTally(value);
      byValue.set(value, tally);
    }
    if (intern) values[index] = tally.value;
    return [tally];
  });
}

function move(tally: Tally, index: number, by: 1 | -1): void {
  tally.grades[index] = (tally.grades[index] ?? 0) + by;
}
