import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { findServerBinary } from '../../../../worker/redis/server-binary.ts';
import { testFolder } from '../../../support/folder.ts';

let dir: string;
let cache: string;
let said: string[];
beforeEach(() => {
  dir = testFolder();
  cache = join(dir, 'project/redis-server');
  said = [];
});

const find = (path: string) => findServerBinary({ cache, path, say: (line) => void said.push(line) });

/** A program of a few lines of shell in a folder of its own, for a PATH. */
function program(folder: string, name: string, script: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

/** Debian's tools as far as they are called; every call is noted in `calls`. */
function debian(server: string, download = 'touch redis-tools.deb redis-server.deb libjemalloc2.deb'): string {
  const tools = join(dir, 'tools');
  const note = `echo "$(basename $0) $*" >>${dir}/calls`;
  program(tools, 'apt-get', `${note}\ncase "$*" in *" download "*) ${download};; esac`);
  program(tools, 'apt-cache', `${note}\nprintf 'redis-tools\\n  Depends: libc6\\nlibc6\\nlibjemalloc2\\n<virtual>\\n'`);
  program(tools, 'dpkg-query', `${note}\nprintf 'ii  libc6\\nrc  libjemalloc2\\n'`);
  const unpack = `mkdir -p $3/usr/bin $3/usr/lib/some-linux-gnu; printf '#!/bin/sh\\n%s\\n' '${server}' >$3/usr/bin/redis-server`;
  program(tools, 'dpkg', `${note}\n${unpack}; chmod +x $3/usr/bin/redis-server`);
  return tools;
}

const calls = () => readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n');

describe('the Redis server program', () => {
  test.each(['redis-server', 'valkey-server'])('it is the %s on the PATH', async (name) => {
    const folder = program(join(dir, 'bin'), name, 'exit 0');
    expect(await find(`/nowhere:${folder}`)).toEqual({ command: join(folder, name), env: {} });
    expect(said).toEqual([]);
  });

  test('it is fetched once, with the libraries that the system lacks, and found in the cache afterwards', async () => {
    const tools = debian('exit 0');
    const expected = {
      command: join(cache, 'usr/bin/redis-server'),
      env: { LD_LIBRARY_PATH: join(cache, 'usr/lib/some-linux-gnu') },
    };
    expect(await find(tools)).toEqual(expected);
    expect(await find(tools)).toEqual(expected);
    expect(said).toEqual([expect.stringContaining('fetching one')]);
    const downloads = calls().filter((line) => line.includes(' download '));
    expect(downloads).toEqual([
      expect.stringMatching(
        /download -qq libjemalloc2 redis-tools redis-server$|download -qq redis-tools libjemalloc2 redis-server$/,
      ),
    ]);
    expect(readdirSync(join(dir, 'project'))).toEqual(['redis-server']);
  });

  test('it is fetched once when several look for it at the same moment', async () => {
    const tools = debian('exit 0');
    await Promise.all(Array.from({ length: 5 }, () => find(tools)));
    expect(said).toHaveLength(1);
  });

  test('it is fetched anew when the cached one does not run here', async () => {
    program(join(cache, 'usr/bin'), 'redis-server', 'exit 127');
    await find(debian('exit 0'));
    expect(said).toHaveLength(1);
  });

  const hopeless: [why: string, path: () => string, message: RegExp][] = [
    ['there is no Redis, no apt-get', () => join(dir, 'empty'), /no apt-get[\s\S]*brew install redis[\s\S]*docker run/],
    [
      'nothing can be downloaded',
      () => debian('exit 0', 'echo "E: no network" >&2; exit 100'),
      /failed \(E: no network\)[\s\S]*apt-get install/,
    ],
    [
      'the machine is offline, which apt-get only warns of',
      () => {
        const tools = debian('exit 0');
        program(tools, 'apt-get', 'echo "W: Failed to fetch http://deb.example/InRelease  Could not resolve it" >&2');
        program(tools, 'apt-cache', 'echo "E: No packages found" >&2; exit 100');
        return tools;
      },
      /failed \(is this machine offline\? Failed to fetch http:\/\/deb.example\/InRelease Could not resolve it\)/,
    ],
    ['it fails', () => debian('echo missing libssl.so >&2; exit 127'), /does not run here \(missing libssl.so\)/],
  ];
  test.each(hopeless)('it tells what to type when %s', async (_, path, message) => {
    await expect(find(path())).rejects.toMatchObject({
      advice: { kind: 'config' },
      message: expect.stringMatching(message),
    });
    expect(readdirSync(join(dir, 'project'), { recursive: true })).toEqual([]);
  });
});
