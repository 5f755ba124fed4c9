import { existsSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BuiltIn } from '../../core/connector/built-in.ts';
import { type CloseloopError, messageOf, refusal } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { type Config, type LoadOptions, loadConfig } from '../config/config.ts';
import { withContactLists } from '../config/contact-lists.ts';
import { withHolidays } from '../config/with-holidays.ts';
import { createLog } from '../operations/log.ts';
import { mistakeOf, verifyConnection } from '../redis/check-redis.ts';
import type { RedisClient } from '../redis/client.ts';
import { connect, type RedisHandle } from '../redis/connection.ts';
import { DataKey, operatorKeys } from '../redis/data-key.ts';
import { dataVersion, verifyData } from '../redis/data-version.ts';
import { type EmbeddedOptions, startEmbeddedRedis } from '../redis/embedded.ts';
import { globalTag } from '../redis/keys.ts';
import { ownKey } from '../redis/own-key.ts';
import { untilReplicated } from '../redis/replicated.ts';
import { withinPatience } from '../redis/unavailable.ts';
import { asDryRun } from '../sources/dry-run.ts';
import { environmentOf } from './env-file.ts';
import { onFile } from './finish.ts';
import { livePorts } from './live-ports.ts';
import { version } from './version.ts';

export interface Runtime {
  /** Replaced by each reload. */
  config: Config;
  handle: RedisHandle;
  redis: RedisClient;
  /** The key of the embedded Redis, from the file beside its data. */
  ownKey?: Uint8Array;
  close(): Promise<void>;
}

export interface RuntimeOptions {
  /** The file. */
  config: string;
  /** The text of the file, where it was read before; left out: the file is read now. */
  configText?: string;
  /** Left out: the process's environment, completed by the file beside the configuration. */
  env?: Readonly<Record<string, string | undefined>>;
  data: string;
  connectors: readonly BuiltIn[];
  /** Whether to use the data of `start --dry-run`. Default false. */
  dryRun?: boolean;
}

/** The options of every command on an installation. */
export type CommandOptions = RuntimeOptions & {
  /** For machines. */
  json: boolean;
};

/** The log of a command: on standard error, from warnings up. */
export function commandLog(): Log {
  return createLog({ pretty: process.stderr.isTTY ?? false, level: 'warn', stream: process.stderr });
}

/** The entry with this name. @throws CloseloopError config, which lists the names that exist */
export function named<Named extends { name: string }>(what: string, name: string, all: readonly Named[]): Named {
  const found = all.find((one) => one.name === name);
  if (found) return found;
  throw noSuch(
    what,
    name,
    all.map((one) => one.name),
  );
}

/** The refusal of a name that does not exist. It lists the names that do. */
export function noSuch(what: string, name: string | number, there: readonly (string | number)[]): CloseloopError {
  return refusal(`There is no ${what} "${name}"; there are: ${there.join(', ') || 'none'}.`);
}

/** The part of the configuration that a command reads. Left out: all. */
export type Reading = Pick<LoadOptions, 'uses' | 'sources'>;

/**
 * Opens the configuration, read and checked, and the Redis that it names or the embedded one, which may not answer yet. @param log of a
 * process that logs; left out: a person reads standard error
 */
export async function openRuntime(options: RuntimeOptions, log?: Log): Promise<Runtime> {
  const config = await readConfig(options);
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  return await openRedis(config, options.data, { say: log ? (line) => log.warn({}, line) : say });
}

/** Opens the runtime for a command, which gives up if Redis does not answer. */
export async function openForNow(options: RuntimeOptions): Promise<Runtime> {
  return await answering(await openRuntime(options), { begins: true });
}

/** Opens the runtime for a command that only reads. Refuses an empty folder, in which the command would find nothing. */
export async function openToRead(options: RuntimeOptions, reading: Reading = {}): Promise<Runtime> {
  const config = await readConfig(options, reading);
  if (config.redis === undefined && !existsSync(join(options.data, 'data'))) {
    throw refusal(`There is no data in ${resolve(options.data)}: closeloop runs elsewhere, or with another --data.`);
  }
  return await answering(await openRedis(config, options.data, { say: () => undefined }), { begins: false });
}

