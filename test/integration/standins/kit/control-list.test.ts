import { expect, onTestFinished, test } from 'vitest';
import { standins } from '../../../../standins/index.ts';

test.each(Object.entries(standins))('%s lists every command of its guide, with the body it takes', async (_, load) => {
  const { start, guide } = await load();
  const server = await start({ port: 0 });
  onTestFinished(() => server.close());
  const answer = await fetch(`${server.url}/_control/`);
  const list = (await answer.text()).split('\n');
  const expected = [...guide.steps, { method: 'POST', path: 'faults', body: {} }];
  for (const { method, path, body } of expected) {
    const wanted = new RegExp(
      `^${method} /_control/${path.replace(/^tickets(?=\/)/, '[^/]+').replace(/\d+/, '\\{id\\}')}( \\{|$)`,
    );
    const line = list.find((one) => wanted.test(one)) ?? expect.fail(`${method} ${path} is not in the list`);
    for (const name of Object.keys(body ?? {})) expect(line).toMatch(new RegExp(`\\b${name}\\??: `));
  }
});
