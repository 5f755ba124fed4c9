import { z } from 'zod';
import { noteHtml, placesOf } from '../../core/connector/answer.ts';
import type { ActionRequest, ConnectorPorts, Source } from '../../core/connector/contract.ts';
import {
  type DeskAction,
  deskActor,
  doing,
  type Flaw,
  isReopened,
  noSuch,
  noteAction,
  setAction,
} from '../../core/connector/desk/act.ts';
import type { Rows } from '../../core/connector/desk/rows.ts';
import { CloseloopError } from '../../core/errors.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';

import { maxTextUnits, notTaken } from './answer.ts';
import type { HubSpotApi } from './api.ts';
import { BatchResponse, fates } from './batch.ts';
import { contactScopes } from './check.ts';
import { stageOf } from './closing.ts';
import { create, type Engagement, find, type Kind, noteOn } from './engagement.ts';
import { type ObjectType, objectTypes, parseRecordId, paths, pluralOf, recordId } from './objects.ts';
import type { OwnerReader } from './owners.ts';
import { type PipelineReader, readPipelines } from './pipelines.ts';
import { accountProber } from './probe.ts';
import { type Definition, DefinitionList } from './properties.ts';
import { readStandings, type Standing } from './read.ts';
import { inWords } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

const name = z.string().trim().min(1).max(200);
const owner = z.email().optional();

const Reopen = z
  .strictObject({
    stage: name.describe('The open stage that it moves to, by its label or id'),
    pipeline: name.optional().describe("The pipeline of that stage, by its label or id. Left out: the record's own"),
    owner: owner.describe('The address of the user who gets it'),
  })
  .describe('Moves the ticket or deal to an open stage');

const Task = z
  .strictObject({
    title: name.default('See to this customer: bad feedback').describe('What the list of tasks shows'),
    text: z.string().min(1).max(10_000).optional().describe('What is to be done'),
    due: Duration.prefault('1d').describe('From the making of the task to when it has to be done'),
    owner: owner.describe("The address of the user who gets it. Left out: the record's owner"),
    priority: z.enum(['low', 'medium', 'high']).optional().describe('Its priority'),
  })
  .prefault({})
  .describe('Makes a task on the record');

const SetProperties = setAction.describe('Sets properties of the ticket or deal, by internal name; null empties one');

export const actions = { reopen: Reopen, task: Task, set: SetProperties, note: noteAction };

const permanent = (why: string) => new CloseloopError(why, { kind: 'permanent' });

interface Context {
  settings: HubSpotSettings;
  api: HubSpotApi;
  pipelines: Record<ObjectType, PipelineReader>;
  owners: OwnerReader;
  now: ConnectorPorts['now'];
}

/** One call. HubSpot refuses all of it, with its reason, or may keep another value. */
async function update(api: HubSpotApi, { type, record: { id } }: Standing, properties: Record<string, string>) {
  const path = paths.batchUpdate(objectTypes[type].plural);
  const answer = await api.attempt('POST', path, BatchResponse, { body: { inputs: [{ id, properties }] } });
  if (!answer.ok) throw permanent(`HubSpot did not take a change of the ${type}: ${inWords(answer.refusal)}`);
  const fate = fates(`POST ${path}`, [id], answer.body).get(id);
  if (fate?.is === 'refused') throw fate.error;
  if (fate?.is !== 'done') throw permanent(`HubSpot has no such ${type} any more`);
  const returned = Object.entries(properties).filter(([name]) => fate.result.properties[name] !== undefined);
  const lost = notTaken(Object.fromEntries(returned), fate.result.properties);
  if (lost.length > 0) throw permanent(lost.join('; '));
}

/** @throws CloseloopError where nobody has the address any more */
async function ownerId(owners: OwnerReader, email: string): Promise<string> {
  const found = await owners.withEmail(email);
  if (found === undefined) throw permanent('HubSpot has no active user with the address that `owner` names');
  return found.id;
}

const ownerFlaw = async (owners: OwnerReader, email: string | undefined): Promise<Flaw | undefined> =>
  email === undefined || (await owners.withEmail(email))
    ? undefined
    : noSuch('user', email, "Name an active user's address (HubSpot: Settings > Users & Teams)");

