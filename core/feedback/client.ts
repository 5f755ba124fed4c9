import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { longestNext, readAhead } from '../connector/pages.ts';
import { type CampaignType, type Contact, contactPath } from '../contact.ts';
import { listOf } from '../entries.ts';
import type { Ports } from '../ports.ts';
import { checkGrade, checkNew, checkQuery, day, integer } from './arguments.ts';
import { FeedbackError, notJsonFailure, shapeFailure } from './failure.ts';
import { type Call, createHttp, type Http, jsonOf, outcomeOf, parseAnswer } from './http.ts';
import { type InstantReader, instantReader, instantTextReader } from './instants.ts';
import { type OperationName, type Operations, resolveOperations } from './operations.ts';
import {
  type CallForm,
  commandForm,
  createForm,
  type FeedbackRequest,
  listParameters,
  type NewRequest,
  type RequestQuery,
  recordReader,
} from './request-form.ts';
import type { Place } from './response.ts';
import type { Metric, Page } from './schemas.ts';
import {
  AccessLogEntry,
  Campaign,
  ContactRecord,
  CustomFieldStatistic,
  MaskResult,
  Survey,
  SurveyEntry,
} from './schemas.ts';
import type { FeedbackSettings } from './settings.ts';

export interface CallOptions {
  /** Ends the call early, with a transient error. */
  signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** After this moment the call is not sent: a transient error with outcome `never-sent`. */
  sendDeadline?: Date | undefined;
}

/** Days as YYYY-MM-DD in the account's zone, both inclusive: `stats` counts requests scheduled within. */
export interface StatsRange {
  statsFrom?: string | undefined;
  statsTo?: string | undefined;
}

export interface CampaignQuery extends StatsRange {
  type?: readonly CampaignType[] | undefined;
  metric?: readonly Metric[] | undefined;
}

export interface CustomFieldQuery {
  campaign: number;
  /** Requests scheduled from this day on, YYYY-MM-DD. */
  dateFrom?: string | undefined;
  /** Requests scheduled up to and including this day. */
  dateTo?: string | undefined;
  /** Requests whose grade changed on or after this day. */
  changedSince?: string | undefined;
}

/** A page of the export. Records in an unexpected shape are listed in `unreadable`, each with its problem, and hide no other records. */
export interface RequestPage<Instant = Date> extends Page<FeedbackRequest<Instant>> {
  unreadable: FeedbackError[];
}

/**
 * The Feedback Collection Service, with one method per operation of its specification. A call makes one attempt: the queue
 * retries. Every failure is a FeedbackError (CloseloopError where nothing was sent because of the argument).
 * Lists: `things()` yields one record after the other, `thingPages()` one page after the other; both fetch the next page only when
 * the caller asks for more.
 */
export interface FeedbackClient {
  campaigns(query?: CampaignQuery, options?: CallOptions): AsyncIterable<Campaign>;
  campaignPages(query?: CampaignQuery, options?: CallOptions): AsyncIterable<Page<Campaign>>;
  campaign(id: number, range?: StatsRange, options?: CallOptions): Promise<Campaign>;
  /** Only fields shown in reports. */
  customFieldStatistics(query: CustomFieldQuery, options?: CallOptions): Promise<CustomFieldStatistic[]>;

  requests(query?: RequestQuery, options?: CallOptions): AsyncIterable<FeedbackRequest>;
  requestPages(query?: RequestQuery, options?: CallOptions): AsyncIterable<RequestPage>;
  /** For callers that read the whole list: the next page is fetched while the caller works on a page, and instants are texts, as in JSON. */
  exportPages(query?: RequestQuery, options?: CallOptions): AsyncIterable<RequestPage<string>>;
  request(id: string, options?: CallOptions): Promise<FeedbackRequest>;
  /** Not idempotent: after an error with outcome `unknown` look for the request before trying again. */
  create(request: NewRequest, options?: CreateOptions): Promise<FeedbackRequest>;
  /** External campaigns only, like `comment`. Any 2xx response that is no HTML page counts as success: its body is not specified. */
  grade(id: string, grade: number, options?: CallOptions): Promise<void>;
  comment(id: string, text: string, options?: CallOptions): Promise<void>;
  /** Only for a request that is still scheduled; else a permanent error with status 400. */
  cancel(id: string, options?: CallOptions): Promise<void>;

