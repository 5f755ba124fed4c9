import { ok } from '../kit/message.ts';
import { normalised } from './contact.ts';
import type { Account, FeedbackRequest } from './definitions.ts';
import { type Call, type Endpoint, endpoint, notFound, paged } from './endpoint.ts';
import { average, csatIndex, npsIndex, type Received } from './statistics.ts';

export const contactEndpoints: Endpoint[] = [
  endpoint('contacts.get', 'GET', '/contacts/:contact', (call) => {
    const { contact, requests } = known(call);
    return ok(showContact(call.account, contact, requests));
  }),
  {
    /**
     * After masking, the contact can no longer be looked up (404), and still a second masking answers an empty object:
     * both sentences hold because the service keeps a one-way digest of what it masked, which only masking looks at.
     * So 404 here means that there never was a request for this contact.
     */
    name: 'contacts.mask',
    method: 'POST',
    path: '/contacts/:contact/mask',
    run(call) {
      const given = call.params.contact ?? '';
      const requests = call.store.matching(call.account, given);
      if (requests.length === 0 && !call.store.wasMasked(call.account, given)) throw notFound();
      for (const request of requests) call.store.mask(request, call.now);
      const masked = requests.length === 0 ? {} : { appeals: requests.length };
      return ok({ contact: normalised(given), masked });
    },
  },
  endpoint('contacts.accessLog', 'GET', '/contacts/:contact/access-log', (call) => {
    const { contact } = known(call);
    const entries = (call.account.accessLog.get(contact) ?? []).toSorted((a, b) => b.at - a.at);
    const { zone } = call.account;
    const show = (entry: (typeof entries)[number]): object => ({
      user: entry.user,
      action: entry.action,
      date_accessed: zone.timestamp(entry.at),
    });
    return ok(paged(entries, call.url, show));
  }),
];

function known(call: Call): { contact: string; requests: FeedbackRequest[] } {
  const given = call.params.contact ?? '';
  const requests = call.store.matching(call.account, given);
  if (requests.length === 0) throw notFound();
  return { contact: normalised(given), requests };
}

function showContact(account: Account, contact: string, requests: readonly FeedbackRequest[]): object {
  const { zone } = account;
  const latest = (instants: (number | null | undefined)[]): string | null => {
    const known = instants.filter((at) => at !== null && at !== undefined);
    return known.length === 0 ? null : zone.timestamp(known.reduce((a, b) => Math.max(a, b)));
  };
  const graded = requests.flatMap(({ campaign, answer }) =>
    answer === null || answer.grade === null ? [] : [{ campaign, grade: answer.grade }],
  );
  const received = (metric: string): Received[] =>
    graded
      .filter(({ campaign }) => campaign.metric === metric)
      .map(({ campaign, grade }) => ({ grade, count: 1, gradeList: campaign.gradeList }));
  const black = account.blacklist.get(contact);
  const gray = account.graylist.get(contact);
  return {
    contact,
    // "Feedback requests sent to the contact": those that are scheduled for later are taken to count.
    num_appeals: requests.length,
    num_feedback: graded.length,
    avg_grade: [...Map.groupBy(graded, ({ campaign }) => campaign.scale)].map(([scale, grades]) => ({
      scale,
      avg: average(
        grades.reduce((sum, { grade }) => sum + grade, 0),
        grades.length,
      ),
    })),
    index_csat: csatIndex(received('csat')),
    index_nps: npsIndex(received('nps')),
    last_appeal: latest(requests.map(({ scheduledAt }) => scheduledAt)),
    last_grade: latest(requests.map(({ answer }) => answer?.gradeAt)),
    last_comment: latest(requests.map(({ answer }) => answer?.commentAt)),
    last_survey: latest(requests.map(({ answer }) => answer?.surveyAt)),
    blacklist: black === undefined ? null : { entry: black.entry, date_added: zone.timestamp(black.at) },
    graylist:
      gray === undefined
        ? null
        : {
            entry: gray.entry,
            campaigns: [...gray.campaigns].map(([{ id, name }, at]) => ({ id, name, date_added: zone.timestamp(at) })),
          },
  };
}
