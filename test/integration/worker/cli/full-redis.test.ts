import { expect, onTestFinished, test } from 'vitest';
import { check } from '../../../../worker/cli/check.ts';
import { collectOnce } from '../../../../worker/cli/collect.ts';
import { maskContact } from '../../../../worker/cli/contact.ts';
import { finish } from '../../../../worker/cli/finish.ts';
import { stepFollowUp } from '../../../../worker/cli/follow-ups.ts';
import { cancelJourney, replayJourneys } from '../../../../worker/cli/repair.ts';
import { pauseSource, resumeSource } from '../../../../worker/cli/source.ts';
import { status } from '../../../../worker/cli/status.ts';
import { type Loop, startLoop } from '../../../support/loop.ts';
import { printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';
import { openFollowUps } from '../../../support/worker/follow-ups.ts';

const { beside, fresh, redis } = useCommands();
const why = 'Redis takes no writes, as its memory is full: raise its maxmemory, then give the command again.';

type Command = (options: ReturnType<typeof beside>, loop: Loop) => Promise<number>;
const commands: [name: string, command: Command][] = [
  ['source pause', (options, { store }) => pauseSource({ ...options, name: store.source })],
  ['source resume', (options, { store }) => resumeSource({ ...options, name: store.source })],
  ['contact mask', (options) => maskContact({ ...options, contact: 'a@example.com', yes: true })],
  ['journeys cancel', (options, { store }) => cancelJourney({ ...options, journey: `${store.source}/a.1`, why: 'x' })],
  ['journeys replay', (options, { store }) => replayJourneys({ ...options, journey: `${store.source}/a.1` })],
  [
    'follow-ups take',
    (options, { store }) => stepFollowUp({ ...options, journey: `${store.source}/b.1` }, { do: 'take' }),
  ],
  ['check', (options) => check(options)],
  ['collect', (options) => collectOnce(options)],
];

test('while Redis is full commands say so in a sentence, and status tells it', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const { client } = redis.handle;
  await loop.asked('a');
  await openFollowUps(loop, redis, { b: 2 });
  onTestFinished(async () => void (await client.config('SET', 'maxmemory', '0')));
  await client.config('SET', 'maxmemory', '1');
  for (const [name, command] of commands) {
    expect([name, await sayings(() => finish(() => command(beside(loop), loop)))]).toEqual([
      name,
      { code: 5, said: [`${why}\n`] },
    ]);
  }
  expect((await printed(() => status(beside(loop)))).rows[0]).toEqual({ redis: why });
});
