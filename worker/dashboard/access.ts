import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { Csrf } from './csrf.ts';

/** What a person may do on the page: look, or act as well. */
export const dashboardRoles = ['read', 'act'] as const;
export type DashboardRole = (typeof dashboardRoles)[number];

/** Who sends a request. */
export interface Visitor {
  /** For people and the audit log. */
  name: string;
  role: DashboardRole;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may send this to the page. Left out: who may read where it is a GET, else who may act. */
    access?: DashboardRole;
  }
}

const Form = z.object({ csrf: z.string() });
const visitor = Symbol('visitor');

/** Before a route's own code: who sends this, whether they may, and whether a page of ours sent the form that acts. */
export function checkAccess(
  app: FastifyInstance,
  { identify, csrf }: { identify: (request: FastifyRequest) => Promise<Visitor>; csrf: Csrf },
): void {
  app.decorateRequest(visitor);
  app.addHook('onRequest', async (request) => {
    const sender = await identify(request);
    request.setDecorator(visitor, sender);
    if (accessTo(request) === 'act' && !mayAct(request)) throw new MayNotAct();
  });
  app.addHook('preHandler', async (request) => {
    if (request.is404 || isReading(request) || accessTo(request) === 'read') return;
    csrf.check(request, Form.safeParse(request.body).data?.csrf ?? '');
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

class MayNotAct extends CloseloopError {
  readonly statusCode = 403;

  constructor() {
    super('You may look at this page, but not act on it. Nothing was done.', { kind: 'permanent' });
  }
}

function accessTo(request: FastifyRequest): DashboardRole {
  return request.routeOptions.config.access ?? (isReading(request) ? 'read' : 'act');
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
