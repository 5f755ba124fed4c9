import { subscribe } from 'node:diagnostics_channel';
import { Redis } from 'ioredis';
import { z } from 'zod';

/* Loaded first into a process that a test has killed where `TEST_KILL_AT` says (kill-points.ts). */

const point = new RegExp(process.env.TEST_KILL_AT ?? '(?!)');
let left = Number(process.env.TEST_KILL_NTH ?? 1);

function happened(line: string): void {
  if (point.test(line) && --left === 0) process.kill(process.pid, 'SIGKILL');
}

const { sendCommand } = Redis.prototype;
Redis.prototype.sendCommand = function (command, stream) {
  const result = Reflect.apply(sendCommand, this, [command, stream]);
  const args = command.args.map((one) => (Buffer.isBuffer(one) ? '' : String(one)));
  const isScript = command.name.startsWith('eval');
  const subject = isScript ? args.slice(2, 2 + Number(args[1])) : args.slice(0, 2);
  const line = `redis ${isScript ? 'eval' : command.name} ${subject.join(' ')}`;
  Promise.resolve(result).then(
    (reply) => happened(Array.isArray(reply) && Array.isArray(reply[0]) ? `${line} gives a job` : line),
    () => undefined,
  );
  return result;
};

const Call = z.object({ request: z.object({ method: z.string(), path: z.string() }) });
subscribe('undici:request:trailers', (message) => {
  const { method, path } = Call.parse(message).request;
  happened(`call ${method} ${path}`);
});

const Taken = z.object({ request: z.object({ url: z.string() }) });
subscribe('http.server.request.start', (message) => happened(`taken ${Taken.parse(message).request.url}`));
