import { z } from 'zod';
import { noteHtml, placesOf } from '../../core/connector/answer.ts';
import type { ActionRequest } from '../../core/connector/contract.ts';
import {
  type DeskAction,
  doing,
  type Flaw,
  isReopened,
  noSuch,
  noteAction,
  setAction,
} from '../../core/connector/desk/act.ts';
import { isFailure } from '../../core/connector/desk/rows.ts';
import { CloseloopError } from '../../core/errors.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';
import { create, type Engagement, find, type Kind, noteOn } from './engagement.ts';
import { maxTextUnits, objectTypes, pluralOf } from './objects.ts';
import { readPipelines } from './pipelines.ts';
import { type Definition, definitionsOf } from './properties.ts';
import type { Context, Standing } from './read.ts';
import { stageOf } from './record.ts';
import { notTaken, Records } from './records.ts';
import { inWords } from './responses.ts';

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

/** The actions of answer rules at HubSpot. */
export const acting = (context: Context): Record<keyof typeof actions, DeskAction<Standing>> => ({
  reopen: reopening(context),
  task: tasking(context),
  set: setting(context),
  note: noting(context),
});

const permanent = (why: string) => new CloseloopError(why, { kind: 'permanent' });

/** Updates a record in one call. HubSpot may refuse the whole call with a reason, or store another value. */
async function update({ api }: Context, { type, record: { id } }: Standing, properties: Record<string, string>) {
  const found = await new Records(api, pluralOf(type)).updateOnce([{ id, properties }]);
  if (!(found instanceof Map)) throw permanent(`HubSpot did not take a change of the ${type}: ${inWords(found)}`);
  const row = found.get(id);
  if (isFailure(row)) throw row;
  if (row === undefined) throw permanent(`HubSpot has no such ${type} any more`);
  const lost = notTaken(properties, { ...properties, ...row.properties });
  if (lost.length > 0) throw permanent(lost.join('; '));
}

/** @throws CloseloopError if no owner has the address any more */
async function ownerId({ owners }: Context, email: string): Promise<string> {
  const found = await owners.withEmail(email);
  if (found === undefined) throw permanent('HubSpot has no active user with the address that `owner` names');
  return found.id;
}

const ownerFlaw = async ({ owners }: Context, email: string | undefined): Promise<Flaw | undefined> =>
  email === undefined || (await owners.withEmail(email))
    ? undefined
    : noSuch('user', email, "Name an active user's address (HubSpot: Settings > Users & Teams)");

/** @throws VendorError if the app lacks the scope for updates */
async function tryWriting({ settings, api }: Context, on: 'records' | 'contacts'): Promise<undefined> {
  for (const plural of on === 'contacts' ? ([on] as const) : settings.objects.map(pluralOf))
    await new Records(api, plural).tryWriting();
}

const reopening = (context: Context) =>
  doing(
    Reopen,
    async (standing: Standing, { stage, pipeline, owner }, request) => {
      const { type, record, state, stages } = standing;
      if (isReopened(state, request)) return 'it was open already';
      const { pipelineId: own } = stageOf(type, record);
      const target = stages.find(stage, pipeline ?? own);
      const where = `${type} pipeline "${stages.label(pipeline ?? own) || (pipeline ?? own)}"`;
      if (target === undefined) throw permanent(`the ${where} has no stage "${stage}"`);
      if (target.stage.closed) throw permanent(`the stage "${stage}" of the ${where} is a closed one`);
      await update(context, standing, {
        [objectTypes[type].stage]: target.stage.id,
        ...(target.pipeline.id !== own && { [objectTypes[type].pipeline]: target.pipeline.id }),
        ...(owner && { hubspot_owner_id: await ownerId(context, owner) }),
      });
      return `moved to the stage ${stage}`;
    },
    async ({ stage, pipeline, owner }) =>
      (await stageFlaw(context, stage, pipeline)) ??
      (await ownerFlaw(context, owner)) ??
      (await tryWriting(context, 'records')),
  );

