import { ok } from '../kit/message.ts';
import { internationalNumber } from './contact.ts';
import { isBlank, readFieldValues, sentFields } from './custom-fields.ts';
import type { Campaign, CampaignType, FeedbackRequest } from './definitions.ts';
import {
  activeCampaign,
  type Call,
  type Endpoint,
  endpoint,
  forbidden,
  invalid,
  longNumber,
  notFound,
  paged,
  problem,
  wholeNumber,
} from './endpoint.ts';
import { type CreateBody, type Operation, type OperationsForm, pick, put, unknownFields } from './operations-form.ts';
import { showRequest } from './request-view.ts';
import { statusOf } from './store.ts';

/** By field. Made by `noneWrong`: a field may be called `__proto__`. */
type Wrong = Record<string, string[]>;
const noneWrong = (): Wrong => Object.create(null);
type ContactField = 'phone' | 'email' | 'identifier';

/** What a campaign reaches people by. A widget's requests come from the widget, never from the API. */
const contactFields: Record<CampaignType, readonly ContactField[]> = {
  sms: ['phone'],
  email: ['email'],
  mixed: ['phone', 'email'],
  external: ['identifier'],
  widget: [],
};

/** The export, and the five operations whose wire form the specification does not show, in the given form. */
export function requestEndpoints(form: OperationsForm): Endpoint[] {
  const answer = (request: FeedbackRequest, call: Call, status = 200) => {
    const record = showRequest(request, form.record, call.now);
    if (form.record.envelope === undefined) return { status, body: record };
    const body = {};
    put(body, form.record.envelope, record);
    return { status, body };
  };
  const external = (call: Call, operation: Operation, place: string): FeedbackRequest => {
    const request = theRequest(call, operation, [place]);
    if (request.campaign.type !== 'external') {
      throw problem(400, 'Only feedback requests of an external campaign can be graded or commented.');
    }
    if (statusOf(request, call.now) === 'Cancelled') throw problem(400, 'The feedback request is cancelled.');
    return request;
  };
  return [
    endpoint('requests.list', 'GET', '/appeals/', (call) => {
      const id = call.query.get('campaign');
      const requests = id === null ? call.account.requests : activeCampaign(call, wholeNumber(id, 'campaign')).requests;
      return ok(paged(requests, call.url, (request) => showRequest(request, form.record, call.now)));
    }),
    endpoint('requests.create', form.create.method, form.create.path, (call) =>
      answer(create(call, form.create), call, 201),
    ),
    endpoint('requests.get', form.get.method, form.get.path, (call) => answer(theRequest(call, form.get, []), call)),
    endpoint('requests.grade', form.grade.method, form.grade.path, (call) => {
      const request = external(call, form.grade, form.grade.grade);
      const grade = pick(call.body, form.grade.grade);
      if (typeof grade !== 'number' || !request.campaign.gradeList.includes(grade)) {
        throw invalid(leaf(form.grade.grade), "A grade of the campaign's scale is required.");
      }
      call.store.grade(request, grade, call.now);
      return answer(request, call);
    }),
    endpoint('requests.comment', form.comment.method, form.comment.path, (call) => {
      const request = external(call, form.comment, form.comment.comment);
      const comment = pick(call.body, form.comment.comment);
      if (typeof comment !== 'string' || isBlank(comment)) {
        throw invalid(leaf(form.comment.comment), 'This field is required.');
      }
      call.store.comment(request, comment, call.now);
      return answer(request, call);
    }),
    endpoint('requests.cancel', form.cancel.method, form.cancel.path, (call) => {
      const request = theRequest(call, form.cancel, []);
      if (statusOf(request, call.now) !== 'Scheduled') {
        throw problem(400, "Only feedback requests with status 'Scheduled' can be cancelled.");
      }
      request.ended = 'Cancelled';
      return answer(request, call);
    }),
  ];
}

