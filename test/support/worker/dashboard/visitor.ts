import type { App } from '../../../../worker/cli/app.ts';

/** The page as a browser without script meets it: cookies are kept, forms sent as they came, redirects followed by hand. */
export function visitorOf(app: App) {
  const { dashboardUrl = '' } = app;
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie !== '' && { cookie }), ...init.headers };
    const response = await fetch(new URL(path, dashboardUrl), { redirect: 'manual', ...init, headers });
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=');
      cookies.set(name, value);
    }
    return response;
  };
  const get = async (path: string) => {
    const response = await send(path);
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
    return { status: response.status, text: await response.text(), to: response.headers.get('location') ?? '' };
  };
  return {
    get,
    post,
    cookies,
    /** Opens a page with a form, and sends that with these fields. */
    submit: async (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) => {
      const { text } = await get(path);
      const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
      return await post(path, { csrf, ...fields }, headers);
    },
  };
}
