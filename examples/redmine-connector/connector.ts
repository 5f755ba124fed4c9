import {
  type AnswerPart,
  CloseloopError,
  cached,
  closingOf,
  createVendorApi,
  defineConnector,
  desk,
  deskWriteBack,
  errorAt,
  type Finding,
  inPlainForm,
  inSeconds,
  listOf,
  markerOf,
  type Noted,
  noteAction,
  noteText,
  numbered,
  permanent,
  pollWindow,
  present,
  type RecordState,
  Refusal,
  secret,
  staticToken,
  typesByPart,
  VendorError,
  z,
} from 'closeloop';

const Named = z.object({ id: z.int(), name: z.string() });
const Value = z.object({ id: z.int(), name: z.string(), value: z.union([z.string(), z.array(z.string())]).nullish() });
const Issue = z.object({
  id: z.int().transform(String),
  project: Named,
  tracker: Named,
  status: Named.extend({ is_closed: z.boolean() }),
  priority: Named.nullish(),
  author: Named,
  assigned_to: Named.nullish(),
  subject: z.string(),
  is_private: z.boolean().nullish(),
  custom_fields: listOf(Value).optional(),
  relations: listOf(z.object({ issue_id: z.int(), issue_to_id: z.int(), relation_type: z.string() })).optional(),
  created_on: z.coerce.date(),
  closed_on: z.coerce.date().nullish(),
});
type Issue = z.output<typeof Issue>;
const Issues = z.object({ issues: listOf(Issue), total_count: z.int(), offset: z.int() });
const Journal = z.object({
  id: z.int().transform(String),
  user: Named,
  notes: z.string().nullish(),
  private_notes: z.boolean().nullish(),
});
const Journals = z.object({ issue: z.object({ journals: listOf(Journal) }) });
const Memberships = listOf(z.object({ roles: listOf(Named) }));
const Me = z.object({
  user: z.object({ id: z.int(), admin: z.boolean().nullish(), memberships: Memberships.optional() }),
});
const Role = z.object({ role: z.object({ name: z.string(), permissions: listOf(z.string()) }) });
const Person = z.object({ user: z.object({ mail: z.string().nullish() }) });
const Project = z.object({ project: z.object({ status: z.int() }) });
const Field = z.object({
  name: z.string(),
  customized_type: z.string(),
  field_format: z.string(),
  is_required: z.boolean().nullish(),
  possible_values: listOf(z.object({ value: z.string() })).nullish(),
});
const Fields = z.object({ custom_fields: listOf(Field) });
const Refused = z.object({ errors: z.array(z.string()) });

/** `closed_on` is set by each closing, and kept by everything else: a reopening too. */
function stateOf({ status, closed_on: closedAt, is_private: isPrivate }: Issue): RecordState {
  if (isPrivate === true) return { is: 'out', why: 'it is a private issue' };
  if (!status.is_closed) return { is: 'open' };
  if (closedAt == null) return { is: 'out', why: 'Redmine does not know when it was closed' };
  return { is: 'closed', closing: String(closedAt.getTime() / 1000), closedAt };
}

const fieldNamed = ({ custom_fields: fields }: Issue, name: string) => fields?.find((field) => field.name === name);
const permissions = ['view_issues', 'edit_issues', 'add_issue_notes', 'view_private_notes', 'set_notes_private'];

