import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Source } from '../../../../core/connector/contract.ts';
import { createIntake, type IntakeOptions } from '../../../../worker/intake/intake.ts';
import type { SourcePipeline } from '../../../../worker/pipeline/source-pipeline.ts';
import { testPorts } from '../../connectors/zendesk/ports.ts';
import { memoryLog } from '../../loop.ts';
import { ToyVendor } from '../../toy-connector.ts';

/**
 * An intake that listens, for two toy sources, with a store of the test's own.
 * @param more what their vendor wants beyond the least
 */
export async function openDoor(options: Partial<IntakeOptions> = {}, more: Partial<Source> = {}) {
  const vendor = new ToyVendor();
  const source = { ...vendor.connector.open({ secret: 'good' }, testPorts().ports), ...more };
  // All that the intake asks of a pipeline.
  const pipeline = z.custom<SourcePipeline>().parse({ context: { source, alert: async () => undefined } });
  const { log, told } = memoryLog();
  const app = createIntake({
    pipelines: new Map([
      ['one', pipeline],
      ['two', pipeline],
    ]),
    store: async () => undefined,
    tryToStore: () => [],
    paused: async () => ({}),
    now: () => new Date(),
    log,
    ...options,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const headers = { 'content-type': 'application/json', 'x-toy-secret': 'good' };
  const event = JSON.stringify([{ kind: 'closed', id: 'a', at: new Date() }]);
  return {
    app,
    url,
    told,
    post: (name: string, body = event, more: Record<string, string> = {}) =>
      fetch(`${url}/hooks/${name}`, { method: 'POST', body, headers: { ...headers, ...more } }),
    /** A connection that sends the head of a delivery, and what the test then writes. */
    head: (line: string, lines: readonly string[]) => rawRequest(url, line, lines),
  };
}

export interface RawRequest {
  socket: Socket;
  /** Resolves with the status of the response. */
  status: Promise<number>;
}

export async function rawRequest(url: string, line: string, headers: readonly string[]): Promise<RawRequest> {
  const socket = createConnection(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  let text = '';
  const status = new Promise<number>((resolve, reject) => {
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
      const found = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    socket.once('close', () => reject(new Error('closed without an answer')));
  });
  status.catch(() => undefined);
  await once(socket, 'connect');
  socket.write(`${[`${line} HTTP/1.1`, 'Host: closeloop', ...headers].join('\r\n')}\r\n\r\n`);
  return { socket, status };
}

/** The head of a delivery of `length` bytes. */
export function headOf(length: number, ...more: string[]): string[] {
  return ['Content-Type: application/json', `Content-Length: ${length}`, ...more];
}
