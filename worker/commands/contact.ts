import { parseContact } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import { erase } from '../stages/erase.ts';
import { type RuntimeOptions, withoutTheErased } from './runtime.ts';
import { openService, print } from './service.ts';
import { withSources } from './with-engine.ts';

type Options = RuntimeOptions & { json: boolean; contact: string };

/** What the service knows of a person. 1 when it knows nobody by this contact. */
export async function showContact(options: Options): Promise<number> {
  const service = await openService(options);
  const found = await service.contact(parseContact(options.contact));
  if (found) print(found, options.json);
  else process.stderr.write('The service has no feedback request of this contact, or it was masked.\n');
  return found ? 0 : 1;
}

/** Who has looked at a person's data, newest first. */
export async function showAccessLog(options: Options): Promise<number> {
  const service = await openService(options);
  let isEmpty = true;
  for await (const entry of service.accessLog(parseContact(options.contact))) {
    print(entry, options.json);
    isEmpty = false;
  }
  if (isEmpty) process.stderr.write('The service knows of nobody who looked at the data of this contact.\n');
  return 0;
}

const beingAsked =
  'This person is being asked at this moment, or a lost answer is looked for: waiting until a worker (closeloop start) has settled it.';

/**
 * Erases a person at once: masked at the service, forgotten by every source here. Prints what was removed, which is kept as
 * proof. Can't be undone. 1 when nobody is known by this contact.
 */
export async function maskContact(options: Options & { yes: boolean }): Promise<number> {
  if (!options.yes) {
    throw new CloseloopError(
      "Masking can't be undone. Say --yes to mask this contact at the service and forget it here.",
      {
        kind: 'config',
      },
    );
  }
  // Looks: on an empty folder nothing would be forgotten, and it would be taken for done.
  return await withSources({ ...options, looks: true }, async ({ lanes, runtime }) => {
    const [first] = lanes();
    if (!first) throw new Error('a configuration has at least one source');
    const at = new Date();
    const key = `contact mask:${at.toISOString()}`;
    const event = { kind: 'erase', at, key, what: 'asked for with "contact mask"', receivedAt: at } as const;
    const people = { personIds: [], recordIds: [], contacts: [options.contact], everybody: false, copies: [] };
    for (let isTold = false; ; isTold = true) {
      const result = await erase({ ...event, ...people }, first.context);
      if (result.do === 'done') break;
      if (!isTold) process.stderr.write(`${beingAsked}\n`);
      await first.context.ports.sleep(result.delayMs);
    }
    if (runtime.config.redis === undefined) await withoutTheErased(runtime.redis);
    const proof = (await first.context.erasures.all()).find((one) => one.key === key);
    print(proof ?? {}, options.json);
    if (proof && proof.journeys + proof.requestsMasked > 0) return 0;
    process.stderr.write(
      'Nobody is known by this contact, at the service or here. Write it as the service shows it.\n',
    );
    return 1;
  });
}
