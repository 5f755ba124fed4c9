import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Command, type Counts } from './fakes.ts';

// A help desk and the Feedback service in one process, as cheap as can be: no state but counts and what was asked, answers
// from templates. Strictness is the stand-ins' business (standins/); here every cycle is taken from what is measured.

const closedAt = new Date(Date.now() - 60_000).toISOString();
const json = { 'content-type': 'application/json' };

const counts: Counts = { vendor: 0, service: 0, creates: 0, firstCreateAt: 0, lastCreateAt: 0, pages: 0 };
/** When requests were created. */
const times: number[] = [];
/** Of the last request created. None comes twice: a request belongs to one journey for good. */
let lastId = 500_000;
/** How many the export has. */
let requests = 0;
let wanted: number | undefined;
/** Of this server. */
let origin = '';
/** Answers wait so long. Real time. */
let latencyMs = 0;

const ticketOf = (id: string): string =>
  `{"url":"http://127.0.0.1/api/v2/tickets/${id}.json","id":${id},"external_id":null,"via":{"channel":"email","source":{"from":{},"to":{},"rel":null}},"created_at":"${closedAt}","updated_at":"${closedAt}","generated_timestamp":1795367677,"type":null,"subject":"Printer","raw_subject":"Printer","description":"It does not print.","priority":null,"status":"solved","recipient":null,"requester_id":7${id},"submitter_id":7${id},"assignee_id":9001,"organization_id":null,"group_id":2001,"collaborator_ids":[],"follower_ids":[],"email_cc_ids":[],"forum_topic_id":null,"problem_id":null,"has_incidents":false,"is_public":true,"due_at":null,"tags":[],"custom_fields":[{"id":360001,"value":null},{"id":360002,"value":"Tallinn"}],"satisfaction_rating":{"score":"unoffered"},"sharing_agreement_ids":[],"custom_status_id":5005,"encoded_id":"${id}-ENC","fields":[{"id":360001,"value":null},{"id":360002,"value":"Tallinn"}],"followup_ids":[],"ticket_form_id":4001,"brand_id":3001,"allow_channelback":false,"allow_attachments":true,"from_messaging_channel":false}`;

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
  return `{"tickets":[${ids.map(ticketOf).join()}],"users":[${[agent, ...ids.map(customerOf)].join()}],${names},"metric_sets":[${ids.map(metricsOf).join()}],"next_page":null,"previous_page":null,"count":${ids.length}}`;
}

const campaign = (): string =>
  `{"id":12,"type":"mixed","metric":"csat","name":"After support","grade_list":[1,2,3,4,5],"send_from":"00:00:00","send_until":"00:00:00","send_delay":null,"custom_fields":[{"name":"Store","field_type":"Text","required":false,"choices":[]},{"name":"Agent","field_type":"Text","required":false,"choices":[]}],"stats":{"csat_index":0,"appeals_total":${counts.creates},"appeals_graded":0,"appeals_commented":0,"average_grade":0,"grade_counts":{"1":0,"2":0,"3":0,"4":0,"5":0}}}`;

const Created = (body: string): string => {
  const email = /"email":"([^"]+)"/.exec(body)?.[1] ?? 'nobody@example.com';
  const fields = /"custom_fields":(\{[^}]*\})/.exec(body)?.[1] ?? '{}';
  counts.creates++;
  counts.lastCreateAt = performance.timeOrigin + performance.now();
  counts.firstCreateAt ||= counts.lastCreateAt;
  times.push(counts.lastCreateAt);
  if (counts.creates === wanted) tell();
  return `{"id":${++lastId},"campaign":12,"phone":null,"email":"${email}","identifier":null,"scheduled":"${new Date().toISOString()}","status":"Sent","grade":null,"comment":null,"custom_fields":${fields}}`;
};

const exportPageSize = 1_000;
/** Every page shows the same requests: nothing here tells them apart. */
const exportedRows = Array.from(
  { length: exportPageSize },
  (_, i) =>
    `{"id":${600_000 + i},"campaign":12,"phone":null,"email":"customer-${i}@example.com","identifier":null,"scheduled":"${closedAt}","status":"Sent","grade":${(i % 5) + 1},"comment":"Quick and friendly, thank you.","custom_fields":{"Store":"Tallinn","Agent":"Ann Agent"}}`,
).join();

function exported(path: string): string {
  counts.pages++;
  const page = Number(/[?&]page=(\d+)/.exec(path)?.[1] ?? 1);
  const isLast = page * exportPageSize >= requests;
  const next = isLast ? 'null' : `"${origin}/api/appeals/?page=${page + 1}"`;
  return `{"count":${requests},"next":${next},"previous":null,"results":[${requests === 0 ? '' : exportedRows}]}`;
}

function vendor(method: string, path: string): string | undefined {
  counts.vendor++;
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

function service(method: string, path: string, body: string): [status: number, body: string] | undefined {
  counts.service++;
  if (method === 'POST' && path === '/api/appeals/') return [201, Created(body)];
  if (path.startsWith('/api/contacts/')) return [404, '{"detail":"Not found."}'];
  if (path.startsWith('/api/appeals/campaigns/12')) return [200, campaign()];
  if (/^\/api\/appeals\/(?:\?|$)/.test(path)) return [200, exported(path)];
  return undefined;
}

function handle(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { method = 'GET', url = '/' } = request;
  const isVendor = url.startsWith('/api/v2/') || url.startsWith('/oauth/');
  const page = isVendor ? vendor(method, url) : undefined;
  const [status, text] = (isVendor ? page !== undefined && [200, page] : service(method, url, body)) || [404, '{}'];
  const answer = () => response.writeHead(Number(status), json).end(text);
  if (latencyMs > 0) setTimeout(answer, latencyMs);
  else answer();
}

const server = createServer((request, response) => {
  if (request.method === 'GET') return handle(request, response, '');
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString('latin1');
  });
  request.on('end', () => handle(request, response, body));
});
server.keepAliveTimeout = 120_000;

function tell(): void {
  wanted = undefined;
  process.send?.({ is: 'counts', counts });
}

process.on('message', (message) => {
  const command = Command.parse(message);
  if (command.do === 'reset') {
    Object.assign(counts, { vendor: 0, service: 0, creates: 0, firstCreateAt: 0, lastCreateAt: 0, pages: 0 });
    times.length = 0;
    ({ latencyMs, requests } = command);
    tell();
  } else if (command.do === 'times') {
    process.send?.({ is: 'times', times });
  } else if (counts.creates >= command.creates) tell();
  else wanted = command.creates;
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address !== 'object') return;
  origin = `http://127.0.0.1:${address.port}`;
  process.send?.({ is: 'listening', port: address.port, closedAt });
});
