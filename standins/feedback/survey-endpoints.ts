import { ok } from '../kit/message.ts';
import { type Endpoint, endpoint, wholeNumber } from './endpoint.ts';
import { paged } from './paging.ts';
import { notFound } from './problem.ts';

export const surveyEndpoints: Endpoint[] = [
  endpoint('surveys.list', 'GET', '/surveys/', (call) =>
    ok(paged(call.account.surveys, call.url, ({ id, name, isActive }) => ({ id, name, is_active: isActive }))),
  ),
  endpoint('surveys.get', 'GET', '/surveys/:id', (call) => {
    const id = wholeNumber(call.params.id, 'id');
    const survey = call.account.surveys.find((one) => one.id === id);
    if (survey === undefined) throw notFound();
    const { name, isActive, questions } = survey;
    return ok({ id, name, is_active: isActive, questions });
  }),
];