/** A rule may apply to one kind of records only, so one kind with the stage is enough. */
async function stageFlaw({ settings, api }: Context, stage: string, pipeline: string | undefined) {
  const all = await Promise.all(settings.objects.map((type) => readPipelines(type, api)));
  const found = all.flatMap((one) => one.find(stage, pipeline) ?? []);
  const where = pipeline === undefined ? 'stage' : `stage of the pipeline "${pipeline}"`;
  if (found.length === 0)
    return noSuch(where, stage, 'Name its label or id (HubSpot: Settings > Objects > Tickets or Deals > Pipelines)');
  if (found.some((one) => !one.stage.closed)) return undefined;
  return { problem: `the stage "${stage}" is a closed one`, remedy: 'Name an open stage' };
}

/** Creates a note or a task once. After an attempt that may have created it, looks for it first: HubSpot makes no note and no task idempotent. */
async function once({ api }: Context, kind: Kind, { type }: Standing, wanted: Engagement, { again }: ActionRequest) {
  if (again && (await find({ api, kind, type }, [wanted])).has(wanted.id)) return;
  const failure = (await create({ api, kind, type }, [wanted])).get(wanted.id);
  if (failure) throw failure;
}

const noting = (context: Context) =>
  doing(
    noteAction,
    async (standing: Standing, text, request) => {
      const note = noteOn(standing.record.id, { text, marker: request.marker }, context.now());
      await once(context, 'notes', standing, note, request);
      return 'a note is added';
    },
    () => tryWriting(context, 'contacts'),
  );

const tasking = (context: Context) =>
  doing(
    Task,
    async (standing: Standing, { title, text = '', due, owner, priority }, request) => {
      const { marker } = request;
      const { id: recordId, properties: held } = standing.record;
      const of = owner === undefined ? held.hubspot_owner_id : await ownerId(context, owner);
      const properties = {
        hs_timestamp: new Date(context.now().getTime() + due).toISOString(),
        hs_task_subject: title,
        hs_task_body: noteHtml({ text, marker }, maxTextUnits),
        ...{ hs_task_status: 'NOT_STARTED', hs_task_type: 'TODO' },
        ...(priority && { hs_task_priority: priority.toUpperCase() }),
        ...(of && { hubspot_owner_id: of }),
      };
      await once(context, 'tasks', standing, { recordId, id: marker, properties }, request);
      return 'a task is made';
    },
    async ({ owner }) => (await ownerFlaw(context, owner)) ?? (await tryWriting(context, 'contacts')),
  );

const setting = (context: Context) =>
  doing(
    SetProperties,
    async (standing: Standing, wanted) => {
      await update(context, standing, textsOf(wanted));
      return `set ${Object.keys(wanted).join(', ')}`;
    },
    async (wanted) => (await propertiesFlaw(context, textsOf(wanted))) ?? (await tryWriting(context, 'records')),
  );

const textsOf = (wanted: z.output<typeof SetProperties>) =>
  Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, value === null ? '' : String(value)]));

async function propertiesFlaw({ settings, api }: Context, wanted: Readonly<Record<string, string>>) {
  const { objects, writeBack } = settings;
  const own = new Set(placesOf(writeBack).values());
  const all = (await Promise.all(objects.map((type) => definitionsOf(type, api)))).flat();
  const moves = new Set<string>(objects.flatMap((type) => [objectTypes[type].stage, objectTypes[type].pipeline]));
  const remedy = 'Name another property';
  for (const [name, value] of Object.entries(wanted)) {
    const defined = all.filter((one) => one.name === name);
    if (own.has(name)) return { problem: `the property ${name} takes answers (writeBack)`, remedy };
    if (moves.has(name)) return { problem: `the property ${name} moves the record`, remedy: 'Use reopen' };
    const of = objects.map(pluralOf).join(' or ');
    if (defined.length === 0)
      return noSuch(`property of ${of}`, name, 'Correct its internal name (HubSpot: Settings > Properties)');
    const problems = defined.map((one) => valueProblem(one, value));
    const [problem] = problems;
    if (problem !== undefined && !problems.includes(undefined)) return { problem, remedy };
  }
  return undefined;
}

function valueProblem({ name, type, options, isReadOnly }: Definition, value: string): string | undefined {
  if (isReadOnly) return `nobody can write the property ${name}`;
  const isOption = value.split(';').every((one) => options.some((option) => option.value === one));
  if (value !== '' && type === 'enumeration' && !isOption) return `the choice ${name} has no option "${value}"`;
  if (type === 'number' && Number.isNaN(Number(value))) return `the property ${name} takes numbers`;
  return undefined;
}
