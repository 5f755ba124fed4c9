import { type CrmRecord, type ObjectType, type Property, pipelineProperty, stageProperty } from './model.ts';
import { invalid, problem } from './problem.ts';
import type { Store } from './store.ts';

interface Fault {
  name: string;
  error: string;
  message: string;
}

/**
 * Checks values for a write and gives them the form in which they are stored. One bad value has all refused.
 * @throws Problem 400 VALIDATION_ERROR, with the vendor's JSON-in-a-message
 */
export function checkValues(
  store: Store,
  type: ObjectType,
  values: Readonly<Record<string, string>>,
  portalId: number,
): Record<string, string> {
  const checked: Record<string, string> = {};
  const faults: Fault[] = [];
  for (const [name, value] of Object.entries(values)) {
    const property = store.properties[type].get(name);
    if (property === undefined) {
      faults.push({ name, error: 'PROPERTY_DOESNT_EXIST', message: `Property "${name}" does not exist` });
      continue;
    }
    const result =
      property.readOnly || property.calculated
        ? fault('READ_ONLY_VALUE', `"${name}" is a read only property`)
        : normalise(store, type, property, value);
    if (typeof result === 'string') checked[name] = result;
    else faults.push({ name, ...result });
  }
  if (faults.length === 0) return checked;
  const items = faults.map((one) => ({
    isValid: false,
    message: one.message,
    error: one.error,
    name: one.name,
    localizedErrorMessage: one.message,
    portalId,
  }));
  throw invalid(`Property values were not valid: ${JSON.stringify(items)}`, {
    errors: faults.map((one) => ({ message: one.message, code: one.error, context: { propertyName: [one.name] } })),
  });
}

/** An admin's rule: this property must have a value after any write, the caller's own fields or not. @throws Problem 400 */
export function checkRequired(
  record: CrmRecord,
  values: Readonly<Record<string, string>>,
  required: string | null,
): void {
  if (required === null || (values[required] ?? record.properties.get(required) ?? '') !== '') return;
  throw problem(400, 'VALIDATION_ERROR', `"${required}" is required`, {
    errors: [
      {
        message: `"${required}" is required`,
        code: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY',
        context: { propertyName: [required] },
      },
    ],
  });
}

function normalise(store: Store, type: ObjectType, property: Property, value: string): string | Omit<Fault, 'name'> {
  if (value === '') return value;
  const known = knownBy(store, type, property.name);
  if (known !== undefined)
    return known.includes(value) ? value : fault('INVALID_OPTION', `${value} was not one of the allowed options`);
  switch (property.type) {
    case 'number':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value)
        ? value
        : fault('INVALID_LONG', `${value} was not a valid number.`);
    case 'bool':
      return value === 'true' || value === 'false'
        ? value
        : fault('INVALID_OPTION', `${value} was not one of the allowed options: [true, false]`);
    case 'enumeration':
      return checkOptions(property, value);
    case 'datetime':
      return instant(value)?.toISOString() ?? fault('INVALID_DATE', `${value} was not a valid date.`);
    case 'date': {
      const at = instant(/^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00:00Z` : value);
      const midnight = at !== undefined && at.getTime() % 86_400_000 === 0;
      return midnight ? at.toISOString().slice(0, 10) : fault('INVALID_DATE', `${value} is not midnight UTC of a day.`);
    }
    case 'string':
      return value.length <= 65_536 ? value : fault('INVALID_STRING', 'The value is longer than 65536 characters.');
  }
}

/** The values of a property whose options are kept elsewhere: ids of pipelines, stages, owners. */
function knownBy(store: Store, type: ObjectType, name: string): string[] | undefined {
  if (name === 'hubspot_owner_id') return [...store.owners.keys()];
  if (name === stageProperty[type]) return store.pipelines[type].flatMap(({ stages }) => stages.map(({ id }) => id));
  return name === pipelineProperty[type] ? store.pipelines[type].map(({ id }) => id) : undefined;
}

/** Options compare with case. */
function checkOptions({ options, fieldType }: Property, value: string): string | Omit<Fault, 'name'> {
  const given = fieldType === 'checkbox' ? value.split(';') : [value];
  const allowed = options.map((option) => option.value);
  if (given.every((one) => allowed.includes(one))) return value;
  return fault('INVALID_OPTION', `${value} was not one of the allowed options: [${allowed.join(', ')}]`);
}

/** Epoch milliseconds or ISO 8601 with a zone. */
function instant(value: string): Date | undefined {
  if (/^-?\d{1,15}$/.test(value)) return new Date(Number(value));
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(value)) return undefined;
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

function fault(error: string, message: string): Omit<Fault, 'name'> {
  return { error, message };
}