/** Asks HubSpot for a change of nothing. @returns what to do where the app lacks the scope for that */
async function scopeFlaw(api: HubSpotApi, plural: string, scope: string): Promise<Flaw | undefined> {
  const prober = accountProber(api);
  const probe = { method: 'POST', path: paths.batchUpdate(plural), body: { inputs: [] }, schema: z.unknown() } as const;
  await prober.probeRight({ what: `writing on ${plural}`, scope, ...probe });
  return prober.findings[0];
}

async function firstFlaw(...looks: readonly (() => Promise<Flaw | undefined>)[]): Promise<Flaw | undefined> {
  for (const look of looks) {
    const flaw = await look();
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

/** The right to change the source's records. */
const writingFlaw = ({ settings, api }: Context) =>
  firstFlaw(
    ...settings.objects.map((type) => () => scopeFlaw(api, objectTypes[type].plural, objectTypes[type].scopes.write)),
  );

const reopening = (context: Context): DeskAction<Standing> =>
  doing<Standing, typeof Reopen>(
    Reopen,
    async (standing, { stage, pipeline, owner }, request) => {
      const { type, record, state, stages } = standing;
      if (isReopened(state, request)) return 'it was open already';
      const { pipelineId: own } = stageOf(type, record);
      const target = stages.find(stage, pipeline ?? own);
      const where = stages.label(pipeline ?? own) || (pipeline ?? own);
      if (target === undefined) throw permanent(`the ${type} pipeline "${where}" has no stage "${stage}"`);
      if (target.stage.closed)
        throw permanent(`the stage "${stage}" of the ${type} pipeline "${where}" is a closed one`);
      const names = objectTypes[type];
      await update(context.api, standing, {
        [names.stage]: target.stage.id,
        ...(target.pipelineId !== own && { [names.pipeline]: target.pipelineId }),
        ...(owner && { hubspot_owner_id: await ownerId(context.owners, owner) }),
      });
      return `moved to the stage ${stage}`;
    },
    ({ stage, pipeline, owner }) =>
      firstFlaw(
        () => stageFlaw(context, stage, pipeline),
        () => ownerFlaw(context.owners, owner),
        () => writingFlaw(context),
      ),
  );

/** A rule may be meant for one kind of records: it suffices that one kind has the stage. */
async function stageFlaw({ settings, api }: Context, stage: string, pipeline: string | undefined) {
  const all = await Promise.all(settings.objects.map((type) => readPipelines(type, api)));
  const found = all.flatMap((one) => one.find(stage, pipeline) ?? []);
  const where = pipeline === undefined ? 'stage' : `stage of the pipeline "${pipeline}"`;
  if (found.length === 0)
    return noSuch(where, stage, 'Name its label or id (HubSpot: Settings > Objects > Tickets or Deals > Pipelines)');
  if (found.some((one) => !one.stage.closed)) return undefined;
  return { problem: `the stage "${stage}" is a closed one`, remedy: 'Name an open stage' };
}

/** Looks first where it may be there already: HubSpot makes no note and no task idempotent. */
async function once({ api }: Context, kind: Kind, type: ObjectType, wanted: Engagement, { again }: ActionRequest) {
  if (again && (await find(api, kind, type, [wanted])).has(wanted.marker)) return;
  const failure = (await create(api, kind, type, [wanted])).get(wanted.marker);
  if (failure) throw failure;
}

const engagementFlaw = ({ api }: Context) => scopeFlaw(api, 'contacts', contactScopes.write);

const noting = (context: Context): DeskAction<Standing> =>
  doing(
    noteAction,
    async ({ type, record }, text, request) => {
      const note = noteOn(record.id, { text, marker: request.marker }, context.now());
      await once(context, 'notes', type, note, request);
      return 'a note is added';
    },
    () => engagementFlaw(context),
  );

const tasking = (context: Context): DeskAction<Standing> =>
  doing<Standing, typeof Task>(
    Task,
    async ({ type, record }, { title, text = '', due, owner, priority }, request) => {
      const { marker } = request;
      const of = owner === undefined ? record.properties.hubspot_owner_id : await ownerId(context.owners, owner);
      const properties = {
        hs_timestamp: new Date(context.now().getTime() + due).toISOString(),
        hs_task_subject: title,
        hs_task_body: noteHtml({ text, marker }, maxTextUnits),
        hs_task_status: 'NOT_STARTED',
        hs_task_type: 'TODO',
        ...(priority && { hs_task_priority: priority.toUpperCase() }),
        ...(of && { hubspot_owner_id: of }),
      };
      await once(context, 'tasks', type, { recordId: record.id, marker, properties }, request);
      return 'a task is made';
    },
    ({ owner }) =>
      firstFlaw(
        () => ownerFlaw(context.owners, owner),
        () => engagementFlaw(context),
      ),
  );

const setting = (context: Context): DeskAction<Standing> =>
  doing<Standing, typeof SetProperties>(
    SetProperties,
    async (standing, wanted) => {
      await update(context.api, standing, textsOf(wanted));
      return `set ${Object.keys(wanted).join(', ')}`;
    },
    (wanted) =>
      firstFlaw(
        () => propertiesFlaw(context, textsOf(wanted)),
        () => writingFlaw(context),
      ),
  );

const textsOf = (wanted: z.output<typeof SetProperties>) =>
  Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, value === null ? '' : String(value)]));