export default defineConnector({
  name: 'redmine',
  settings: z.strictObject({
    address: z
      .url()
      .transform((text) => text.replace(/\/+$/, ''))
      .describe('Of Redmine, with its path where it has one'),
    apiKey: secret.describe('Of a user of closeloop\'s own: "My account" > API access key'),
    customerField: z
      .string()
      .optional()
      .describe(
        "The custom field of issues that holds the customer's e-mail address. Left out: the author's, which Redmine shows to administrators only",
      ),
    writeBack: deskWriteBack(z.string().min(1), {
      takes: 'the name of a custom field of issues',
      note: 'Adds a private note: three more calls per answer',
      commentLength: { most: 65_535, initial: 10_000 },
    })
      .unwrap()
      .safeExtend({
        dateOnly: z
          .boolean()
          .default(false)
          .describe(
            '"answeredAt" is a field of the format Date: of two answers of one day the later one is not known. Left out: a field of the format Text',
          ),
      })
      .prefault({}),
  }),
  account: ({ address }) => new URL(address).host,
  parts: {
    customer: ['customer.email'],
    agents: ['assignee.name'],
    groups: ['project.name'],
    openedAt: ['issue.openedAt'],
  },
  actions: { note: noteAction },
  onboarding: {
    about: 'Redmine: issues that are closed',
    source: 'redmine',
    questions: [
      { setting: 'address', ask: 'Its address (https://redmine.example.com, with a path where it has one)' },
      { setting: 'apiKey', ask: "API key of closeloop's own user (My account)", variable: 'REDMINE_API_KEY' },
      {
        setting: 'customerField',
        ask: "Custom field with the customer's e-mail address (none: the author's)",
        initial: '',
      },
      { setting: 'writeBack.grade', ask: 'Custom field that takes the grade', initial: '' },
      { setting: 'writeBack.comment', ask: 'Custom field that takes the comment', initial: '' },
    ],
    contact: ['customer.email'],
    values: [
      { name: 'subject', expression: 'issue.subject' },
      { name: 'project', expression: 'project.name' },
      { name: 'name of the assignee', expression: 'assignee.name' },
    ],
  },
  open: ({ address, apiKey, customerField, writeBack }, ports) => {
    const api = createVendorApi(
      {
        name: `Redmine ${new URL(address).host}`,
        baseUrl: address,
        credentials: staticToken(apiKey),
        authorize: (token) => ({ 'x-redmine-api-key': token }),
        rules: {
          // Of one issue, or of one note: its project is closed or archived, or the role lacks a right in it.
          meaningOf: ({ status }, path) =>
            status === 403 && /^\/(issues|journals)\/\d/.test(path)
              ? permanent('Redmine refuses this issue', "look at the rights of closeloop's role in its project")
              : undefined,
        },
      },
      ports,
    );
    /** A wrong key is an anonymous user to lists, who sees few issues or none, with a 200. This call refuses it. */
    const whoAmI = (urgency: 'work' | 'background') =>
      api.call({ method: 'GET', path: '/users/current.json?include=memberships', urgency }, Me);
    const me = cached(async () => (await whoAmI('work')).user.id, 300_000, ports.now);
    const isId = (id: string) => /^[1-9]\d{0,8}$/.test(id);
    const journals = async (id: string) => {
      const call = {
        method: 'GET',
        path: `/issues/${id}.json?include=journals`,
        place: 'GET the notes of an issue',
      } as const;
      const [{ issue }, own] = [await api.call(call, Journals), await me()];
      return issue.journals.flatMap(({ notes, ...more }) =>
        notes && more.user.id === own ? [{ ...more, text: notes }] : [],
      );
    };

    /** A note without text is gone. */
    const removeNote = (note: string) =>
      api.call({ method: 'PUT', path: `/journals/${note}.json`, body: { journal: { notes: '' } } }, z.unknown());

    /** A 403 to a PUT: its project is closed or archived, or a right is missing, which is to be mended. */
    async function refusedIn({ project }: Issue, error: VendorError): Promise<Error> {
      const found = await api.find({ method: 'GET', path: `/projects/${project.id}.json` }, Project).catch((other) => {
        if (other instanceof VendorError && other.status === 403) return undefined;
        throw other;
      });
      if (found?.project.status !== 1) return error;
      const remedy = 'give it "Edit issues" and "Add notes" (Administration > Roles and permissions)';
      return new CloseloopError(`Redmine: closeloop's role can't edit issues of one project: ${remedy}`, {
        kind: 'permanent',
      });
    }

    /** 204 says little: what was not kept shows when the issue is read again. */
    async function update(row: Issue, issue: object): Promise<string[]> {
      const path = `/issues/${row.id}.json`;
      const call = { method: 'PUT', path, body: { issue } } as const;
      const response = await api.exchange(call);
      const { data } = response.status === 422 ? Refused.safeParse(api.parse(call, response, z.unknown())) : {};
      if (data !== undefined) return data.errors;
      await api.accept(call, response).catch(async (error) => {
        throw error instanceof VendorError && error.status === 403 ? await refusedIn(row, error) : error;
      });
      return [];
    }

    function written(part: AnswerPart): string | null {
      if (part.part === 'answeredAt' && writeBack.dateOnly) return part.value.toISOString().slice(0, 10);
      const plain = inPlainForm(part, writeBack);
      return plain === null ? null : String(plain);
    }

    const places = new Set([
      writeBack.grade,
      writeBack.comment,
      writeBack.answeredAt,
      writeBack.status,
      ...Object.values(writeBack.answers),
    ]);

    function shapeOf(row: Issue, email: string | undefined) {
      const {
        id,
        subject,
        project,
        tracker,
        status,
        priority,
        author,
        assigned_to: assignee,
        created_on: openedAt,
      } = row;
      const fields = (row.custom_fields ?? []).filter(({ name }) => !places.has(name) && name !== customerField);
      const relations = (row.relations ?? []).filter(
        (of) => of.relation_type === 'duplicates' && String(of.issue_id) === id,
      );
      return present({
        issue: {
          id,
          subject,
          openedAt: openedAt.toISOString(),
          duplicates: relations.map((of) => String(of.issue_to_id)),
        },
        customer: present({ email: email?.trim() || undefined }),
        project,
        tracker,
        status: { id: status.id, name: status.name },
        priority,
        author,
        assignee,
        fields: Object.fromEntries(
          fields.flatMap(({ name, value }) => (value == null || value === '' ? [] : [[name, value]])),
        ),
      });
    }

    async function mailOf(author: number): Promise<string | undefined> {
      const found = await api.find({ method: 'GET', path: `/users/${author}.json` }, Person);
      return found?.user.mail ?? undefined;
    }

    async function rightsFindings(): Promise<Finding[]> {
      const { user } = await whoAmI('work');
      if (user.admin === true) return [];
      const members = user.memberships ?? [];
      const at = 'apiKey';
      if (members.length === 0)
        return [
          errorAt(
            at,
            'its user is a member of no project',
            'make it a member of each project (project > Settings > Members)',
          ),
        ];
      const found: Finding[] = [];
      for (const { id } of new Map(
        members.flatMap(({ roles }) => roles.map((role) => [role.id, role] as const)),
      ).values()) {
        const { role } = await api.call({ method: 'GET', path: `/roles/${id}.json` }, Role);
        const missing = permissions.filter((name) => !role.permissions.includes(name));
        const what = `its role "${role.name}" lacks ${missing.join(', ')}`;
        if (missing.length > 0) found.push(errorAt(at, what, 'tick them in Administration > Roles and permissions'));
      }
      return found;
    }

    /** Their formats are told to administrators alone; to others an issue that was closed shows which there are. */
    async function fieldsNow() {
      const all = await api.call({ method: 'GET', path: '/custom_fields.json' }, Fields).catch((error) => {
        if (error instanceof VendorError && error.status === 403) return undefined;
        throw error;
      });
      if (all === undefined) {
        const path = '/issues.json?status_id=*&sort=id:desc&limit=20';
        const { issues } = await api.call({ method: 'GET', path }, Issues);
        const names = new Set(issues.flatMap(({ custom_fields: fields }) => (fields ?? []).map(({ name }) => name)));
        return [...names].map((name) => ({ name, type: 'unknown', required: false }));
      }
      return all.custom_fields
        .filter(({ customized_type: of }) => of === 'issue')
        .map(({ name, field_format: type, is_required: required, possible_values: values }) => {
          const list = type === 'list' ? values?.map(({ value }) => value) : undefined;
          return { name, type, required: required === true, values: list };
        });
    }

    return desk({
      vendor: 'Redmine',
      record: 'issue',
      read: {
        isId,
        // Redmine lists open issues only, unless it is told.
        many: async (ids) => {
          const path = `/issues.json?issue_id=${ids.join()}&status_id=*&include=relations&limit=100`;
          const { issues } = await api.call({ method: 'GET', path, place: 'GET issues' }, Issues);
          return new Map(issues.map((issue) => [issue.id, issue]));
        },
        // What the list lacks is read singly: that call tells what is gone, what is forbidden, and that the key is.
        one: async (id) => {
          const path = `/issues/${id}.json?include=relations`;
          return (await api.find({ method: 'GET', path, place: 'GET an issue' }, z.object({ issue: Issue })))?.issue;
        },
        present: async (rows) => {
          const mails = new Map<number, string | undefined>();
          const authors = customerField === undefined ? rows.map(({ author }) => author.id) : [];
          for (const author of new Set(authors)) mails.set(author, await mailOf(author));
          return (row: Issue) => {
            const field = customerField === undefined ? undefined : fieldNamed(row, customerField)?.value;
            const email = customerField === undefined ? mails.get(row.author.id) : String(field ?? '');
            const person = customerField === undefined ? { personId: String(row.author.id) } : {};
            return { state: stateOf(row), shape: shapeOf(row, email), ...person };
          };
        },
      },
      poll: pollWindow(
        {
          async page(from, page) {
            await whoAmI('background');
            const since = encodeURIComponent(`>=${inSeconds(from)}`); // ">" is refused
            const path = `/issues.json?status_id=closed&closed_on=${since}&sort=closed_on,id&limit=100&offset=${100 * (page - 1)}`;
            const call = { method: 'GET', path, place: 'GET closed issues', urgency: 'background' } as const;
            const { issues, total_count: total, offset } = await api.call(call, Issues);
            return { rows: issues, isFull: offset + issues.length < total };
          },
          changedAt: ({ closed_on: closedAt }) => closedAt ?? undefined,
          events: (row) => closingOf(row.id, stateOf(row)),
        },
        ports,
      ),
      write: {
        settings: writeBack,
        written,
        at: (row: Issue, place) => fieldNamed(row, place)?.value,
        closed: (of: Issue | VendorError) =>
          of instanceof VendorError && of.status === 403 ? 'its project is closed or archived' : undefined,
        async put({ row, change }) {
          const names = [...change.values.keys()];
          const absent = names.filter((name) => fieldNamed(row, name) === undefined);
          if (absent.length > 0) {
            const where = `tick the tracker "${row.tracker.name}" and the project in Administration > Custom fields`;
            return new Refusal(
              absent,
              absent.map((name) => `Redmine's issue has no custom field "${name}": ${where}`),
            );
          }
          const values = [...change.values].map(([name, value]) => ({
            id: fieldNamed(row, name)?.id,
            value: value ?? '',
          }));
          const errors = await update(row, { custom_fields: values });
          if (errors.length === 0) return undefined;
          // They begin with the field's name, and go on in the language of closeloop's user.
          const unfit = names.filter((name) => errors.some((error) => error.startsWith(`${name} `)));
          if (unfit.length === 0) {
            const what = 'Redmine refuses every change of this issue, as something else in it is missing or wrong';
            return new Refusal(names, [`${what}: open it, save it, and mend what it names`]);
          }
          const shown = (name: string) =>
            name === writeBack.grade ? ` ${change.values.get(name)}` : ' what it was sent';
          return new Refusal(
            unfit,
            unfit.map(
              (name) =>
                `Redmine's custom field "${name}" does not take${shown(name)}: look at its format, its values and its length`,
            ),
          );
        },
        notKept: (place) =>
          `look whether the workflow makes "${place}" read-only (Administration > Workflow > Fields permissions)`,
        notes: {
          list: (_, id) => journals(id),
          async add(row, about: Noted, id) {
            const errors = await update(row, { notes: noteText(about), private_notes: true });
            if (errors.length > 0) {
              const remedy = 'open it, save it, and mend what it names';
              throw new CloseloopError(
                `Redmine refuses a note on this issue, as something in it is missing or wrong: ${remedy}`,
                { kind: 'permanent' },
              );
            }
            // Without the right Redmine makes the note public, and says nothing.
            const added = (await journals(id)).filter(({ text }) => markerOf(text) === about.marker);
            for (const { id: note } of added.filter((one) => one.private_notes !== true)) {
              await removeNote(note);
              const remedy = 'give its role "Set notes as private" (Administration > Roles and permissions)';
              throw new CloseloopError(`Redmine would show closeloop's notes to customers: ${remedy}`, {
                kind: 'config',
              });
            }
          },
          remove: (_, note) => removeNote(note),
        },
        leaves: (id) => `the history of issue ${id}, where Redmine keeps former values`,
      },
      preflight: {
        credential: 'apiKey',
        shape: {
          names: {
            issue: { id: true, subject: true, openedAt: true, duplicates: true },
            customer: { email: true },
            ...Object.fromEntries(
              ['project', 'tracker', 'status', 'priority', 'author', 'assignee'].map(
                (of) => [of, { id: true, name: true }] as const,
              ),
            ),
            fields: {},
          },
          hint: 'custom fields are under fields',
        },
        probes: [
          { at: 'apiKey', what: "the user's rights", read: rightsFindings },
          {
            at: 'address',
            what: 'the issues',
            tries: () => api.call({ method: 'GET', path: '/issues.json?status_id=closed&limit=1' }, Issues),
          },
        ],
        fields: {
          of: 'issues',
          field: 'custom field',
          place: 'Administration > Custom fields > Issues',
          list: fieldsNow,
          types: typesByPart({
            grade: { whole: 'int', fraction: 'float', any: ['string', 'text', 'list', 'unknown'] },
            comment: ['text', 'string', 'unknown'],
            others: ['string', 'text', 'unknown'],
            answeredAt: writeBack.dateOnly ? ['date', 'unknown'] : ['string', 'text', 'unknown'],
          }),
        },
        isStandin: false,
      },
      own: {
        recordNames: numbered(isId),
        recordUrl: (id) => (address.startsWith('https:') ? `${address}/issues/${id}` : undefined),
      },
    });
  },
});
