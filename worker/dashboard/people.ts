import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Contact } from '../../core/contact.ts';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import { contactsNamed } from '../support/named-contacts.ts';
import {
  beginMasking,
  isNothing,
  type PersonHere,
  type PersonThere,
  personHere,
  personThere,
  takingErasures,
} from '../support/people.ts';
import { erasureAt } from './addresses.ts';
import { Audit } from './audit.ts';
import { formToken, mayAct, nameOf, seesContacts } from './guard.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { serviceThere } from './service.ts';
import { erasureView, type ListedErasure, maskView, peopleView, personView } from './views/people.ts';

const Search = z.object({ q: z.string().trim().min(1).max(1_000) });
const Mask = z.object({ contact: z.string().catch(''), sure: z.literal('yes').optional().catch(undefined) });
const Named = z.object({ source: z.string(), id: z.string() });

/** The most erasures that the page lists. */
const mostErasures = 50;

/**
 * `/people`: what closeloop knows of a person, and the person's erasure. The searched text is in the body of a form, and the response is the
 * page: browsers and proxies keep addresses of pages.
 */
export function showPeople(app: FastifyInstance, options: DashboardOptions): void {
  const audit = new Audit(options.redis);
  const page = { title: 'People', section: '/people' };

  app.get('/people', async (_request, reply) => {
    const { timeZone } = options.config().feedback;
    return await show(reply, { ...page, body: peopleView({ erasures: await erasuresOf(options), timeZone }) });
  });

  app.post('/people', { config: { access: 'read', isSearch: true } }, async (request, reply) => {
    const { q } = Search.safeParse(request.body).data ?? {};
    if (q === undefined) return await reply.redirect('/people', 303);
    return await show(reply, { ...page, body: await personOf(q, request, reply) });
  });

  app.post('/people/confirm', async (request, reply) => {
    const { contact } = Mask.parse(request.body);
    const body = maskView({ contact: contactOf(contact, options).value, csrf: formToken(reply) });
    return await show(reply, { title: 'Mask this person?', section: '/people', body });
  });

  app.post('/people/mask', async (request, reply) => {
    const { contact, sure } = Mask.parse(request.body);
    if (sure === undefined)
      throw new CloseloopError('Nothing was done: the form asks you to confirm it with a tick.', { kind: 'config' });
    const { value } = contactOf(contact, options);
    const context = takingErasures(options.engine().pipelines.values());
    const who = nameOf(request);
    await audit.note({ at: options.now(), who, what: 'mask a person', about: context.name });
    const id = await beginMasking(value, 'asked for on the page', context);
    await context.queueErasure(id, 0);
    await audit.note({ at: options.now(), who, what: `began erasure ${id}`, about: context.name });
    return await reply.redirect(erasureAt(context.name, id), 303);
  });

  app.get('/people/erasures/:source/:id', async (request, reply) => {
    const { source, id } = Named.parse(request.params);
    const context = (await options.engine().sources()).find(
      ({ name, storedAs }) => name === source || storedAs === source,
    );
    if (context === undefined) return reply.callNotFound();
    // The open erasure is read before the proof: an erasure that ends between the two reads has its proof then.
    const open = await context.erasures.get(id);
    const proof = open ? undefined : await context.erasures.proof(id);
    if (!open && !proof) return reply.callNotFound();
    const body = erasureView({ open, proof, timeZone: context.timeZone });
    return await show(reply, { title: `Erasure ${id}`, section: '/people', body });
  });

  async function personOf(text: string, request: FastifyRequest, reply: FastifyReply) {
    const { feedback, retention } = options.config();
    return personView({
      contacts: seesContacts(request),
      ...(await whoIsNamed(text, options)),
      keptDays: Math.round(retention.journeys / 86_400_000),
      csrf: mayAct(request) ? formToken(reply) : undefined,
      timeZone: feedback.timeZone,
    });
  }
}

type AskedOptions = Pick<DashboardOptions, 'config' | 'engine' | 'now'>;

interface NamedPerson {
  contact: Contact;
  there: AtService;
  here: PersonHere;
}

/** The person whom closeloop knows by one of the text's readings; else the person of the usual reading. */
async function whoIsNamed(text: string, options: AskedOptions): Promise<NamedPerson> {
  const { defaultCountry } = options.config();
  const [usual, ...others] = contactsNamed(text, { defaultCountry });
  const first = await personBehind(usual, options);
  for (const other of isUnknown(first) ? others : []) {
    const found = await personBehind(other, options);
    if (!isUnknown(found)) return found;
  }
  return first;
}

async function personBehind(contact: Contact, options: AskedOptions): Promise<NamedPerson> {
  const there = await atService(contact, options);
  const sources = await options.engine().sources();
  const here = await personHere(contact, sources, { known: there.person?.record, now: options.now() });
  return { contact, there, here };
}

const isUnknown = ({ there, here }: NamedPerson): boolean => there.person?.record === undefined && isNothing(here);

/** @throws CloseloopError permanent for a text that can't be a contact */
function contactOf(text: string, { config }: Pick<DashboardOptions, 'config'>): Contact {
  return contactsNamed(text, { defaultCountry: config().defaultCountry })[0];
}

interface AtService {
  person?: PersonThere;
  problem?: string;
}

/** The person's data at the service, or why the service can't be asked. */
async function atService(contact: Contact, options: Pick<DashboardOptions, 'engine'>): Promise<AtService> {
  const { first, problem } = await serviceThere(options);
  if (first === undefined) return { problem };
  try {
    return { person: await personThere(first.feedback, contact) };
  } catch (error) {
    if (!(error instanceof CloseloopError)) throw error;
    return { problem: messageOf(error) };
  }
}

/** The open erasures, then the proofs of completed erasures, newest first. */
async function erasuresOf({ engine }: Pick<DashboardOptions, 'engine'>): Promise<ListedErasure[]> {
  const lists = await Promise.all(
    (await engine().sources()).map(async ({ name: source, erasures }) => {
      const [open, proofs] = await Promise.all([erasures.open(), erasures.all()]);
      return [
        ...open.map(({ id, what, receivedAt: at }) => ({ source, id, what, at, isDone: false })),
        ...proofs.map(({ id, what, at }) => ({ source, id, what, at, isDone: true })),
      ];
    }),
  );
  return lists
    .flat()
    .sort((a, b) => Number(a.isDone) - Number(b.isDone) || b.at.getTime() - a.at.getTime())
    .slice(0, mostErasures);
}