/** The request an operation names, by path, query or body. Another account's is 403, one that is nowhere is 404. */
function theRequest(call: Call, { id, constants }: Operation, places: readonly string[]): FeedbackRequest {
  checkBody(call.body, id?.in === 'body' ? [...places, id.at] : places, constants);
  const given = id === undefined ? call.params.id : id.in === 'query' ? call.query.get(id.at) : pick(call.body, id.at);
  const request = call.store.requestOfApi(longNumber(given, id === undefined ? 'id' : leaf(id.at)));
  if (request === undefined) throw notFound();
  const { account, state } = request.campaign;
  if (account !== call.account || state !== 'active') throw forbidden();
  return request;
}

function create(call: Call, { body: form, constants }: OperationsForm['create']): FeedbackRequest {
  const { body } = call;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid('non_field_errors', 'Invalid data. Expected an object.');
  }
  const byPath = call.params.campaign;
  const { fieldsAs, campaign: campaignPlace, ...places } = form;
  checkBody(body, [...Object.values(places), ...(byPath === undefined ? [campaignPlace] : [])], constants);
  const id = byPath ?? pick(body, campaignPlace);
  if (id === undefined || id === null) throw invalid(leaf(campaignPlace), 'This field is required.');
  const campaign = activeCampaign(call, wholeNumber(id, leaf(campaignPlace)));
  if (campaign.type === 'widget') {
    throw invalid(leaf(campaignPlace), 'Feedback requests of a widget campaign are created by the widget.');
  }

  const wrong = noneWrong();
  const contact = readContact(body, form, campaign, wrong);
  const scheduledAt = readScheduled(pick(body, form.scheduled), leaf(form.scheduled), campaign, wrong);
  const sent = sentFields(pick(body, form.customFields), fieldsAs, leaf(form.customFields));
  const values = readFieldValues(campaign.fields, sent, call.account.zone, wrong);
  if (Object.keys(wrong).length > 0) throw problem(400, wrong);
  return call.store.add(campaign, { ...contact, scheduledAt, values }, call.now);
}

function readContact(body: object, form: CreateBody, campaign: Campaign, wrong: Wrong) {
  const contact: Record<ContactField, string | null> = { phone: null, email: null, identifier: null };
  const fitting = contactFields[campaign.type];
  for (const field of ['phone', 'email', 'identifier'] as const) {
    const given = pick(body, form[field]) ?? null;
    if (given === null) continue;
    const name = leaf(form[field]);
    const value = typeof given === 'string' ? contactValue(field, given.trim()) : undefined;
    if (!fitting.includes(field)) wrong[name] = [`A campaign of type ${campaign.type} does not take this contact.`];
    else if (value === undefined) wrong[name] = [contactMessages[field]];
    else contact[field] = value;
  }
  const named = fitting.some((field) => contact[field] !== null || wrong[leaf(form[field])] !== undefined);
  if (!named) for (const field of fitting) wrong[leaf(form[field])] = ['This field is required.'];
  return contact;
}

const contactMessages: Record<ContactField, string> = {
  phone: 'Enter a valid mobile number in international format.',
  email: 'Enter a valid email address.',
  identifier: 'Enter a valid identifier.',
};

function contactValue(field: ContactField, text: string): string | undefined {
  if (field === 'phone') return internationalNumber(text);
  if (field === 'email') return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) ? text : undefined;
  return isBlank(text) ? undefined : text;
}

function readScheduled(given: unknown, name: string, campaign: Campaign, wrong: Wrong): number | null {
  if (given === undefined || given === null) return null;
  const at = typeof given === 'string' ? campaign.account.zone.parse(given) : undefined;
  if (at === undefined) wrong[name] = ['Datetime has wrong format. Use ISO 8601.'];
  return at ?? null;
}

/** The real service may ignore what it doesn't know; a stand-in that does would hide a wrongly configured form. */
function checkBody(body: unknown, places: readonly string[], constants: Operation['constants'] = {}): void {
  const wrong = noneWrong();
  for (const place of unknownFields(body ?? {}, [...places, ...Object.keys(constants)]))
    wrong[place] = ['Unknown field.'];
  for (const [place, value] of Object.entries(constants)) {
    if (pick(body, place) !== value) wrong[place] = [`Must be ${JSON.stringify(value)}.`];
  }
  if (Object.keys(wrong).length > 0) throw problem(400, wrong);
}

/** Errors name the field as it was sent: the last part of its place. */
const leaf = (place: string): string => place.slice(place.lastIndexOf('.') + 1);
