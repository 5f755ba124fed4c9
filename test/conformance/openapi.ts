import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Judge } from './judge.ts';
import type { Recorded } from './recorded.ts';
import { isNode, type Node, resolve, sealed } from './schema.ts';

export interface OpenApiOptions {
  /** Goes before each path of the document. Left out: the path of its first server. */
  base?: string;
  /** Bodies of operations that the document describes without one: `PUT /path` → schema, may refer to components. */
  bodies?: Readonly<Record<string, Node>>;
  /** The vendor splits `a=1,2` where the document has a list, whatever the document says of `explode`. */
  splitsLists?: boolean;
}

interface Operation {
  name: string;
  /** The path's, `{name}` for a parameter. */
  segments: string[];
  parameters: Node[];
  body: Node;
}

const id = 'https://closeloop.test/openapi';

/** Judges requests by an OpenAPI 3.0 or 3.1 document. */
export function openApiJudge(
  raw: Node,
  { base = serverPath(raw), bodies = {}, splitsLists = false }: OpenApiOptions = {},
): Judge {
  const added = Object.fromEntries(Object.entries(bodies).map(([name, schema]) => [name, { schema }]));
  const document = sealed({ ...raw, $id: id, 'x-bodies': added });
  const pointers = pointersOf(document);
  const keys = keysInQuery(document);
  const operations = operationsOf(document, base);
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, logger: false });
  addFormats.default(ajv);
  ajv.addSchema(document);
  const compiled = new Map<Node, ValidateFunction>();

  function problemsOf(place: string, schema: unknown, value: unknown): string[] {
    if (!isNode(schema)) return [];
    const validate = compiled.get(schema) ?? ajv.compile({ $ref: `${id}#${pointers.get(schema)}` });
    compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      // One problem for all hundred tickets of a list.
      const at = `${place}${instancePath.replaceAll(/\/\d+(?=\/|$)/g, '[]').replaceAll('/', '.')}`;
      const name = params.unevaluatedProperty ?? params.additionalProperty;
      return name === undefined ? `${at} ${message}` : `${at}: "${name}" is not described`;
    });
  }

  /** The text of a path or query stands for a number, a truth value or a list where its schema says so. */
  function textProblems(place: string, schema: unknown, texts: readonly string[], isSplit: boolean): string[] {
    const { type, items } = resolve(document, schema);
    if (type === 'array') {
      return textProblems(place, items, isSplit ? texts.flatMap((text) => text.split(',')) : texts, false);
    }
    return texts.flatMap((text) => problemsOf(place, schema, asKind(text, type)));
  }

  function pathProblems({ parameters, segments }: Operation, path: string): string[] {
    const given = segmentsOf(path);
    return parameters.flatMap((parameter) => {
      const value = parameter.in === 'path' ? given[segments.indexOf(`{${parameter.name}}`)] : undefined;
      return value === undefined
        ? []
        : textProblems(`path: ${parameter.name}`, parameter.schema, [decodeURIComponent(value)], true);
    });
  }

  function queryProblems({ parameters }: Operation, query: string): string[] {
    const given = new URLSearchParams(query);
    const inQuery = parameters.filter((parameter) => parameter.in === 'query');
    const missing = inQuery.filter(({ name, required }) => {
      return required === true && ![...given.keys()].some((key) => key === name || key.startsWith(`${name}[`));
    });
    const wrong = [...new Set(given.keys())].flatMap((key) => {
      if (keys.has(key)) return [];
      const texts = given.getAll(key);
      const whole = inQuery.find(({ name }) => name === key || name === `${key}[]`);
      if (whole) return textProblems(`query: ${key}`, whole.schema, texts, splitsLists || whole.explode === false);
      // `page[size]`: a property of the parameter `page`.
      const [, outer, inner = ''] = /^(.+?)\[(.*)\]$/.exec(key) ?? [];
      const { properties, type, items } = resolve(document, inQuery.find(({ name }) => name === outer)?.schema);
      if (inner === '' && type === 'array') return textProblems(`query: ${key}`, items, texts, false);
      const schema = isNode(properties) ? properties[inner] : undefined;
      return schema === undefined
        ? [`query: "${key}" is not described`]
        : textProblems(`query: ${key}`, schema, texts, false);
    });
    return [...missing.map(({ name }) => `query: "${name}" is required`), ...wrong];
  }

  function bodyProblems({ name, body: described }: Operation, { body, type }: Recorded): string[] {
    const stated = isNode(document['x-bodies']) ? resolve(document, document['x-bodies'][name]).schema : undefined;
    const content = isNode(described.content) ? described.content : undefined;
    if (body === undefined) return described.required === true ? ['body: is required'] : [];
    const undescribed = content === undefined ? ['body: the operation is described without one'] : [];
    if (content === undefined && stated === undefined) return undescribed;
    const media = content?.[type?.split(';')[0]?.trim() ?? ''];
    if (stated === undefined && !isNode(media)) return [`body: the type ${type ?? '(none)'} is not described`];
    const value = json(body);
    if (value === undefined) return ['body: is no JSON'];
    const schema = stated ?? (isNode(media) ? media.schema : undefined);
    return [...undescribed, ...problemsOf('body', schema, value)];
  }

  return (request) => {
    const [operation] = operations
      .filter(({ name, segments }) => name.startsWith(`${request.method} `) && fits(segments, request.path))
      .toSorted((a, b) => parametersIn(a) - parametersIn(b));
    if (operation === undefined) return undefined;
    const problems = [
      ...pathProblems(operation, request.path),
      ...queryProblems(operation, request.query),
      ...bodyProblems(operation, request),
    ];
    return { operation: operation.name, problems: [...new Set(problems)] };
  };
}