async function propertiesFlaw({ settings, api }: Context, wanted: Readonly<Record<string, string>>) {
  const { objects, writeBack } = settings;
  const own = new Set(placesOf(writeBack).values());
  const lists = await Promise.all(
    objects.map((type) => api.call('GET', paths.properties(pluralOf(type)), DefinitionList)),
  );
  const moves = new Set<string>(objects.flatMap((type) => [objectTypes[type].stage, objectTypes[type].pipeline]));
  const remedy = 'Name another property';
  for (const [name, value] of Object.entries(wanted)) {
    const defined = lists.flatMap(({ results }) => results.filter((one) => one.name === name));
    const of = objects.map(pluralOf).join(' or ');
    if (own.has(name)) return { problem: `the property ${name} takes answers (writeBack)`, remedy };
    if (moves.has(name)) return { problem: `the property ${name} moves the record`, remedy: 'Use reopen' };
    if (defined.length === 0)
      return noSuch(`property of ${of}`, name, 'Correct its internal name (HubSpot: Settings > Properties)');
    const problems = defined.map((one) => valueProblem(one, value));
    const [problem] = problems;
    if (problem !== undefined && problems.every((one) => one !== undefined)) return { problem, remedy };
  }
  return undefined;
}

function valueProblem(
  { name, type, options, calculated, modificationMetadata }: Definition,
  value: string,
): string | undefined {
  if (calculated || modificationMetadata?.readOnlyValue) return `nobody can write the property ${name}`;
  const isOption = value.split(';').every((one) => options.some((option) => option.value === one));
  if (value !== '' && type === 'enumeration' && !isOption) return `the choice ${name} has no option "${value}"`;
  if (type === 'number' && Number.isNaN(Number(value))) return `the property ${name} takes numbers`;
  return undefined;
}

/** The records by their ids, of both kinds. */
async function rowsOf(context: Context, ids: readonly string[]): Promise<Rows<Standing>> {
  const { settings, api, pipelines, now } = context;
  const rows = new Map<string, Standing | CloseloopError>();
  for (const type of ['ticket', 'deal'] as const) {
    const own = ids.flatMap((id) => parseRecordId(id) ?? []).filter((one) => one.type === type);
    if (own.length === 0) continue;
    const about = { type, settings, api, pipelines: pipelines[type], now: now() };
    const standings = await readStandings(
      about,
      own.map(({ id }) => id),
    );
    for (const [id, standing] of standings) rows.set(recordId(type, id), standing);
  }
  return rows;
}

/** What answers lead to at HubSpot. */
export function actor(context: Context): Required<Pick<Source, 'act' | 'checkActions'>> {
  const own = { reopen: reopening(context), task: tasking(context), set: setting(context), note: noting(context) };
  const isId = (id: string) => parseRecordId(id) !== undefined;
  const rows = { isId, many: (ids: readonly string[]) => rowsOf(context, ids) };
  return deskActor({ vendor: 'HubSpot', record: 'record' }, rows, {}, own);
}
