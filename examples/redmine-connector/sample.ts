import { type ConnectorSample, customer } from 'closeloop/testing';
import redmine from './connector.ts';
import {
  afterItsSecond,
  call,
  closeAtOnce,
  fieldId,
  historyOn,
  journalsOn,
  keys,
  makeReadOnly,
  open,
  prepare,
  run,
  setStatus,
  startProxy,
  valueOn,
} from './redmine.ts';

/** @param kind `agent`: closeloop's own user, time in a text field; `admin`: an administrator's key, whole grades and a date field */
function sampleOf(kind: 'agent' | 'admin'): ConnectorSample {
  const grade = kind === 'agent' ? 'Feedback score' : 'Feedback grade';
  const answeredAt = kind === 'agent' ? 'Feedback at' : 'Feedback day';
  const places = { grade, comment: 'Feedback comment', answeredAt, status: 'Feedback status' };
  return {
    connector: redmine,
    polled: true,
    missingId: '99999999',
    // A read before and one after, the user of the key, and for each record a PUT, a note, and the look whether it is private.
    callsFor100: { read: 1, writeBack: 303 },
    does: ['poll', 'no-answer', 'forget', 'check'],
    pollPage: 100,
    keeps: ['history'],
    planted: ['a wrong key', 'a missing field', 'no private notes', 'no project'].slice(0, kind === 'agent' ? 4 : 2),
    lacks: kind === 'agent' ? {} : { newer: 'a field of the format Date knows the day alone' },
    async start() {
      await prepare();
      const proxy = await startProxy();
      let apiKey = keys[kind];
      let comment = places.comment;
      return {
        settings: () => ({
          address: proxy.url,
          apiKey,
          customerField: 'Customer e-mail',
          writeBack: { ...places, comment, note: true, noAnswer: true, ...(kind === 'admin' && { dateOnly: true }) },
        }),
        // Redmine tells whole seconds: what happened before this instant has an earlier one.
        now() {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_005 - (Date.now() % 1_000));
          return new Date(Math.floor(Date.now() / 1000) * 1000);
        },
        async closeRecord() {
          const recordId = await open(customer.comment, customer.email);
          await setStatus(recordId, 5);
          return { recordId };
        },
        reopen: async (id) => void (await setStatus(id, 2)),
        async closeAgain(id) {
          await afterItsSecond(id);
          await setStatus(id, 5);
          return undefined;
        },
        closeAtOnce: (count) => closeAtOnce(count, customer.comment, customer.email),
        correctEmail: async (id, email) =>
          void (await call('PUT', `/issues/${id}.json`, {
            issue: { custom_fields: [{ id: fieldId('Customer e-mail'), value: email }] },
          })),
        gradeOn(id) {
          const value = valueOn(id, grade);
          return value === null ? null : Number(value);
        },
        commentOn: (id) => valueOn(id, places.comment),
        notesOn: (id) =>
          journalsOn(id).map((note) => ({
            text: String(note.notes),
            isHtml: false,
            isPublic: note.private_notes !== 1,
          })),
        swallow: async () => makeReadOnly(grade),
        dropdown: async (grades) =>
          run(
            "update custom_fields set field_format = 'list', possible_values = ? where name = ?",
            `---\n${grades.map((one) => `- '${one}'\n`).join('')}`,
            grade,
          ),
        lock: async (id) =>
          run("update issues set project_id = (select id from projects where identifier = 'over') where id = ?", id),
        traces: (id) => ({
          values: Object.values(places).map((name) => valueOn(id, name)),
          notes: journalsOn(id),
          history: historyOn(id),
        }),
        breakVendor(how, words) {
          const body = JSON.stringify({ errors: [words] });
          proxy.broken = (response) => {
            if (how === '429')
              response.writeHead(429, { 'retry-after': '7', 'content-type': 'application/json' }).end(body);
            else if (how === 'html')
              response.writeHead(200, { 'content-type': 'text/html' }).end(`<html>${words}</html>`);
            else if (how !== 'silent')
              response.writeHead(Number(how), { 'content-type': 'application/json' }).end(body);
          };
        },
        calls: () => proxy.calls,
        preflight: () => ({ grades: [1, 2, 3, 4, 5], reads: [], answersWithinMs: 86_400_000 }),
        async plant(what) {
          if (what === 'a wrong key') apiKey = 'f'.repeat(40);
          if (what === 'a missing field') comment = 'No such field';
          if (what === 'no private notes')
            run(
              "update roles set permissions = replace(permissions, '- :set_notes_private\n', '') where name = 'closeloop'",
            );
          if (what === 'no project') apiKey = keys.noRights;
        },
        close: () => proxy.stop(),
      };
    },
  };
}

export const sample = sampleOf('agent');
export const sampleOfAdmin = sampleOf('admin');
