import { z } from 'zod';
import type { RecordParts } from '../../core/connector/record-parts.ts';
import type { Journey } from '../journey/journey.ts';
import { currentRecordOf } from '../journey/refs.ts';
import type { Policy } from './policy/source-policy.ts';
import type { Vendor } from './vendor.ts';

/**
 * What the record calls its customer and its agent. Nothing waits for these names: where the vendor does not answer, they are not known.
 */
export async function namesOf(
  journey: Journey,
  of: Pick<Vendor, 'read'> & Pick<Policy, 'parts'>,
): Promise<ReturnType<typeof namesIn>> {
  const nobody = { customer: undefined, agent: undefined };
  try {
    const { record } = await of.read(currentRecordOf(journey), 'act', journey.closedAt);
    return record ? namesIn(record.shape, of.parts) : nobody;
  } catch {
    return nobody;
  }
}

/** A person as connectors present one. */
const Person = z.object({
  name: z.string().nullish(),
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  displayName: z.string().nullish(),
});

/**
 * The names of the customer and the agent in a record, at the places that the connector's data sheet names. The customer is the person
 * who has one of the customer's addresses, or else the person whom the record presents as `customer`.
 */
function namesIn(shape: object, { agents = [], customer = [] }: RecordParts) {
  const people = [...customer.map((path) => path.split('.').slice(0, -1)), ['customer']];
  return {
    customer: firstOf(people.map((path) => nameOf(at(shape, path)))),
    agent: firstOf(agents.filter((path) => !/(^|\.)id$/i.test(path)).map((path) => textOf(at(shape, path.split('.'))))),
  };
}

function nameOf(person: unknown): string | undefined {
  const { name, displayName, firstName, lastName } = Person.safeParse(person).data ?? {};
  return textOf(name) ?? textOf(displayName) ?? textOf([firstName, lastName].filter(Boolean).join(' '));
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

const firstOf = (found: readonly (string | undefined)[]): string | undefined => found.find((one) => one !== undefined);

function at(shape: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined,
    shape,
  );
}