async function answering(runtime: Runtime, use: Parameters<typeof verifyData>[2]): Promise<Runtime> {
  try {
    await verifyInTime(runtime.redis);
    await verifyData(runtime.redis, { version: dataVersion, closeloop: version }, use);
    return runtime;
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

const patienceMs = 5_000;

/** @throws RedisAway; CloseloopError config for a mistake in the address */
export async function verifyInTime(redis: RedisClient): Promise<void> {
  await withinPatience(patienceMs, verifyConnection(redis));
}

export async function openRedis(
  config: Config,
  dir: string,
  options: Pick<EmbeddedOptions, 'cache' | 'say'>,
): Promise<Runtime> {
  // Logged once: a start that waits for a wrong address must not be silent. Later losses are logged by the stages.
  let isReported = false;
  const lost = (error: Error) => {
    // Whoever opens it is told by verifyConnection.
    if (mistakeOf(error) !== undefined) return;
    if (!isReported) options.say(`Redis does not answer (${messageOf(error) || error.name}); trying on.`);
    isReported = true;
  };
  if (config.redis !== undefined) {
    const handle = connect(config.redis, lost);
    return { config, handle, redis: handle.client, close: () => handle.close() };
  }
  const embedded = await startEmbeddedRedis({ dir, ...options });
  const key = await ownKey(dir).catch(async (error: unknown) => {
    await embedded.stop();
    throw error;
  });
  const handle = connect({ path: embedded.socket }, lost);
  let isClosed = false;
  const rewrite = async () => {
    if ((await withoutTheErased(handle.client)) || isClosed) return;
    options.say(
      'The file of the embedded Redis could not be written anew: what was erased is still in it. It is tried again in an hour.',
    );
  };
  const rewriting = setInterval(() => void rewrite(), rewriteEveryMs).unref();
  return {
    config,
    handle,
    redis: handle.client,
    ownKey: key,
    close: async () => {
      isClosed = true;
      clearInterval(rewriting);
      await handle.close();
      await embedded.stop();
    },
  };
}

const rewriteEveryMs = 3_600_000;
const rewriteMs = 60_000;
const pollMs = 20;

/**
 * Rewrites Redis' append-only file, in which deleted data would stay otherwise.
 * @returns whether it was rewritten
 */
export async function withoutTheErased(redis: RedisClient): Promise<boolean> {
  const until = Date.now() + rewriteMs;
  const state = async () => {
    const text = String(await redis.call('INFO', 'persistence'));
    const is = (field: string, value: string) => text.includes(`${field}:${value}`);
    const isBusy = is('aof_rewrite_in_progress', '1') || is('aof_rewrite_scheduled', '1');
    return { isBusy, isGood: is('aof_last_bgrewrite_status', 'ok') };
  };
  /** The state when no rewrite is under way; undefined where that takes too long. */
  const idle = async () => {
    for (let now = await state(); ; now = await state()) {
      if (!now.isBusy) return now;
      if (Date.now() > until) return undefined;
      await sleep(pollMs);
    }
  };
  try {
    // A rewrite that is under way began before the last deletion.
    if ((await idle()) === undefined) return false;
    await redis.call('BGREWRITEAOF');
    return (await idle())?.isGood === true;
  } catch {
    return false;
  }
}

/** @throws CloseloopError config with every mistake of the file */
export async function readConfig(options: RuntimeOptions, reading: Reading = {}): Promise<Config> {
  const config = await readInEarnest(options, reading);
  return options.dryRun ? asDryRun(config) : config;
}

async function readInEarnest(
  { config: file, configText = readText(file), env, connectors: builtIn }: RuntimeOptions,
  reading: Reading,
): Promise<Config> {
  const options = { env: env ?? environmentOf(file, process.env), file, ...reading };
  if (reading.sources === 'named') return loadConfig(configText, { ...options, connectors: [] });
  const { loadConnectors } = await import('../config/external-connectors.ts');
  const config = loadConfig(configText, { ...options, ...(await loadConnectors(configText, { ...options, builtIn })) });
  // A command that only shows stored data makes no decision, and may run where these files and this package are missing.
  if (reading.uses === 'redis' || reading.uses === 'alerts') return config;
  const withDays = await withHolidays(config, file);
  return reading.uses === undefined ? withContactLists(withDays, file) : withDays;
}

/**
 * The installation's key, which opens the data in this Redis. @throws CloseloopError transient if the key is new, and no replica takes it
 */
export async function dataKeyOf({ config, handle, redis, ownKey }: Runtime): Promise<DataKey> {
  return await DataKey.open(redis, operatorKeys(config, ownKey), async () => await handle.replicated(globalTag));
}

/** Makes the installation's key at the first start. It waits for a replica as long as needed, so that nobody has to start again. */
export async function makeDataKey({ config, handle, redis, ownKey }: Runtime, log: Log): Promise<void> {
  const onWait = (why: CloseloopError) => log.warn({ why: why.message }, 'waiting for a replica of Redis');
  const replicated = async () => await untilReplicated(handle.replicated, globalTag, onWait);
  await DataKey.open(redis, operatorKeys(config, ownKey), replicated);
}

/** @throws CloseloopError config when Redis belongs to another account of the service: account.ts */
export async function checkAccount(runtime: Runtime, options: { adopt?: boolean } = {}): Promise<void> {
  // Loaded only when it is needed, as most commands call no service.
  const { verifyAccount } = await import('../sources/account.ts');
  const { seal } = await dataKeyOf(runtime);
  await verifyAccount(runtime.config, { redis: runtime.redis, seal, ports: livePorts, ...options });
}

function readText(file: string): string {
  return onFile(`${file} can't be read`, () => readFileSync(file, 'utf8'));
}

/** The name of the person who runs this command, as other people see it. In a container the user may have no name. */
export function whoIAm(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `${process.getuid?.() ?? 'somebody'}@${hostname()}`;
  }
}
