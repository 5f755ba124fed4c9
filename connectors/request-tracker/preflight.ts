import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { placesOf } from '../../core/connector/answer.ts';
import { errorAt, hookUrlFindings, manualStep } from '../../core/connector/check.ts';
import type { DeskPreflight } from '../../core/connector/desk/preflight.ts';
import type { NeededField } from '../../core/connector/fields.ts';
import type { VendorApi } from '../../core/connector/vendor-api.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { Id, listed } from './changes.ts';
import { shapeNames } from './record.ts';
import type { RequestTrackerSettings } from './settings.ts';

const text = orElse(z.string(), '');
const Name = z.object({ id: Id, name: z.string() });
const Queue = z.object({ TicketCustomFields: orElse(listOf(Name), []) });
const Field = z.object({ ...{ Name: text, Type: text, MaxValues: text, Pattern: text }, Values: orElse(listOf(text), []) });

/** Custom fields are applied to queues, by hand: what `writeBack` names has to be in every queue that closeloop's user sees. */
export function preflightOf(settings: RequestTrackerSettings, api: VendorApi): DeskPreflight {
  const { writeBack, token, address, pollOnly } = settings;
  const isStandin = isLoopback(address);
  const names = [...placesOf(writeBack).values()].join('", "');
  const get = <S extends z.ZodType>(path: string, schema: S) => api.call({ method: 'GET', path }, schema);
  const queues = () => listed(api, '/queues/all?fields=id', z.object({ id: Id }));

  async function rights() {
    const remedy = 'Grant it SeeQueue and ShowTicket in the queues that ask';
    return (await queues()).length > 0 ? [] : [errorAt('token', "closeloop's user sees no queue", remedy)];
  }
  /** Elsewhere times would be stored hours off, and clearing them would fail without a word. */
  async function zone() {
    const { Timezone } = await get(`/user/${token.split('-')[1]}`, z.object({ Timezone: text }));
    if (writeBack.answeredAt === undefined || /^(Etc\/)?(UTC|GMT)$/.test(Timezone)) return [];
    const problem = `takes times in the zone of closeloop's user, which is ${Timezone || 'not set'}`;
    return [errorAt('writeBack.answeredAt', problem, "Set that user's zone to UTC (Admin > Users)")];
  }
  async function fieldsOf(needed: readonly NeededField[]) {
    const inQueues = await Promise.all((await queues()).map(({ id }) => get(`/queue/${id}`, Queue)));
    const all = inQueues.map(({ TicketCustomFields }) => TicketCustomFields);
    const everywhere = all.flat().filter(({ name }) => all.every((some) => some.some((field) => field.name === name)));
    const ids = [...new Set(everywhere.map(({ id }) => id))];
    const found = (await Promise.all(ids.map((id) => get(`/customfield/${id}`, Field)))).map((field) => {
      const values = needed.find(({ name }) => name === field.Name)?.values ?? [];
      const type = field.Type + (field.MaxValues === '1' ? 'Single' : 'Multiple');
      const taken = field.Type === 'Select' ? field.Values : values.filter((value) => patternOf(field).test(value));
      return { name: field.Name, type, required: false, values: taken };
    });
    // Queues may have fields of their own of one name: where these are alike, they count as one.
    return [...new Map(found.map((field) => [JSON.stringify(field), field])).values()];
  }
  return {
    credential: 'token',
    shape: { names: shapeNames, hint: 'custom fields are under ticket.fields' },
    probes: [
      { at: 'token', what: 'the queues', read: rights },
      { at: 'token', what: "closeloop's user", read: zone },
    ],
    fields: {
      of: 'tickets of each queue that closeloop sees',
      field: 'custom field',
      place: 'Admin > Custom Fields; closeloop needs SeeCustomField',
      list: fieldsOf,
      types(part, grades) {
        if (part === 'grade') return { types: ['FreeformSingle', 'SelectSingle'], values: grades.map(String) };
        if (part === 'answeredAt') return { types: ['DateTimeSingle', 'FreeformSingle'] };
        if (part === 'status') return { types: ['FreeformSingle', 'SelectSingle'], values: ['answered', 'no-answer'] };
        return { types: ['TextSingle', 'FreeformSingle'] };
      },
    },
    isStandin,
    own: ({ hookUrl }) => (pollOnly ? [] : hookUrlFindings('Request Tracker', hookUrl, isStandin)),
    steps: ({ hookUrl }) => [manualStep('by hand, where they are missing: custom fields and scrip', byHand(names, hookUrl))],
  };
}

/** Without Perl's comments, which hold what people are told. What only Perl understands takes everything here. */
function patternOf({ Pattern }: z.output<typeof Field>): RegExp {
  try {
    return new RegExp(Pattern.replace(/\(\?#[^)]*\)/g, ''), 'u');
  } catch {
    return /(?:)/;
  }
}

/** Address and key stand in the server's configuration, so that nobody who may read scrips sees them. */
const byHand = (fields: string, hookUrl = 'https://…') => String.raw`1. Admin > Custom Fields > Create, applies to Tickets: "${fields}". Types: grade "Enter one value", comment "Fill in one
text area", time "Select datetime". Then "Applies to" the queues; "User Rights": SeeCustomField and ModifyCustomField for closeloop.
2. Not with pollOnly: on the server, in etc/RT_SiteConfig.d/closeloop.pm, which only the web server may read; then restart that:
Set($CloseloopUrl, '${hookUrl}'); Set($CloseloopKey, 'the first of webhookSecrets'); 1;
3. Admin > Global > Scrips > Create (needs ExecuteCode): condition "On Status Change", action "User Defined", template "Blank", stage
"Batch", action preparation code "return 1;", action commit code:
use LWP::UserAgent; use Digest::SHA; use JSON;
my $url = RT->Config->Get('CloseloopUrl') or return 1;
my ($now, $c) = (time, $self->TransactionObj);
my $body = JSON->new->utf8->encode({ transaction => $c->id + 0, ticket => $c->ObjectId + 0,
  from => $c->OldValue, to => $c->NewValue, at => $c->CreatedObj->W3CDTF(Timezone => 'UTC') });
my $signature = Digest::SHA::hmac_sha256_hex("$now.$body", RT->Config->Get('CloseloopKey'));
my $answer = LWP::UserAgent->new(timeout => 5, max_redirect => 0)->post($url, Content => $body,
  'Content-Type' => 'application/json', 'X-RT-Timestamp' => $now, 'X-RT-Signature' => $signature);
RT->Logger->error('closeloop: ' . $answer->status_line) unless $answer->is_success;
1;`;
