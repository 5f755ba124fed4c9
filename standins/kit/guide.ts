/** One call of a control surface that is worth knowing by heart. */
export interface Step {
  what: string;
  method: string;
  /** Behind `/_control/`. */
  path: string;
  body?: object;
}

/** What a person needs to use a stand-in by hand: its credentials, in a configuration, and the first calls. */
export interface Guide {
  /** Whose API the stand-in has, and what data from the start. */
  about: string;
  /** The stand-in's part of closeloop.yaml: `feedback:`, or a source. */
  configuration(url: string): string;
  steps: readonly Step[];
}

/** Where closeloop takes webhooks unless `http` says otherwise. The name of the source follows. */
export const hooks = 'http://127.0.0.1:8080/hooks';
/** The same person in every guide, who answers in the guide of the service. */
export const sampleEmail = 'carl@example.com';

/** The guide for a terminal: one call a line, to be copied. */
export function guideText({ about, configuration, steps }: Guide, url: string): string {
  const calls = steps.map(({ what, method, path, body }) => {
    const data = body === undefined ? '' : ` -d '${JSON.stringify(body)}'`;
    return `# ${what}\ncurl -X ${method} ${url}/_control/${path}${data}`;
  });
  return `${about} It forgets everything when it ends (Ctrl-C).

In closeloop.yaml:

${configuration(url)}

By hand:

${calls.join('\n')}
# all commands, what goes wrong included
curl ${url}/_control/
`;
}
