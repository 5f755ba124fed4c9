import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { answerWhy } from '../support/why.ts';
import { explainRecord } from '../support/why-record.ts';
import { seesContacts } from './guard.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { whyView } from './views/why.ts';

const text = z.string().trim().max(1_000).catch('');
const Search = z.object({ q: text });
/** The journey's reference in an address, which is no personal data. */
const Linked = z.object({ journey: text.refine((ref) => ref.includes('/')).catch('') });

/** `/why`: why a customer was asked or not, in the words of `closeloop why`. */
export function showWhy(app: FastifyInstance, { engine, redis }: Pick<DashboardOptions, 'engine' | 'redis'>): void {
  const bodyOf = async (about: string, request: FastifyRequest) => {
    const contacts = seesContacts(request);
    if (about === '') return whyView({ about, contacts });
    const { pipelines, absent } = engine();
    const sources = [...pipelines.values(), ...(await absent.all()).map(({ pipeline }) => pipeline)];
    return whyView({ about, contacts, answer: await answerWhy(sources, about, { redis, explainRecord }) });
  };
  const page = { title: 'Why', section: '/why' };

  app.get('/why', async (request, reply) => {
    return await show(reply, { ...page, body: await bodyOf(Linked.parse(request.query).journey, request) });
  });
  // The search is a POST and the response is the page, as browsers keep addresses of pages, and the searched text may be a customer's address.
  app.post('/why', { config: { access: 'read', isSearch: true } }, async (request, reply) => {
    return await show(reply, { ...page, body: await bodyOf(Search.parse(request.body ?? {}).q, request) });
  });
}
