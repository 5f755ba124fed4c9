import { z } from 'zod';
import { Command, type Counts } from './fakes.ts';
import { createHttpServer, type Request, type Response } from './http-server.ts';

// A help desk and the Feedback service in one process, as cheap as can be: no state but counts and what was asked, answers
// from templates. Strictness is the stand-ins' business (standins/); here every cycle is taken from what is measured.

const closedAt = new Date(Date.now() - 60_000).toISOString();

const none: Counts = {
  vendor: 0,
  service: 0,
  creates: 0,
  firstCreateAt: 0,
  lastCreateAt: 0,
  pages: 0,
  firstPageAt: 0,
  writes: 0,
  lastWriteAt: 0,
};
const counts: Counts = { ...none };
/** When requests were created. */
const times: number[] = [];
/** Of the last request created. None comes twice: a request belongs to one journey for good. */
let lastId = 50_000_000;
/** How many the export has beside those created here. */
let requests = 0;
/** Of those created since the last reset: their records, up to the grade; and how many of them are graded. */
const created: { id: number; record: string }[] = [];
let graded = 0;
const gradeGiven = 4;
/** What was written on tickets. */
const writtenOn = new Map<string, { grade: string; tags: string }>();
let wanted: { of: 'creates' | 'writes'; count: number } | undefined;
/** Of this server. */
let origin = '';
/** Answers wait so long. Real time. */
let latencyMs = 0;

const ticketOf = (id: string, { grade, tags } = writtenOn.get(id) ?? { grade: 'null', tags: '' }): string =>
  `{"url":"http://127.0.0.1/api/v2/tickets/${id}.json","id":${id},"external_id":null,"via":{"channel":"email","source":{"from":{},"to":{},"rel":null}},"created_at":"${closedAt}","updated_at":"${closedAt}","generated_timestamp":1795367677,"type":null,"subject":"Printer","raw_subject":"Printer","description":"It does not print.","priority":null,"status":"solved","recipient":null,"requester_id":7${id},"submitter_id":7${id},"assignee_id":9001,"organization_id":null,"group_id":2001,"collaborator_ids":[],"follower_ids":[],"email_cc_ids":[],"forum_topic_id":null,"problem_id":null,"has_incidents":false,"is_public":true,"due_at":null,"tags":[${tags}],"custom_fields":[{"id":360001,"value":${grade}},{"id":360002,"value":"Tallinn"}],"satisfaction_rating":{"score":"unoffered"},"sharing_agreement_ids":[],"custom_status_id":5005,"encoded_id":"${id}-ENC","fields":[{"id":360001,"value":${grade}},{"id":360002,"value":"Tallinn"}],"followup_ids":[],"ticket_form_id":4001,"brand_id":3001,"allow_channelback":false,"allow_attachments":true,"from_messaging_channel":false}`;

const userOf = (id: string, name: string, email: string, role: string): string =>
  `{"id":${id},"url":"http://127.0.0.1/api/v2/users/${id}.json","name":"${name}","email":${email},"created_at":"${closedAt}","updated_at":"${closedAt}","time_zone":"Tallinn","iana_time_zone":"Europe/Tallinn","phone":null,"shared_phone_number":null,"photo":null,"locale_id":1,"locale":"en-US","organization_id":null,"role":"${role}","verified":true,"external_id":null,"tags":[],"alias":"","active":true,"shared":false,"shared_agent":false,"last_login_at":null,"signature":null,"details":"","notes":"","role_type":null,"custom_role_id":null,"moderator":false,"ticket_restriction":"requested","only_private_comments":false,"restricted_agent":true,"suspended":false,"default_group_id":null,"report_csv":false,"user_fields":{}}`;

const customerOf = (ticket: string): string =>
  userOf(`7${ticket}`, `Customer ${ticket}`, `"customer-${ticket}@example.com"`, 'end-user');

const metricsOf = (id: string): string =>
  `{"url":"http://127.0.0.1/api/v2/ticket_metrics/8${id}.json","id":8${id},"ticket_id":${id},"created_at":"${closedAt}","updated_at":"${closedAt}","group_stations":1,"assignee_stations":1,"reopens":0,"replies":0,"assignee_updated_at":null,"requester_updated_at":"${closedAt}","status_updated_at":"${closedAt}","custom_status_updated_at":"${closedAt}","initially_assigned_at":"${closedAt}","assigned_at":"${closedAt}","solved_at":"${closedAt}","latest_comment_added_at":"${closedAt}","reply_time_in_minutes":{"calendar":null,"business":null},"first_resolution_time_in_minutes":{"calendar":null,"business":null},"full_resolution_time_in_minutes":{"calendar":null,"business":null},"agent_wait_time_in_minutes":{"calendar":null,"business":null},"requester_wait_time_in_minutes":{"calendar":null,"business":null},"on_hold_time_in_minutes":{"calendar":0,"business":0}}`;