const methods = ['get', 'put', 'post', 'patch', 'delete'] as const;

function operationsOf(document: Node, base: string): Operation[] {
  const paths = isNode(document.paths) ? document.paths : {};
  return Object.entries(paths).flatMap(([path, item]) => {
    const shared = listOf(resolve(document, item).parameters);
    return methods.flatMap((method): Operation[] => {
      const at = resolve(document, item)[method];
      if (!isNode(at)) return [];
      const own = listOf(at.parameters).map((one) => resolve(document, one));
      const isOwn = ({ name, in: place }: Node) => own.some((one) => one.name === name && one.in === place);
      const outer = shared.map((one) => resolve(document, one)).filter((one) => !isOwn(one));
      const name = `${method.toUpperCase()} ${base}${path}`;
      const body = resolve(document, at.requestBody);
      return [{ name, segments: segmentsOf(base + path), parameters: [...own, ...outer], body }];
    });
  });
}

/** Parameters that a security scheme takes, whatever the operation. */
function keysInQuery(document: Node): ReadonlySet<unknown> {
  const { securitySchemes } = resolve(document, document.components);
  const schemes = isNode(securitySchemes) ? Object.values(securitySchemes) : [];
  const inQuery = schemes.map((one) => resolve(document, one)).filter((one) => one.in === 'query');
  return new Set(inQuery.map(({ name }) => name));
}

/** Where every object of the document stands, as a pointer in an address. */
function pointersOf(document: Node): ReadonlyMap<Node, string> {
  const found = new Map<Node, string>();
  const walk = (value: unknown, pointer: string): void => {
    if (isNode(value)) found.set(value, pointer);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, held] of Object.entries(value)) {
      walk(held, `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`);
    }
  };
  walk(document, '');
  return found;
}

function serverPath(document: Node): string {
  const [first] = listOf(document.servers);
  const url = isNode(first) && typeof first.url === 'string' ? first.url : '';
  return url.replace(/^https?:\/\/[^/]*/, '').replace(/\/$/, '');
}

function segmentsOf(path: string): string[] {
  return path.split('/');
}

function fits(segments: readonly string[], path: string): boolean {
  const given = segmentsOf(path);
  return (
    given.length === segments.length &&
    segments.every((segment, i) => segment === given[i] || (segment.startsWith('{') && given[i] !== ''))
  );
}

/** A path written out comes before one with a parameter in that place. */
function parametersIn({ segments }: Operation): number {
  return segments.filter((segment) => segment.startsWith('{')).length;
}

function asKind(text: string, type: unknown): unknown {
  const kinds = [type].flat();
  if ((kinds.includes('integer') || kinds.includes('number')) && text.trim() !== '' && Number.isFinite(Number(text))) {
    return Number(text);
  }
  return kinds.includes('boolean') && /^(true|false)$/.test(text) ? text === 'true' : text;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