  /** Reads a contact. Undefined: no feedback request of this account matches the contact, or the contact was masked. */
  contact(contact: Contact, options?: CallOptions): Promise<ContactRecord | undefined>;
  /** Can't be undone. If the service has no request of this contact, it throws a permanent error for which `isNobody` is true. */
  mask(contact: Contact, options?: CallOptions): Promise<MaskResult>;
  /** Newest first. Lists accesses by people, never accesses by key. */
  accessLog(contact: Contact, options?: CallOptions): AsyncIterable<AccessLogEntry>;
  accessLogPages(contact: Contact, options?: CallOptions): AsyncIterable<Page<AccessLogEntry>>;

  surveys(options?: CallOptions): AsyncIterable<SurveyEntry>;
  surveyPages(options?: CallOptions): AsyncIterable<Page<SurveyEntry>>;
  survey(id: number, options?: CallOptions): Promise<Survey>;
}

type Parameters = [name: string, value: string | undefined][];

export function createFeedbackClient(settings: FeedbackSettings, ports: Pick<Ports, 'fetch' | 'now'>): FeedbackClient {
  const http = createHttp(settings, ports);
  const table = resolveOperations(settings.operations);
  const reader = createReader(http);
  return {
    ...campaignsOf(reader),
    ...requestListsOf(reader, table),
    ...requestOperationsOf(http, table),
    ...contactsOf(reader, http),
    ...surveysOf(reader),
  };
}

type Reader = ReturnType<typeof createReader>;
type Methods<Name extends keyof FeedbackClient> = Pick<FeedbackClient, Name>;

type ReadOptions = CallOptions & Pick<Place, 'sentValues'>;

/** The envelope of every list but the custom-field statistics. Source: specification section 1, Paging of lists. */
function envelopeOf<Item>(results: z.ZodType<Item[]>) {
  return z.object({
    count: z.int().min(0),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results,
  });
}

/** Reads one thing, or a list page by page. */
function createReader(http: Http) {
  async function get<Schema extends z.ZodType>(path: string, schema: Schema, place: string, options?: ReadOptions) {
    const { signal, sentValues } = options ?? {};
    const call: Call = { method: 'GET', path, place: `GET ${place}`, sentValues, signal };
    return parseAnswer(await http.send(call), schema, call);
  }

  /** `path` is called with the query of the first page; every further page's address comes from the service. */
  async function* pages<Item>(
    path: () => string,
    results: z.ZodType<Item[]>,
    place: string,
    options: ReadOptions | undefined,
  ): AsyncGenerator<Page<Item>> {
    const envelope = envelopeOf(results);
    const seen = new Set<string>();
    let at: string | undefined = path();
    let size = 0;
    while (at !== undefined) {
      if (seen.has(at)) throw endless(place, 'lead in a circle');
      if (at.length > longestNext) throw endless(place, `are called by more than ${longestNext} characters`);
      seen.add(at);
      const page: z.output<typeof envelope> = await get(at, envelope, place, options);
      size = Math.max(size, page.results.length);
      // The list may grow by this much while it is read.
      const most = Math.min(mostPages, page.count / Math.max(1, size) + sparePages);
      if (seen.size > most) throw endless(place, `go on beyond its ${page.count} entries`);
      yield { count: page.count, results: page.results };
      at = page.next === null ? undefined : http.pathOf(page.next, { path: at, place: `GET ${place}` });
    }
  }
  return { get, pages };
}

function campaignsOf({
  get,
  pages,
}: Reader): Methods<'campaigns' | 'campaignPages' | 'campaign' | 'customFieldStatistics'> {
  const campaignPages: FeedbackClient['campaignPages'] = (query = {}, options) => {
    const path = () => {
      const types = (query.type ?? []).map((type): [string, string] => ['type', type]);
      const metrics = (query.metric ?? []).map((metric): [string, string] => ['metric', metric]);
      return `/appeals/campaigns${search([...types, ...metrics, ...statsParameters(query)])}`;
    };
    return pages(path, listOf(Campaign), '/appeals/campaigns', options);
  };
  return {
    campaigns: (query, options) => each(campaignPages(query, options)),
    campaignPages,
    campaign: async (id, range = {}, options) => {
      const path = `/appeals/campaigns/${integer(id, 'campaign')}${search(statsParameters(range))}`;
      return get(path, Campaign, `/appeals/campaigns/${id}`, options);
    },
    customFieldStatistics: async (query, options) => {
      const chosen: Parameters = [
        ['campaign', integer(query.campaign, 'campaign')],
        ['date_from', day(query.dateFrom, 'dateFrom')],
        ['date_to', day(query.dateTo, 'dateTo')],
        ['changed_since', day(query.changedSince, 'changedSince')],
      ];
      const path = `/appeals/custom-fields${search(chosen)}`;
      return get(path, listOf(CustomFieldStatistic), '/appeals/custom-fields', options);
    },
  };
}