const agent = userOf('9001', 'Ann Agent', 'null', 'agent');
const names = `"groups":[{"id":2001,"is_public":true,"name":"Phone","description":"","default":false,"deleted":false}],"organizations":[],"brands":[{"id":3001,"name":"Acme","subdomain":"acme","active":true,"default":true}],"ticket_forms":[{"id":4001,"name":"Default form","raw_name":"Default form","display_name":"Default form","active":true,"default":true}],"custom_statuses":[{"id":5005,"status_category":"solved","agent_label":"Solved","raw_agent_label":"Solved","end_user_label":"Solved","active":true,"default":true}]`;

const fieldOf = (id: number, type: string, title: string): string =>
  `{"id":${id},"type":"${type}","title":"${title}","raw_title":"${title}","active":true,"required":false,"removable":true}`;
const ticketFields = `{"ticket_fields":[${fieldOf(360_001, 'integer', 'Grade')},${fieldOf(360_002, 'text', 'Store')}],"next_page":null,"count":2}`;

function ticketsPage(ids: readonly string[]): string {
  return `{"tickets":[${ids.map((id) => ticketOf(id)).join()}],"users":[${[agent, ...ids.map(customerOf)].join()}],${names},"metric_sets":[${ids.map(metricsOf).join()}],"next_page":null,"previous_page":null,"count":${ids.length}}`;
}

/** All before were graded, from 1 to 5 in turn, and commented on. */
function stats(): string {
  const fifth = requests / 5;
  const perGrade = [1, 2, 3, 4, 5].map((grade) => `"${grade}":${fifth + (grade === gradeGiven ? graded : 0)}`);
  const average = (requests * 3 + graded * gradeGiven) / Math.max(1, requests + graded);
  return `{"csat_index":0,"appeals_total":${requests + created.length},"appeals_graded":${requests + graded},"appeals_commented":${requests},"average_grade":${average},"grade_counts":{${perGrade.join()}}}`;
}

const campaign = (): string =>
  `{"id":12,"type":"mixed","metric":"csat","name":"After support","grade_list":[1,2,3,4,5],"send_from":"00:00:00","send_until":"00:00:00","send_delay":null,"custom_fields":[{"name":"Store","field_type":"Text","required":false,"choices":[]},{"name":"Agent","field_type":"Text","required":false,"choices":[]}],"stats":${stats()}}`;

const Created = (body: string): string => {
  const email = /"email":"([^"]+)"/.exec(body)?.[1] ?? 'nobody@example.com';
  const fields = /"custom_fields":(\{[^}]*\})/.exec(body)?.[1] ?? '{}';
  counts.creates++;
  counts.lastCreateAt = performance.timeOrigin + performance.now();
  counts.firstCreateAt ||= counts.lastCreateAt;
  times.push(counts.lastCreateAt);
  const id = ++lastId;
  const record = `{"id":${id},"campaign":12,"phone":null,"email":"${email}","identifier":null,"scheduled":"${new Date().toISOString()}","status":"Sent","comment":null,"custom_fields":${fields}`;
  created.push({ id, record });
  tellIfDone();
  return `${record},"grade":null}`;
};

/** A request created here as it is now. */
const own = (index: number): string => `${created[index]?.record},"grade":${index < graded ? gradeGiven : null}}`;

const exportPageSize = 1_000;
/** A request a minute, in the form of the service: microseconds and an offset. */
const sentAt = Array.from({ length: exportPageSize }, (_, n) => {
  const local = new Date(Date.UTC(2026, 9, 1, 8) + n * 61_003);
  return `${local.toISOString().slice(0, -1)}${String(n).padStart(3, '0')}+03:00`;
});
const earlier = (index: number): string =>
  `{"id":${1_000_000 + index},"campaign":12,"phone":null,"email":"customer-${index}@example.com","identifier":null,"scheduled":"${sentAt[index % exportPageSize]}","status":"Sent","grade":${(index % 5) + 1},"comment":"Quick and friendly, thank you.","custom_fields":{"Store":"Tallinn","Agent":"Ann Agent"}}`;

