import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Judge } from './judge.ts';
import { type OpenApiOptions, openApiJudge } from './openapi.ts';
import type { Recorded } from './recorded.ts';
import { isNode, type Node } from './schema.ts';

/** A difference between the vendor's description and what the vendor really takes. */
export interface Known {
  /** On `PUT /path: problem`. No wider than the fact. */
  at: RegExp;
  /** Why it is no mistake of ours, and where that is written. */
  fact: string;
}

/** One vendor whose requests are judged. */
export interface VendorRow {
  name: string;
  /** Tests that drive the connector against its stand-in, as vitest is told them. */
  scenarios: readonly string[];
  /** Is this request one to this vendor? */
  owns(request: Recorded): boolean;
  /** In the folder of specifications. */
  files: readonly string[];
  /** The first judge that knows the operation decides. */
  judges(folder: string): Judge[];
  /** The request in the description's spelling. */
  spelled?(request: Recorded): Recorded;
  known: readonly Known[];
  /** What there is to say of the requests as a whole. */
  remarks?(folder: string, requests: readonly Recorded[]): string[];
}

/** A connector whose requests nobody judges. */
export interface Undescribed {
  name: string;
  why: string;
}

/** A judge by an OpenAPI file, YAML or JSON. */
export function openApiFile(folder: string, file: string, options: OpenApiOptions = {}): Judge {
  const document: unknown = parse(readFileSync(join(folder, file), 'utf8'));
  if (!isNode(document)) throw new TypeError(`${file} is no OpenAPI document`);
  return openApiJudge(document, options);
}

/**
 * A judge of operations that the description lacks, by paths written after the facts. That they aren't described stays a problem,
 * for a known difference to explain.
 */
export function factsJudge(paths: Node): Judge {
  const judge = openApiJudge({ paths });
  return (request) => {
    const judgement = judge(request);
    return judgement && { ...judgement, problems: ['is not described', ...judgement.problems] };
  };
}
