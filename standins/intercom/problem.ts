import { Problem } from '../kit/problem.ts';

/** In Intercom's form. */
export const problem = (status: number, code: string, message: string, headers?: Record<string, string>): Problem =>
  new Problem({
    status,
    ...(headers && { headers }),
    body: { type: 'error.list', request_id: '0003standin', errors: [{ code, message }] },
  });

export const invalid = (message: string): Problem => problem(400, 'parameter_invalid', message);
export const noAdmin = (): Problem => problem(404, 'admin_not_found', 'Admin for admin_id not found');
