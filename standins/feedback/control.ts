import { z } from 'zod';
import { ControlError, orderList } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import * as define from './definitions.ts';
import type { FeedbackService } from './service.ts';

interface ControlRoute {
  method: string;
  path: string;
  template: string;
  /** Of the body, or the query. */
  schema: z.ZodType;
  run(input: unknown): unknown;
}

/** Parses once, then calls: what an order returns is the answer, `{}` where it returns nothing. */
function route<Schema extends z.ZodType>(
  method: string,
  path: string,
  schema: Schema,
  run: (input: z.output<Schema>) => unknown,
): ControlRoute {
  return { method, path, template: `/_control/${path}`, schema, run: (input) => run(schema.parse(input)) };
}

const nothing = z.unknown();

interface Seeded {
  seed(): void;
}

/**
 * The control surface over HTTP, a mirror of the stand-in's methods: JSON in (a query for GET), JSON out. 400 for what is
 * malformed, 409 for what can't be done. `/_control/faults` belongs to the server. GET `/_control/` lists all of it.
 */
export function createControl(standin: FeedbackService & Seeded): (req: StandinRequest) => StandinResponse {
  const routes: ControlRoute[] = [
    route('POST', 'accounts', define.accountDefinition, (input) => standin.addAccount(input)),
    route('POST', 'keys', define.keyDefinition, (input) => standin.addKey(input)),
    route('PATCH', 'keys', define.keyChange, (input) => standin.changeKey(input)),
    route('DELETE', 'keys', define.keyName, (input) => standin.deleteKey(input)),
    route('POST', 'campaigns', define.campaignDefinition, (input) => standin.addCampaign(input)),
    route('PATCH', 'campaigns', define.campaignChange, (input) => standin.changeCampaign(input)),
    route('POST', 'surveys', define.surveyDefinition, (input) => standin.addSurvey(input)),
    route('POST', 'answers', define.customerAnswer, (input) => standin.answer(input)),
    route('POST', 'blacklist', define.blacklistEntry, (input) => standin.blacklist(input)),
    route('POST', 'graylist', define.graylistEntry, (input) => standin.graylist(input)),
    route('POST', 'access-log', define.accessEntry, (input) => standin.addAccess(input)),
    route('GET', 'requests', define.requestFilter, (input) => standin.requests(input)),
    route('POST', 'fill', define.fillOrder, (input) => standin.fill(input)),
    route('GET', 'clock', nothing, () => ({ now: standin.now() })),
    route('POST', 'clock', define.clockChange, (input) => ({ now: standin.moveClock(input) })),
    route('GET', 'calls', nothing, () => standin.calls()),
    route('DELETE', 'calls', nothing, () => standin.clearCalls()),
    route('POST', 'seed', nothing, () => standin.seed()),
    route('POST', 'reset', nothing, () => standin.reset()),
  ];

  return (req) => {
    const path = req.path.slice('/_control/'.length);
    if (req.method === 'GET' && path === '') return { status: 200, body: orderList(routes) };
    const here = routes.filter((one) => one.path === path);
    const found = here.find((one) => one.method === req.method);
    if (here.length === 0) return { status: 404, body: { detail: 'Not found.' } };
    if (found === undefined) return { status: 405, body: { detail: `Method "${req.method}" not allowed.` } };
    try {
      const input = req.method === 'GET' ? Object.fromEntries(req.query) : parseJson(req.raw);
      const headers = { 'content-type': 'application/json' };
      return { status: 200, headers, body: JSON.stringify(found.run(input) ?? {}) };
    } catch (error) {
      if (error instanceof z.ZodError) return { status: 400, body: { detail: z.prettifyError(error) } };
      if (error instanceof SyntaxError) return { status: 400, body: { detail: 'The body is not JSON.' } };
      if (error instanceof ControlError) return { status: 409, body: { detail: error.message } };
      throw error;
    }
  };
}

const parseJson = (raw: Buffer): unknown => (raw.length === 0 ? {} : JSON.parse(raw.toString('utf8')));
