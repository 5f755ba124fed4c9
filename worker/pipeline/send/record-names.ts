import { z } from 'zod';
import type { RecordParts } from '../../../core/connector/record-parts.ts';

/** A person in the form that connectors present. */
const Person = z.object({
  name: z.string().nullish(),
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  displayName: z.string().nullish(),
});

/**
 * The names of the record's customer and agent, where the connector declares their places. A customer is a person who has one of the
 * customer's addresses, or whom the connector presents as `customer`.
 */
export function namesIn(shape: object, { agents = [], customer = [] }: RecordParts) {
  const people = [...customer.map((path) => path.split('.').slice(0, -1)), ['customer']];
  return {
    customer: firstOf(people.map((path) => nameOf(at(shape, path)))),
    agent: firstOf(agents.map((path) => textOf(at(shape, path.split('.'))))),
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