/** Oldest first: those before, then those created here. */
function exported(path: string): string {
  counts.pages++;
  counts.firstPageAt ||= performance.timeOrigin + performance.now();
  const page = Number(/[?&]page=(\d+)/.exec(path)?.[1] ?? 1);
  const [from, count] = [(page - 1) * exportPageSize, requests + created.length];
  const to = Math.min(count, from + exportPageSize);
  const next = to === count ? 'null' : `"${origin}/api/appeals/?campaign=12&page=${page + 1}"`;
  let rows = '';
  for (let i = from; i < to; i++) rows += `${i > from ? ',' : ''}${i < requests ? earlier(i) : own(i - requests)}`;
  return `{"count":${count},"next":${next},"previous":null,"results":[${rows}]}`;
}

const Updates = z.object({
  tickets: z.array(
    z.object({
      id: z.number(),
      custom_fields: z.array(z.object({ id: z.number(), value: z.unknown() })).default([]),
      additional_tags: z.array(z.string()).default([]),
    }),
  ),
});

/** Done at once, which Zendesk says with the job's first status. */
function updateMany(body: string): string {
  const { tickets } = Updates.parse(JSON.parse(body));
  for (const { id, custom_fields: fields, additional_tags: tags } of tickets) {
    const grade = fields.find((field) => field.id === 360_001)?.value ?? null;
    writtenOn.set(String(id), { grade: JSON.stringify(grade), tags: JSON.stringify(tags).slice(1, -1) });
  }
  counts.writes += tickets.length;
  counts.lastWriteAt = performance.timeOrigin + performance.now();
  tellIfDone();
  const results = tickets.map(({ id }) => `{"index":0,"id":${id},"action":"update","status":"Updated","success":true}`);
  return `{"job_status":{"id":"job-${counts.vendor}","url":"http://127.0.0.1","total":${tickets.length},"progress":${tickets.length},"status":"completed","message":"","results":[${results.join()}]}}`;
}

function vendor({ method, path, body }: Request): string | undefined {
  if (method === 'PUT' && path === '/api/v2/tickets/update_many.json') return updateMany(body);
  const many = /^\/api\/v2\/tickets\/show_many\.json\?ids=([\d,]+)/.exec(path)?.[1];
  if (many !== undefined) return ticketsPage(many.split(','));
  const ticket = /^\/api\/v2\/tickets\/(\d+)\.json/.exec(path)?.[1];
  if (ticket !== undefined) return `{"ticket":${ticketOf(ticket)}}`;
  const customer = /^\/api\/v2\/users\/7(\d+)\.json/.exec(path)?.[1];
  if (customer !== undefined) return `{"user":${customerOf(customer)}}`;
  if (path.startsWith('/api/v2/ticket_fields.json')) return ticketFields;
  if (method === 'POST' && path === '/oauth/tokens')
    return '{"access_token":"a-token","token_type":"bearer","scope":"read tickets:write","expires_in":7200}';
  return undefined;
}

function service({ method, path, body }: Request): Response {
  if (method === 'POST' && path === '/api/appeals/') return { status: 201, body: Created(body) };
  if (path.startsWith('/api/contacts/')) return { status: 404, body: '{"detail":"Not found."}' };
  if (path.startsWith('/api/appeals/campaigns/12')) return { status: 200, body: campaign() };
  if (path === '/api/appeals/' || path.startsWith('/api/appeals/?')) return { status: 200, body: exported(path) };
  const index = created.findIndex(({ id }) => path === `/api/appeals/${id}`);
  return index >= 0 ? { status: 200, body: own(index) } : { status: 404, body: '{}' };
}

function answer(request: Request): Response {
  const { path } = request;
  if (!path.startsWith('/api/v2/') && !path.startsWith('/oauth/')) {
    counts.service++;
    return service(request);
  }
  counts.vendor++;
  const page = vendor(request);
  return page === undefined ? { status: 404, body: '{}' } : { status: 200, body: page };
}

const server = createHttpServer(answer, () => latencyMs);

function tell(): void {
  process.send?.({ is: 'counts', counts });
}

function tellIfDone(): void {
  if (wanted === undefined || counts[wanted.of] < wanted.count) return;
  wanted = undefined;
  tell();
}

function reset({ latencyMs: latency, requests: earlierOnes }: Extract<Command, { do: 'reset' }>): void {
  Object.assign(counts, none);
  times.length = 0;
  created.length = 0;
  [graded, latencyMs, requests] = [0, latency, earlierOnes];
  tell();
}

process.on('message', (message) => {
  const command = Command.parse(message);
  switch (command.do) {
    case 'reset':
      return reset(command);
    case 'times':
      return void process.send?.({ is: 'times', times });
    case 'wait':
      wanted = command;
      return tellIfDone();
    case 'grade':
      [graded, counts.firstPageAt] = [command.count, 0];
      return tell();
  }
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address !== 'object') return;
  origin = `http://127.0.0.1:${address.port}`;
  process.send?.({ is: 'listening', port: address.port, closedAt });
});