function requestListsOf({ pages }: Reader, table: Operations): Methods<'requests' | 'requestPages' | 'exportPages'> {
  function rawPages(query: RequestQuery = {}, options?: CallOptions): AsyncGenerator<Page<unknown>> {
    const path = (): string => {
      checkQuery(query);
      return `/appeals/${search(listParameters(table, query))}`;
    };
    return pages(path, z.array(z.unknown()), '/appeals/', { ...options, sentValues: [query.contact?.value] });
  }

  async function* read<Instant>(
    raw: AsyncIterable<Page<unknown>>,
    { instantOf, isAhead }: { instantOf: InstantReader<Instant>; isAhead: boolean },
  ): AsyncGenerator<RequestPage<Instant>> {
    const recordOf = recordReader(table, table.list.record, instantOf);
    for await (const { count, results } of raw) {
      for (let from = 0; from === 0 || from < results.length; from += mostRecords) {
        // The call for the next page leaves in the next turn of the event loop, so that it is on its way while the caller works on this page.
        if (from > 0 || isAhead) await nextTurn();
        yield { count, ...readRecords(results, from, recordOf) };
      }
    }
  }

  const requestPages: FeedbackClient['requestPages'] = (query, options) =>
    read(rawPages(query, options), { instantOf: instantReader(), isAhead: false });
  const exportPages: FeedbackClient['exportPages'] = (query, options) =>
    read(readAhead(rawPages(query, options)), { instantOf: instantTextReader(), isAhead: true });

  /** Yields every record, for callers that need all records: throws at the first unreadable record. */
  async function* requests(query?: RequestQuery, options?: CallOptions): AsyncGenerator<FeedbackRequest> {
    for await (const { results, unreadable } of requestPages(query, options)) {
      yield* results;
      for (const error of unreadable) throw error;
    }
  }
  return { requests, requestPages, exportPages };
}

/** Reads the records of a page from this index on, as many as are passed on at once. */
function readRecords<Instant>(
  results: readonly unknown[],
  from: number,
  recordOf: ReturnType<typeof recordReader<Instant>>,
): Pick<RequestPage<Instant>, 'results' | 'unreadable'> {
  const read: FeedbackRequest<Instant>[] = [];
  const unreadable: FeedbackError[] = [];
  const to = Math.min(from + mostRecords, results.length);
  for (let index = from; index < to; index++) {
    const parsed = recordOf(results[index]);
    if (parsed.ok) read.push(parsed.request);
    else {
      const mismatches = parsed.mismatches.map((mismatch) => `results.${index}.${mismatch}`);
      unreadable.push(shapeFailure(200, { place: 'GET /appeals/', operation: 'get' }, mismatches));
    }
  }
  return { results: read, unreadable };
}

