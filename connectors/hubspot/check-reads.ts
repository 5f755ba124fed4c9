import { errorAt, namesOf, unknownReads, warningAt } from '../../core/connector/check.ts';
import type { Finding, PreflightContext } from '../../core/connector/contract.ts';
import { contactProperties, presentContact } from './contacts.ts';
import { type CrmObject, type ObjectType, objectTypes, pluralOf } from './objects.ts';
import { pipelinesFrom } from './pipelines.ts';
import type { Definitions } from './properties.ts';
import { type HubSpotShape, present } from './record.ts';
import type { HubSpotSettings } from './settings.ts';

const nothing = { id: '', properties: {} };
const presented = (type: ObjectType) => present(type, nothing, pipelinesFrom({ results: [] }), { is: 'open' });
const shape: HubSpotShape = {
  ...presented('ticket'),
  ...presented('deal'),
  contact: presentContact(nothing),
  contactChoice: '',
  owner: { id: '', name: null, email: null },
};
const shapeNames = namesOf(shape);

/** Properties that HubSpot returns without request. */
const always: Record<CrmObject, readonly string[]> = {
  ticket: ['hs_object_id', 'createdate', 'hs_lastmodifieddate'],
  deal: ['hs_object_id', 'createdate', 'hs_lastmodifieddate'],
  contact: ['hs_object_id', 'createdate', 'lastmodifieddate'],
};

/** The requested properties of each kind of record, by internal name. */
function readOf(object: CrmObject, settings: HubSpotSettings): Set<string> {
  if (object === 'contact') return new Set([...always.contact, ...contactProperties, ...settings.contactProperties]);
  const { stage, pipeline, properties } = objectTypes[object];
  return new Set([...always[object], stage, pipeline, ...properties, ...settings.properties]);
}

/** HubSpot silently leaves out unknown names: a rule would never find a value. */
export function readFindings(settings: HubSpotSettings, { reads }: PreflightContext, defined: Definitions): Finding[] {
  const reported = new Set<string>();
  const findings = [
    ...listed('properties', settings.properties, settings.objects, defined),
    ...listed('contactProperties', settings.contactProperties, ['contact'], defined),
    ...unknownReads('HubSpot', shapeNames, "HubSpot's own properties are under `properties`", reads),
    ...reads.flatMap(({ at, path }) => pathFindings(at, path, settings, defined)),
  ];
  return findings.filter(({ at, problem }) => !reported.has(`${at} ${problem}`) && reported.add(`${at} ${problem}`));
}

/** With several kinds of record, a property may be of one of them only. */
function listed(
  at: 'properties' | 'contactProperties',
  names: readonly string[],
  objects: readonly CrmObject[],
  defined: Definitions,
): Finding[] {
  if (objects.some((object) => !defined.has(object))) return [];
  const unknown = names.filter((name) => !objects.some((object) => defined.get(object)?.has(name)));
  return unknown.map((name) => {
    const problem = `${objects.map(pluralOf).join(' and ')} have no property ${name}: HubSpot leaves it out without a word`;
    const remedy = "Correct it to the property's internal name (HubSpot: Settings > Properties), or take it out";
    return errorAt(at, problem, remedy);
  });
}

function pathFindings(
  at: string,
  [root = '', name, property]: readonly string[],
  settings: HubSpotSettings,
  defined: Definitions,
): Finding[] {
  if ((root === 'ticket' || root === 'deal') && !settings.objects.includes(root)) {
    const kinds = settings.objects.join(', ');
    const problem = `it reads ${root}, which is never there: this source's objects are ${kinds}`;
    return [warningAt(at, problem, `Add ${root} to objects, or read ${kinds}`)];
  }
  const object = (['ticket', 'deal', 'contact'] as const).find((one) => one === root);
  if (name !== 'properties' || property === undefined || object === undefined) return [];
  const setting = object === 'contact' ? 'contactProperties' : 'properties';
  if (defined.get(object)?.has(property) === false) {
    // the list that names it has a finding already
    if (settings[setting].includes(property)) return [];
    const remedy = "Correct it to the property's internal name (HubSpot: Settings > Properties)";
    return [errorAt(at, `${pluralOf(object)} have no property ${property}: it is always empty`, remedy)];
  }
  if (readOf(object, settings).has(property)) return [];
  const problem = `${root}.properties.${property} is not read from HubSpot: it is always empty`;
  return [errorAt(at, problem, `Add ${property} to this source's ${setting}`)];
}
