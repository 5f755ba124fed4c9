import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { placesOf } from '../../core/connector/answer.ts';
import { errorAt, manualStep } from '../../core/connector/check.ts';
import type { DeskPreflight } from '../../core/connector/desk/preflight.ts';
import type { NeededField } from '../../core/connector/fields.ts';
import type { VendorApi } from '../../core/connector/vendor-api.ts';
import { listOf, orElse, text } from '../../core/entries.ts';
import { Id, listed } from './changes.ts';
import { shapeNames } from './record.ts';
import type { RequestTrackerSettings } from './settings.ts';

/** An id of digits only, because it goes into paths, which errors name. */
const Ref = z.object({ id: Id.pipe(z.string().regex(/^\d+$/)) });
const Queue = z.object({ TicketCustomFields: orElse(listOf(Ref.extend({ name: z.string() })), []) });
const Field = z.object({
  ...{ Name: text, Type: text, MaxValues: text, Pattern: text },
  Values: orElse(listOf(text), []),
});

/** People apply custom fields to queues by hand: every queue that closeloop's user sees needs the fields that `writeBack` names. */
export function preflightOf(settings: RequestTrackerSettings, api: VendorApi): DeskPreflight {
  const { writeBack, token, address } = settings;
  const names = [...placesOf(writeBack).values()].join('", "');
  async function rights() {
    const remedy = 'Grant it SeeQueue and ShowTicket in the queues that ask';
    return (await listed(api, '/queues/all?fields=id', Ref)).length > 0
      ? []
      : [errorAt('token', "closeloop's user sees no queue", remedy)];
  }
  /** Checks that the user's zone is UTC: in another zone Request Tracker would store times hours off, and clearing times would silently fail. */
  async function zone() {
    const { Timezone } = await api.get(`/user/${token.split('-')[1]}`, z.object({ Timezone: text }));
    if (writeBack.answeredAt === undefined || /^(Etc\/)?(UTC|GMT)$/.test(Timezone)) return [];
    const problem = `takes times in the zone of closeloop's user, which is ${Timezone || 'not set'}`;
    return [errorAt('writeBack.answeredAt', problem, "Set that user's zone to UTC (Admin > Users)")];
  }
  return {
    credential: 'token',
    shape: { names: shapeNames, hint: 'custom fields are under ticket.fields' },
    probes: [
      { what: 'the queues', read: rights },
      { what: "closeloop's user", read: zone },
    ],
    fields: {
      of: 'tickets',
      field: 'custom field',
      place: 'Admin > Custom Fields; closeloop needs SeeCustomField',
      list: (needed) => fieldsOf(api, needed),
      types(part, grades) {
        if (part === 'grade') return { types: ['FreeformSingle', 'SelectSingle'], values: grades.map(String) };
        if (part === 'answeredAt') return { types: ['DateTimeSingle', 'FreeformSingle'] };
        if (part === 'status') return { types: ['FreeformSingle', 'SelectSingle'], values: ['answered', 'no-answer'] };
        return { types: ['TextSingle', 'FreeformSingle'] };
      },
    },
    isStandin: isLoopback(address),
    steps: ({ hookUrl }) => [
      manualStep('by hand, where they are missing: custom fields and scrip', byHand(names, hookUrl)),
    ],
  };
}

/** The fields that every queue of closeloop's user has: in a queue without the field Request Tracker would silently ignore a write. */
async function fieldsOf(api: VendorApi, needed: readonly NeededField[]) {
  const queues = await listed(api, '/queues/all?fields=id', Ref);
  const all = await Promise.all(queues.map(({ id }) => api.get(`/queue/${id}`, Queue)));
  const isEverywhere = (name: string) =>
    all.every((one) => one.TicketCustomFields.some((field) => field.name === name));
  const there = all.flatMap(({ TicketCustomFields }) => TicketCustomFields).filter(({ name }) => isEverywhere(name));
  const wanted = there.filter(({ name }) => needed.some((one) => one.name === name));
  const ids = [...new Set(wanted.map(({ id }) => id))];
  const found = (await Promise.all(ids.map((id) => api.get(`/customfield/${id}`, Field)))).map((field) => {
    const values = needed.find(({ name }) => name === field.Name)?.values ?? [];
    const taken = field.Type === 'Select' ? field.Values : values.filter((value) => patternOf(field).test(value));
    const type = field.Type + (field.MaxValues === '1' ? 'Single' : 'Multiple');
    return { name: field.Name, type, required: false, values: taken };
  });
  // Queues may have different fields with the same name: fields with equal definitions count as one.
  return [...new Map(found.map((field) => [JSON.stringify(field), field])).values()];
}

/** The pattern without Perl's comments, which hold the text for people. A pattern that only Perl understands accepts everything here. */
function patternOf({ Pattern }: z.output<typeof Field>): RegExp {
  try {
    return new RegExp(Pattern.replace(/\(\?#[^)]*\)/g, ''), 'u');
  } catch {
    return /(?:)/;
  }
}

/** The scrip's code. The address and the key are in the server's configuration, so that people who may read scrips don't see them. */
export const scrip = `use LWP::UserAgent; use Digest::SHA; use JSON;
my $url = RT->Config->Get('CloseloopUrl') or return 1;
my ($now, $c) = (time, $self->TransactionObj);
my $body = JSON->new->utf8->encode({ transaction => $c->id + 0, ticket => $c->ObjectId + 0,
  from => $c->OldValue, to => $c->NewValue, at => $c->CreatedObj->W3CDTF(Timezone => 'UTC') });
my $signature = Digest::SHA::hmac_sha256_hex("$now.$body", RT->Config->Get('CloseloopKey'));
my $answer = LWP::UserAgent->new(timeout => 5, max_redirect => 0)->post($url, Content => $body,
  'Content-Type' => 'application/json', 'X-RT-Timestamp' => $now, 'X-RT-Signature' => $signature);
RT->Logger->error('closeloop: ' . $answer->status_line) unless $answer->is_success;
1;`;

const byHand = (
  names: string,
  url = 'https://…',
) => `1. Admin > Custom Fields > Create, applies to Tickets: "${names}". Types: grade
"Enter one value", comment "Fill in one text area", time "Select datetime". Then "Applies to" the queues; rights for closeloop: SeeCustomField, ModifyCustomField.
2. Not with pollOnly: on the server, in etc/RT_SiteConfig.d/closeloop.pm, which only the web server may read; then restart that:
Set($CloseloopUrl, '${url}'); Set($CloseloopKey, 'the first of webhookSecrets'); 1;
3. Admin > Global > Scrips > Create (needs ExecuteCode): condition "On Status Change", action "User Defined", template "Blank", stage
"Batch", action preparation code "return 1;", action commit code:
${scrip}`;
