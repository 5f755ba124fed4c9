import { describe } from 'vitest';
import { findsEach } from '../../../support/connectors/hubspot/checking.ts';

describe('check of pipelines and stages', () => {
  findsEach([
    {
      name: "a pipeline that doesn't exist",
      settings: { pipelines: ['0', 'default', '77'] },
      finds: [['error', 'pipelines', /no pipeline 77/]],
    },
    {
      name: 'an archived pipeline',
      account: (standin) =>
        standin.addPipeline({
          type: 'tickets',
          id: '88',
          label: 'Old',
          archived: true,
          stages: [{ id: '881', label: 'Done', closed: true }],
        }),
      settings: { pipelines: ['0', 'default', '88'] },
      finds: [['error', 'pipelines', /88 \(Old\) is archived/]],
    },
    {
      name: 'a configured pipeline without a closed stage',
      account: (standin) =>
        standin.addPipeline({ type: 'tickets', id: '88', label: 'Endless', stages: [{ id: '881', label: 'Closed' }] }),
      settings: { pipelines: ['0', 'default', '88'] },
      finds: [['error', 'pipelines', /ticket pipeline 88 \(Endless\) has no closed stage/]],
    },
    {
      name: 'a pipeline whose only closed stage is archived',
      account: (standin) => {
        const stages = [
          { id: '881', label: 'New' },
          { id: '882', label: 'Done', closed: true, archived: true },
        ];
        standin.addPipeline({ type: 'tickets', id: '88', label: 'Endless', stages });
      },
      settings: { pipelines: ['0', 'default', '88'] },
      finds: [['error', 'pipelines', /ticket pipeline 88 \(Endless\) has no closed stage/]],
    },
    {
      name: 'a pipeline without a closed stage that nobody configured, as a warning',
      account: (standin) =>
        standin.addPipeline({ type: 'deals', id: '88', label: 'Endless', stages: [{ id: '881', label: 'Closed' }] }),
      settings: { pipelines: undefined },
      finds: [['warning', 'pipelines', /deal pipeline 88 \(Endless\) has no closed stage/]],
    },
    {
      name: "a stage that doesn't exist",
      settings: { stages: ['4', 'closedwon', '99'] },
      finds: [['error', 'stages', /no stage 99/]],
    },
    {
      name: 'a stage that is open, whatever its label says',
      settings: { stages: ['3', '4', 'closedwon'] },
      finds: [['error', 'stages', /stage 3 \(Waiting on us\) is not a closed one/]],
    },
    {
      name: 'an archived stage, and one of a pipeline that is left out',
      account: (standin) => {
        const stages = [
          { id: '881', label: 'Done', closed: true },
          { id: '882', label: 'Gone', closed: true, archived: true },
        ];
        standin.addPipeline({ type: 'tickets', id: '88', label: 'Used', stages });
        standin.addPipeline({
          type: 'tickets',
          id: '89',
          label: 'Unused',
          stages: [{ id: '891', label: 'X', closed: true }],
        });
      },
      settings: { pipelines: ['0', 'default', '88'], stages: ['4', 'closedwon', '881', '882', '891'] },
      finds: [
        ['error', 'stages', /882 \(Gone\) is archived/],
        ['error', 'stages', /891 \(X\) is in a pipeline that this source leaves out/],
      ],
    },
    {
      name: 'lost deals that ask like won ones',
      settings: { stages: undefined },
      finds: [['warning', 'stages', /lost deals ask .*closedlost/]],
    },
  ]);
});
