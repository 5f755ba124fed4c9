import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { DashboardRole } from '../config/dashboard.ts';
import { loginAt } from './addresses.ts';

/** Who sends a request. */
export interface Visitor {
  /** For people and the audit log. */
  name: string;
  role: DashboardRole;
  /** What the forms of this login are bound to. Undefined: no login is needed. */
  session?: string;
}

/** `anybody`: whether logged in or not. `unasked`: who sends it is not even looked up. */
type Access = DashboardRole | 'anybody' | 'unasked';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may send this to the page. Left out: who may read where it is a GET, else who may act. */
    access?: Access;
    /** A search that is sent as a form, so that what it looks for stands in no address: it changes nothing, and its form has no token. */
    isSearch?: true;
  }
}

const Form = z.object({ csrf: z.string() });
const visitor = Symbol('visitor');

/** Before a route's own code: who sends this, whether they may, and whether a page of ours sent the form that acts. */
export function checkAccess(
  app: FastifyInstance,
  {
    identify,
    checkOrigin,
    checkForm,
  }: {
    /** Undefined: somebody who has to log in. */
    identify: (request: FastifyRequest) => Promise<Visitor | undefined>;
    /** Throws for what another site's page sent. */
    checkOrigin: (request: FastifyRequest) => void;
    /** Throws for a token that no page of ours holds. */
    checkForm: (request: FastifyRequest, token: string) => void;
  },
): void {
  app.decorateRequest(visitor);
  app.addHook('onRequest', async (request, reply) => {
    const access = accessTo(request);
    if (access === 'unasked') return;
    request.setDecorator(visitor, await identify(request));
    if (access === 'anybody') return;
    if (!visitorOf(request)) return await sendToLogin(request, reply);
    if (access === 'act' && !mayAct(request)) throw new MayNotAct();
  });
  app.addHook('preHandler', async (request) => {
    if (request.is404) return;
    checkOrigin(request);
    if (isReading(request) || request.routeOptions.config.isSearch) return;
    checkForm(request, Form.safeParse(request.body).data?.csrf ?? '');
  });
}

/** Who sent it; undefined: nobody knows yet. */
export function visitorOf(request: FastifyRequest): Visitor | undefined {
  return request.getDecorator<Visitor | undefined>(visitor);
}

/** Whether who sent it is shown buttons. */
export function mayAct(request: FastifyRequest): boolean {
  return visitorOf(request)?.role === 'act';
}

/** Who sent it, for the audit log. */
export function nameOf(request: FastifyRequest): string {
  return visitorOf(request)?.name ?? 'nobody';
}

class HasToLogIn extends CloseloopError {
  readonly statusCode = 401;

  constructor() {
    super('You are not logged in any more. Nothing was done: log in, and send the form again.', { kind: 'permanent' });
  }
}

async function sendToLogin(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (!isReading(request)) throw new HasToLogIn();
  return await reply.redirect(loginAt(request.url), 303);
}

class MayNotAct extends CloseloopError {
  readonly statusCode = 403;

  constructor() {
    super('You may look at this page, but not act on it. Nothing was done.', { kind: 'permanent' });
  }
}

function accessTo(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? (isReading(request) ? 'read' : 'act');
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
