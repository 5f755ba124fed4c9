import { defineConnector } from '../../core/connector/contract.ts';
import { checker } from './check.ts';
import { zendeskApi } from './client.ts';
import { eventReader } from './events.ts';
import { fieldCatalogue } from './fields.ts';
import { forgetter } from './forget.ts';
import { nameReader } from './names.ts';
import { poller } from './poll.ts';
import { reader } from './read.ts';
import { settings } from './settings.ts';
import { installer } from './setup.ts';
import { verify } from './signature.ts';
import { batchSize } from './ticket.ts';
import { writer } from './write-back.ts';

/**
 * Zendesk Support: solved tickets.
 *
 * A webhook subscribed to ticket events (at least `status_changed`), or connected to a trigger that sends
 * `{"ticket_id": "{{ticket.id}}"}`, tells of closings; sweeps over the export of changed tickets find what it missed. An
 * OAuth client of kind Confidential (scopes: `scopeOf` in settings.ts), owned by a service user, reads and writes.
 *
 * Where things are:
 * - `signature.ts` who sent it, `events.ts` what it says (`csat.ts`: a rating), `poll.ts` what nobody sent;
 * - `closing.ts` which closing counts;
 * - `read.ts` what the ticket is now: its shape in `record.ts`, names in `fields.ts` and `names.ts`;
 * - `write-back.ts` the answer: what to write in `answer.ts`, on which fields in `targets.ts`; written by `ticket-update.ts`
 *   (its note in `note.ts`), `user-fields.ts` and `custom-object.ts`, by `closed.ts` where the ticket is closed; `forget.ts` takes it off again;
 * - `check.ts` what is wrong before going live, by idea in `check-*.ts`; `setup.ts` what it creates (`setup-*.ts`); both look at
 *   what admins see, in `admin.ts` and `account-fields.ts`, and at which field has which tag, in `tags.ts`;
 * - `client.ts` every call, `ticket.ts`, `jobs.ts` and `keyed-fields.ts` what they answer, `credentials.ts`, `quota.ts` and
 *   `failure.ts` with what right, how soon, and what a refusal means; over `request/`, which stands in for the package of
 *   that name under `zendesk-node-api` as well.
 */
export const zendesk = defineConnector({
  name: 'zendesk',
  settings,
  account: ({ subdomain }) => subdomain,
  open: (settings, ports) => {
    const api = zendeskApi(settings, ports);
    const catalogue = fieldCatalogue(api, ports);
    return {
      batchSize,
      acceptedStatus: 202,
      verify: (delivery) => verify(delivery, settings.webhookSecrets, settings.toleranceSeconds),
      events: eventReader(settings),
      read: reader(api, catalogue, nameReader(api, settings.subdomain, ports)),
      check: checker(settings, api, ports),
      setup: installer(settings, api, ports),
      writeBack: writer(settings, api, catalogue, ports),
      forget: forgetter(settings, api, catalogue, ports),
      poll: poller(api, ports),
      writesNoAnswer: settings.writeBack.noAnswer,
      surveyQuestions: Object.keys(settings.writeBack.answers),
      bringsGrades: settings.csat !== undefined,
    };
  },
});
