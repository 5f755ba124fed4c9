import type { ResponseHeaders } from '../ports.ts';
import type { OperationName } from './operations.ts';
import { isObject } from './request-form.ts';

/* Reads the messages in the service's responses. Pure. */

/** A call as errors name it. `place` has no personal data in it: `GET /contacts/:contact`. */
export interface Place {
  place: string;
  /** One of the five operations whose form is assumed: its errors name the setting that changes the form. */
  operation?: OperationName | undefined;
  /** Where the form puts custom fields, so that an error shows the field's own name. */
  customFieldsAt?: string | undefined;
  /** Names of the custom fields that were sent. */
  customFieldNames?: readonly string[] | undefined;
  /** Texts and numbers that the call carries and no error may repeat: the contact, the comment, the values of custom fields. */
  sentValues?: readonly unknown[] | undefined;
  /** What may be wrong with the service's address, for an error when nothing is found there. */
  addressFlaw?: string | undefined;
}

/** A response, its body read as far as possible. */
export interface Answer {
  status: number;
  headers: ResponseHeaders;
  body: { json: true; value: unknown } | { json: false };
}

/** The service's messages in an error. The texts may quote a customer's address or comment. */
export interface Said {
  detail: string | undefined;
  fields: Record<string, string[]> | undefined;
  /** The fields whose messages came in a list, as specified: texts elsewhere may be data, such as names. */
  specified?: ReadonlySet<string>;
}

export function wordsOf(answer: Answer, call: Place): Said {
  const body = answer.body.json ? answer.body.value : undefined;
  if (!isObject(body)) return { detail: undefined, fields: undefined };
  const { detail, ...rest } = body;
  const others = typeof detail === 'string' ? rest : body;
  const prefix = call.customFieldsAt ? `${call.customFieldsAt}.` : '';
  const found = messagesIn(others, '').map(({ name, ...more }) => ({
    ...more,
    name: name.startsWith(prefix) ? name.slice(prefix.length) : name,
  }));
  return {
    detail: typeof detail === 'string' ? detail : undefined,
    fields: found.length === 0 ? undefined : Object.fromEntries(found.map(({ name, messages }) => [name, messages])),
    specified: new Set(found.flatMap(({ name, isSpecified }) => (isSpecified ? [name] : []))),
  };
}

/** Limits for messages in an error. A field's name is repeated before each of its messages, so its length is limited, too. */
const mostFields = 100;
const longestName = 300;

interface FieldMessages {
  name: string;
  messages: string[];
  isSpecified: boolean;
}

/** Fields and their messages, however deep the service nests them. */
function messagesIn(value: unknown, path: string, isWithinList = false): FieldMessages[] {
  if (typeof value === 'string') return [{ name: path, messages: [value], isSpecified: false }];
  if (Array.isArray(value)) {
    const messages = value.filter((entry) => typeof entry === 'string').slice(0, mostFields);
    if (messages.length > 0) return [{ name: path, messages, isSpecified: !isWithinList }];
  }
  const isList = Array.isArray(value);
  const nested = isList ? { ...value.slice(0, mostFields) } : isObject(value) ? value : {};
  const entries = Object.entries(nested).slice(0, mostFields);
  return entries
    .flatMap(([key, held]) => messagesIn(held, join(path, key), isWithinList || isList))
    .slice(0, mostFields);
}

function join(path: string, key: string): string {
  const name = key.slice(0, longestName);
  return path === '' ? name : `${path}.${name}`.slice(0, longestName);
}

/** Whether the service has no request of this contact (`isNobody`). */
export function saysNobody(answer: Answer, call: Place): boolean {
  return answer.status === 404 && namesNobody(wordsOf(answer, call));
}

export const namesNobody = ({ detail, fields }: Said): boolean => detail === 'Not found.' && fields === undefined;
