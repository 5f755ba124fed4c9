import { type Endpoint, wholeNumber } from './endpoint.ts';
import { paged } from './paging.ts';
import { notFound } from './problem.ts';

export const surveyEndpoints: Endpoint[] = [
  {
    name: 'surveys.list',
    method: 'GET',
    path: '/surveys/',
    run: (call) => ({
      status: 200,
      body: paged(call.account.surveys, call.url, ({ id, name, isActive }) => ({ id, name, is_active: isActive })),
    }),
  },
  {
    name: 'surveys.get',
    method: 'GET',
    path: '/surveys/:id',
    run(call) {
      const id = wholeNumber(call.params.id, 'id');
      const survey = call.account.surveys.find((one) => one.id === id);
      if (survey === undefined) throw notFound();
      const { name, isActive, questions } = survey;
      return { status: 200, body: { id, name, is_active: isActive, questions } };
    },
  },
];