function requestOperationsOf(
  http: Http,
  table: Operations,
): Methods<'request' | 'create' | 'grade' | 'comment' | 'cancel'> {
  function callOf(
    operation: OperationName,
    form: CallForm,
    options: CallOptions | undefined,
    sentValues?: readonly unknown[],
  ): Call {
    const place = `${form.method} ${table[operation].path} (${operation})`;
    return { ...form, place, operation, sentValues, signal: options?.signal };
  }

  /** The body of a 2xx answer is not specified, but an HTML page comes from a proxy: the service did not get the call. */
  async function command(call: Call): Promise<void> {
    const answer = await http.send(call);
    const isPage = !answer.body.json && /html/i.test(answer.headers.get('content-type') ?? '');
    if (isPage) throw notJsonFailure(answer, call, outcomeOf(call));
  }

  const readCreated = recordReader(table, table.create.record, instantReader());
  const readFound = recordReader(table, table.get.record, instantReader());

  async function recordOf(call: Call, read: typeof readFound): Promise<FeedbackRequest> {
    const answer = await http.send(call);
    const parsed = read(jsonOf(answer, call));
    if (parsed.ok) return parsed.request;
    throw shapeFailure(answer.status, call, parsed.mismatches, outcomeOf(call));
  }

  return {
    request: async (id, options) => recordOf(callOf('get', commandForm(table.get, id), options), readFound),
    create: async (request, options) => {
      checkNew(request, options?.sendDeadline);
      const { contact, customFields } = request;
      const call = callOf('create', createForm(table, request), options, [
        contact.value,
        ...Object.values(customFields),
      ]);
      const customFieldsAt = table.create.body.customFields ?? undefined;
      const customFieldNames = Object.keys(customFields);
      const sendDeadline = options?.sendDeadline;
      return recordOf({ ...call, customFieldsAt, customFieldNames, sendDeadline }, readCreated);
    },
    grade: async (id, grade, options) => {
      checkGrade(grade);
      const form = commandForm(table.grade, id, [table.grade.body.grade, grade]);
      await command(callOf('grade', form, options));
    },
    comment: async (id, text, options) => {
      const form = commandForm(table.comment, id, [table.comment.body.comment, text]);
      await command(callOf('comment', form, options, [text]));
    },
    cancel: async (id, options) => command(callOf('cancel', commandForm(table.cancel, id), options)),
  };
}

function contactsOf({ pages }: Reader, http: Http): Methods<'contact' | 'mask' | 'accessLog' | 'accessLogPages'> {
  const callOf = (method: string, contact: Contact, what: string, options: CallOptions | undefined): Call => ({
    method,
    path: `/contacts/${contactPath(contact)}${what}`,
    place: `${method} /contacts/:contact${what}`,
    sentValues: [contact.value],
    signal: options?.signal,
  });
  const accessLogPages: FeedbackClient['accessLogPages'] = (contact, options) => {
    const path = () => `/contacts/${contactPath(contact)}/access-log`;
    const reading = { ...options, sentValues: [contact.value] };
    return pages(path, listOf(AccessLogEntry), '/contacts/:contact/access-log', reading);
  };
  return {
    contact: async (contact, options) => {
      const call = callOf('GET', contact, '', options);
      const answer = await http.find(call);
      return answer && parseAnswer(answer, ContactRecord, call);
    },
    mask: async (contact, options) => {
      const call = callOf('POST', contact, '/mask', options);
      return parseAnswer(await http.send(call), MaskResult, call);
    },
    accessLog: (contact, options) => each(accessLogPages(contact, options)),
    accessLogPages,
  };
}

function surveysOf({ get, pages }: Reader): Methods<'surveys' | 'surveyPages' | 'survey'> {
  const surveyPages: FeedbackClient['surveyPages'] = (options) =>
    pages(() => '/surveys/', listOf(SurveyEntry), '/surveys/', options);
  return {
    surveys: (options) => each(surveyPages(options)),
    surveyPages,
    survey: async (id, options) => get(`/surveys/${integer(id, 'survey')}`, Survey, `/surveys/${id}`, options),
  };
}

async function* each<Item>(pages: AsyncIterable<Page<Item>>): AsyncGenerator<Item> {
  for await (const page of pages) yield* page.results;
}

function statsParameters(range: StatsRange): Parameters {
  return [
    ['stats_from', day(range.statsFrom, 'statsFrom')],
    ['stats_to', day(range.statsTo, 'statsTo')],
  ];
}

function search(parameters: Parameters): string {
  const chosen = new URLSearchParams();
  for (const [name, value] of parameters) if (value !== undefined) chosen.append(name, value);
  return chosen.size === 0 ? '' : `?${chosen.toString()}`;
}

/** Records on a page by the specification. A longer page is passed on in parts, to keep the event loop free. */
const mostRecords = 1_000;
/** The most pages of one list: a hundred million records. */
const mostPages = 100_000;
const sparePages = 100;

function endless(place: Place['place'], what: string): FeedbackError {
  return new FeedbackError(
    `Feedback service: the pages of GET ${place} ${what}; the list is incomplete and was given up.`,
    { kind: 'permanent' },
  );
}
